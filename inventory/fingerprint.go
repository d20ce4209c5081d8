package inventory

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"retainscope/expiry"
)

// Fingerprint returns 64 hexadecimal digits that stand for what a person saw of one retained message: payload,
// content type, payload format, response topic, correlation data, user properties in order, and whether an expiry was
// on the wire. The value of the expiry is left out, since it counts down, and so is the topic.
//
// It is the SHA-256 of the content digest (32 bytes) followed by one byte: 0 for an absent interval, 1 for a finite
// one, 2 for one that is not knowable. The content digest is the SHA-256 of the SHA-256 of the payload followed by the
// five fields in the order above. A field is one byte, 0 for absent or 1 for present, and if present its length as
// eight bytes, most significant first, and its bytes; the user properties are their number as eight bytes and then key
// and value of each, with length and bytes as before.
func Fingerprint(payload []byte, p Properties, i expiry.Interval) string {
	return fingerprintOf(contentDigest(sha256.Sum256(payload), p), i.Kind())
}

func fingerprintOf(content [32]byte, k expiry.Kind) string {
	var presence byte
	switch k {
	case expiry.Absent:
		presence = 0
	case expiry.Finite:
		presence = 1
	default:
		presence = 2
	}
	sum := sha256.Sum256(append(content[:], presence))
	return hex.EncodeToString(sum[:])
}

// contentDigest returns the digest of everything that a fingerprint covers but the presence of an expiry.
func contentDigest(payload [32]byte, p Properties) [32]byte {
	buf := make([]byte, 0, 256)
	buf = append(buf, payload[:]...)
	str := func(b []byte) {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(b)))
		buf = append(buf, b...)
	}
	field := func(b []byte, ok bool) {
		if !ok {
			buf = append(buf, 0)
			return
		}
		buf = append(buf, 1)
		str(b)
	}
	field(p.ContentType())
	field(p.find(propPayloadFormat))
	field(p.ResponseTopic())
	field(p.CorrelationData())
	users := p.User()
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(users)))
	for _, u := range users {
		str(u.Key)
		str(u.Value)
	}
	return sha256.Sum256(buf)
}
