package inventory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
)

// store is everything behind the lock of an Inventory.
type store struct {
	records records
	arena   arena
	blobs   blobs
	topics  table
	seed    maphash.Seed
	tree    tree
	flat    flatOrder
	past    changes
	news    events
	brought int64 // slots that a Replay made
	tombs   tombs
	// approved are the topics that a person approved to clear, held or not.
	approved map[string]struct{}

	epoch  uint16 // scans begun; 0 = none yet
	now    int64  // latest instant heard of, Unix ms
	awayAt int64  // since when nobody watches, 0 = somebody does
	stamps bool   // the broker adds intervals of its own
	// limited tells that live publications hide whether they were retained.
	limited bool

	bytes, kept, cut   int64
	version, structure uint64
}

func (s *store) init(o Options) {
	s.seed = maphash.MakeSeed()
	s.arena.init()
	s.blobs.init()
	s.topics = newTable(o.Expected)
	s.tree.init(s.topicOf, func(id uint32) Flags { return s.records.at(id).flags }, o.Expected)
	s.past.init(o.MaxChanges)
}

func (s *store) topicOf(id uint32) []byte { return s.arena.at(s.records.at(id).topic) }

func (s *store) hash(topic []byte) uint64 { return maphash.Bytes(s.seed, topic) }

// lookup returns the number of the slot of a topic.
func (s *store) lookup(h uint32, topic []byte) (uint32, bool) {
	return s.topics.find(h, func(id uint32) bool {
		rec := s.records.at(id)
		return rec.hash == h && int(rec.topic.n) == len(topic) && bytes.Equal(s.arena.at(rec.topic), topic)
	})
}

func (s *store) lookupTopic(topic []byte) (uint32, bool) {
	return s.lookup(uint32(s.hash(topic)), topic)
}

// held returns the record that r names.
func (s *store) held(r Ref) (*record, bool) {
	if r.id == 0 || r.id > s.records.n {
		return nil, false
	}
	rec := s.records.at(r.id - 1)
	return rec, rec.gen == r.gen && rec.flags&flagHeld != 0
}

// create makes an empty slot. It is counted when reflag is called for it, which has to come next.
func (s *store) create(h uint32, topic []byte, at int64) (uint32, *record) {
	id := s.records.take()
	rec := s.records.at(id)
	rec.topic = s.arena.add(id, rec.gen, topic)
	rec.hash, rec.first = h, at
	rec.flags |= flagHeld | FlagUnknown
	if oddName(topic) {
		rec.flags |= FlagOddName
	}
	if len(s.approved) > 0 {
		if _, yes := s.approved[string(topic)]; yes {
			rec.flags |= FlagApproved
		}
	}
	s.topics.add(h, id)
	rec.node = s.tree.insert(id, topic)
	s.flat.queue(id, rec)
	s.structure++
	return id, rec
}

// remove takes a slot out of everything.
func (s *store) remove(id uint32) {
	rec := s.records.at(id)
	s.flat.remove(s, id, rec)
	s.tree.remove(id, rec.node, rec.flags)
	s.topics.remove(rec.hash, id)
	s.bytes -= int64(rec.size)
	s.kept -= int64(rec.blobLen)
	if rec.flags&FlagCut != 0 {
		s.cut--
	}
	s.blobs.release(rec.blob, int(rec.blobLen))
	topic := rec.topic
	s.records.giveBack(id)
	if s.arena.forget(topic) {
		s.rewrite(topic.chunk)
	}
	s.structure++
	s.version++
}

// rewrite moves the topics of a chunk that is more than half dead.
func (s *store) rewrite(chunk uint16) {
	s.arena.rewrite(chunk, func(id uint32, p place) (uint16, bool) {
		rec := s.records.at(id)
		ok := rec.flags&flagHeld != 0 && rec.topic.chunk == p.chunk && rec.topic.off == p.off
		return rec.topic.n, ok
	}, func(id uint32, p place) { s.records.at(id).topic = p })
}

