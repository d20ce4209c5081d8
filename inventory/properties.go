package inventory

import "encoding/binary"

// Properties holds the properties of a PUBLISH as they were on the wire: identifier, value, in order, without the
// length in front. The methods never fail: what is malformed ends the reading, and what came before it is returned.
// What they return are slices of the same bytes.
//
// Source: MQTT 5, 2.2.2.2 and 3.3.2.3.
type Properties []byte

// UserProperty is one name and value pair. Names may repeat; the order is the publisher's.
//
// Source: MQTT 5, 3.3.2.3.7.
type UserProperty struct {
	Key, Value []byte
}

// The property identifiers that a PUBLISH can carry.
const (
	propPayloadFormat   = 0x01
	propMessageExpiry   = 0x02
	propContentType     = 0x03
	propResponseTopic   = 0x08
	propCorrelationData = 0x09
	propSubscriptionID  = 0x0B
	propTopicAlias      = 0x23
	propUser            = 0x26
)

// next returns the first property of p, its value as bytes (for a user property the key, with the value in second),
// and what follows. The last result is false at the end and where p is malformed.
func (p Properties) next() (id byte, first, second []byte, rest Properties, ok bool) {
	if len(p) == 0 {
		return 0, nil, nil, nil, false
	}
	id, p = p[0], p[1:]
	take := func(n int) ([]byte, bool) {
		if len(p) < n {
			return nil, false
		}
		b := p[:n:n]
		p = p[n:]
		return b, true
	}
	str := func() ([]byte, bool) {
		l, ok := take(2)
		if !ok {
			return nil, false
		}
		return take(int(binary.BigEndian.Uint16(l)))
	}
	switch id {
	case propPayloadFormat:
		first, ok = take(1)
	case propTopicAlias:
		first, ok = take(2)
	case propMessageExpiry:
		first, ok = take(4)
	case propContentType, propResponseTopic, propCorrelationData:
		first, ok = str()
	case propSubscriptionID:
		n := 0
		for n < len(p) && n < 4 && p[n]&0x80 != 0 {
			n++
		}
		first, ok = take(n + 1)
	case propUser:
		if first, ok = str(); ok {
			second, ok = str()
		}
	}
	return id, first, second, p, ok
}

func (p Properties) find(id byte) ([]byte, bool) {
	for {
		got, v, _, rest, ok := p.next()
		if !ok {
			return nil, false
		}
		if got == id {
			return v, true
		}
		p = rest
	}
}

// ContentType returns the content type as the publisher wrote it, and whether there was one.
func (p Properties) ContentType() ([]byte, bool) { return p.find(propContentType) }

// ResponseTopic returns the response topic, and whether there was one.
func (p Properties) ResponseTopic() ([]byte, bool) { return p.find(propResponseTopic) }

// CorrelationData returns the correlation data, and whether there was any.
func (p Properties) CorrelationData() ([]byte, bool) { return p.find(propCorrelationData) }

// PayloadFormat returns the payload format indicator (1 = UTF-8 text), and whether there was one.
func (p Properties) PayloadFormat() (byte, bool) {
	if v, ok := p.find(propPayloadFormat); ok {
		return v[0], true
	}
	return 0, false
}

// User returns every user property in order, nil when there are none.
func (p Properties) User() []UserProperty {
	var all []UserProperty
	for {
		id, k, v, rest, ok := p.next()
		if !ok {
			return all
		}
		if id == propUser {
			all = append(all, UserProperty{Key: k, Value: v})
		}
		p = rest
	}
}