// reflag sets the flags of a slot and brings every sum above it in line.
func (s *store) reflag(rec *record, f Flags) {
	had := rec.flags
	rec.flags = f | flagCounted
	if (had^f)&FlagCut != 0 {
		if f&FlagCut != 0 {
			s.cut++
		} else {
			s.cut--
		}
	}
	switch {
	case had&flagCounted == 0:
		s.tree.count(sumsOf(f))
	case (had^f)&flagsSummed != 0:
		s.tree.change(rec.node, sumsOf(had), sumsOf(f))
	}
}

// digests are what has to be computed where bytes of a payload are cut.
type digests struct {
	payload [32]byte
	content [32]byte // see contentDigest
}

func digestsOf(q *Publication) digests {
	sum := sha256.Sum256(q.Payload)
	return digests{payload: sum, content: contentDigest(sum, q.Properties)}
}

// trailer follows the kept bytes of a blob whose payload or properties were cut: how many payload bytes are kept, and
// the digests.
const trailer = 4 + 32 + 32

// parts returns the kept payload and properties of a slot, and where bytes were cut the digests of what came.
func (s *store) parts(rec *record) (payload, props, tail []byte) {
	blob := s.blobs.at(rec.blob, int(rec.blobLen))
	if rec.flags&FlagCut == 0 {
		return blob[:rec.size:rec.size], blob[rec.size:], nil
	}
	end := len(blob) - trailer
	tail = blob[end:]
	kept := binary.LittleEndian.Uint32(tail)
	return blob[:kept:kept], blob[kept:end:end], tail[4:]
}

// write puts content into a slot, within the budgets. d is asked for only where bytes are cut. It returns FlagCut or
// nothing.
func (s *store) write(rec *record, q *Publication, o *Options, d func() digests) Flags {
	payload, props := q.Payload, q.Properties
	whole := len(payload) + len(props)
	room := o.MaxPayloads - s.kept + int64(rec.blobLen)
	limit := o.limit(q)
	cut := len(payload) > limit || len(props) > o.MaxPayload || int64(whole) > room
	n := whole
	if cut {
		payload = payload[:min(len(payload), o.MaxPayload)]
		if len(props) > o.MaxPayload {
			props = nil // their digest is kept; a part of them would be a lie
		}
		if int64(len(payload)+len(props)+trailer) > room {
			payload = payload[:min(len(payload), headLength)]
			if len(props) > 1024 {
				props = nil
			}
		}
		n = len(payload) + len(props) + trailer
	}
	rec.blob = s.blobs.resize(rec.blob, int(rec.blobLen), n)
	s.kept += int64(n) - int64(rec.blobLen)
	s.bytes += int64(len(q.Payload)) - int64(rec.size)
	rec.blobLen, rec.size = uint32(n), uint32(len(q.Payload))
	blob := s.blobs.at(rec.blob, n)
	copy(blob, payload)
	copy(blob[len(payload):], props)
	if !cut {
		return 0
	}
	tail := blob[n-trailer:]
	sums := d()
	binary.LittleEndian.PutUint32(tail, uint32(len(payload)))
	copy(tail[4:], sums.payload[:])
	copy(tail[36:], sums.content[:])
	return FlagCut
}

// samePayload reports whether the payload of q is the one that is held.
func (s *store) samePayload(rec *record, q *Publication, d func() digests) bool {
	if int(rec.size) != len(q.Payload) {
		return false
	}
	payload, _, tail := s.parts(rec)
	if tail == nil {
		return bytes.Equal(payload, q.Payload)
	}
	if !bytes.Equal(payload, q.Payload[:len(payload)]) {
		return false
	}
	sums := d()
	return bytes.Equal(tail[:32], sums.payload[:])
}

// sameContent reports whether payload and properties of q are those that are held.
func (s *store) sameContent(rec *record, q *Publication, d func() digests) bool {
	if int(rec.size) != len(q.Payload) {
		return false
	}
	payload, props, tail := s.parts(rec)
	if tail == nil {
		return bytes.Equal(payload, q.Payload) && bytes.Equal(props, q.Properties)
	}
	if !bytes.Equal(payload, q.Payload[:len(payload)]) {
		return false
	}
	sums := d()
	return bytes.Equal(tail[32:], sums.content[:])
}
