package inventory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"sort"

	"retainscope/expiry"
)

type plainSlot struct {
	Slot
	raw         expiry.Interval
	payload     []byte
	props       []byte
	sum         [32]byte
	changes     []Change
	lastRetLive int64
	liveEpoch   int
	epoch       int
	askedAt     int64
	pastDue     bool
	toldLive    bool
}

type plainStore struct {
	slots      map[string]*plainSlot
	byID       map[uint32]*plainSlot
	nextID     uint32
	epoch      int
	tombs      map[string]int64
	now        int64
	awayAt     int64
	stamps     bool
	evs        []Event
	evSeq      uint64
	version    uint64
	structure  uint64
	habits     expiry.Habits
	keptTotal  int64
	maxKept    int64
	maxPayload int
}

func (p *plainStore) init() {
	p.slots = map[string]*plainSlot{}
	p.byID = map[uint32]*plainSlot{}
	p.tombs = map[string]int64{}
	p.maxPayload = 256 << 10
}

func (p *plainStore) event(at int64, k EventKind, topic []byte) {
	p.evSeq++
	p.evs = append(p.evs, Event{At: at, Kind: k, Topic: bytes.Clone(topic)})
	if len(p.evs) > 4096 {
		p.evs = p.evs[1:]
	}
}

func (p *plainStore) apply(q *Publication) {
	if len(q.Topic) == 0 {
		return
	}
	p.now = max(p.now, q.ReceivedAt)
	s := p.slots[string(q.Topic)]
	if q.Origin == Live {
		if !q.Retain {
			if s != nil {
				s.LastLive = q.ReceivedAt
				s.LiveCount++
				s.Flags |= FlagLive
				s.Flags &^= FlagLiveDiffers
				if len(q.Payload) != s.Size || !bytes.Equal(q.Payload, s.payload) {
					s.Flags |= FlagLiveDiffers
				}
				p.version++
			}
			return
		}
		if len(q.Payload) == 0 {
			p.tombs[string(q.Topic)] = q.ReceivedAt
			p.event(q.ReceivedAt, Cleared, q.Topic)
			if s != nil {
				p.remove(s)
			}
			p.version++
			return
		}
		delete(p.tombs, string(q.Topic))
	} else {
		if at, ok := p.tombs[string(q.Topic)]; ok && s == nil {
			if q.Origin == Replay || q.ReceivedAt-at < 10000 {
				return
			}
		}
	}
	p.version++
	if s == nil {
		p.nextID++
		s = &plainSlot{}
		s.Ref = Ref{id: p.nextID, gen: 1}
		s.Topic = bytes.Clone(q.Topic)
		s.FirstSeen = q.ReceivedAt
		s.QoS = -1
		if oddName(q.Topic) {
			s.Flags |= FlagOddName
		}
		p.slots[string(q.Topic)] = s
		p.byID[s.Ref.id] = s
		p.structure++
		p.set(s, q)
		if q.Origin == Live {
			p.event(q.ReceivedAt, Appeared, q.Topic)
		}
	} else {
		same := len(q.Payload) == s.Size && bytes.Equal(q.Payload, s.payload) && bytes.Equal(q.Properties, s.props)
		if q.Origin != Live {
			s.epoch = p.epoch
			newer := q.Origin == Replay && s.lastRetLive != 0 && s.liveEpoch == p.epoch ||
				q.Origin == Answer && s.lastRetLive != 0 && q.ReceivedAt-s.lastRetLive < 10000
			if newer {
				if same && q.QoSKnown {
					s.QoS = int8(q.QoS)
				}
				return
			}
		}
		if !same {
			k := Replaced
			if q.Origin != Live {
				k = FoundChanged
			}
			s.changes = append([]Change{{At: q.ReceivedAt, Kind: k, Payload: s.payload, Size: s.Size, Interval: s.Interval}}, s.changes...)
			if len(s.changes) > 10 {
				s.changes = s.changes[:10]
			}
			s.Flags |= FlagChanged
			p.event(q.ReceivedAt, k, q.Topic)
		}
		if s.raw.Kind() == expiry.Finite && q.Interval.Kind() == expiry.Absent {
			s.Flags |= FlagFell
			p.event(q.ReceivedAt, FellToNever, q.Topic)
		}
		if s.raw.Kind() == expiry.Absent && q.Interval.Kind() == expiry.Finite {
			s.Flags &^= FlagFell
			p.event(q.ReceivedAt, GainedExpiry, q.Topic)
		}
		if s.Flags&FlagDue != 0 && q.Origin != Live {
			s.pastDue = true
		}
		p.set(s, q)
	}
	s.epoch = p.epoch
	if q.Origin == Live {
		since := uint32(0)
		if s.lastRetLive != 0 {
			since = uint32((q.ReceivedAt - s.lastRetLive) / 1000)
		}
		s.History = s.History.Live(q.Interval, since)
		s.lastRetLive = q.ReceivedAt
		s.LastLive = q.ReceivedAt
		s.LiveCount++
		s.liveEpoch = p.epoch
		s.pastDue = false
		s.Flags |= FlagLive
		s.Flags &^= FlagStillServed | FlagLiveDiffers
	} else {
		s.History = s.History.Replay(q.Interval)
	}
}

func (p *plainStore) set(s *plainSlot, q *Publication) {
	s.Size = len(q.Payload)
	s.payload = bytes.Clone(q.Payload)
	s.Head = s.payload[:min(len(s.payload), headLength)]
	s.props = bytes.Clone(q.Properties)
	s.raw = q.Interval
	s.Interval = q.Interval
	s.ReceivedAt = q.ReceivedAt
	s.askedAt = 0
	if q.QoSKnown {
		s.QoS = int8(q.QoS)
	}
	s.Flags &^= FlagNever | FlagExpiring | FlagUnknown | FlagDue | FlagLooksEmpty | FlagEmptyReplay
	switch q.Interval.Kind() {
	case expiry.Absent:
		s.Flags |= FlagNever
	case expiry.Finite:
		s.Flags |= FlagExpiring
		if p.stamps && q.Origin != Live {
			s.Flags ^= FlagExpiring | FlagUnknown
			s.Interval = expiry.NotKnown()
		}
	default:
		s.Flags |= FlagUnknown
	}
	if looksEmpty(q.Payload) {
		s.Flags |= FlagLooksEmpty
	}
	if len(q.Payload) == 0 {
		s.Flags |= FlagEmptyReplay
	}
}

func (p *plainStore) remove(s *plainSlot) {
	delete(p.slots, string(s.Topic))
	delete(p.byID, s.Ref.id)
	p.structure++
	p.version++
}

func (p *plainStore) beginScan() { p.epoch++; p.tombs = map[string]int64{} }
func (p *plainStore) endScan()   { p.tombs = map[string]int64{} }

func (inv *Inventory) notSeen(ctx context.Context, max int) [][]byte {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	var all [][]byte
	for _, s := range inv.slots {
		if s.epoch != inv.epoch && (max <= 0 || len(all) < max) {
			all = append(all, bytes.Clone(s.Topic))
		}
	}
	return all
}

func (p *plainStore) vanished(topic []byte, at int64, why EventKind) bool {
	s := p.slots[string(topic)]
	if s == nil || s.ReceivedAt > at {
		return false
	}
	p.remove(s)
	p.event(at, why, topic)
	return true
}

func (p *plainStore) stillServed(topic []byte, at int64) {
	s := p.slots[string(topic)]
	if s == nil {
		return
	}
	d, ok := s.raw.Deadline(s.ReceivedAt)
	if s.pastDue || ok && d <= at {
		s.Flags |= FlagStillServed
		p.event(at, Kept, topic)
		p.version++
	}
}

func (p *plainStore) tick(now int64) {
	p.now = max(p.now, now)
	if p.awayAt != 0 {
		return
	}
	for _, s := range p.slots {
		if d, ok := s.Interval.Deadline(s.ReceivedAt); ok && d <= now && s.Flags&FlagDue == 0 {
			s.Flags |= FlagDue
			p.version++
		}
	}
}

func (p *plainStore) dueTopics(now int64, max int) [][]byte {
	var all [][]byte
	if p.awayAt != 0 {
		return nil
	}
	for _, s := range p.slots {
		d, ok := s.raw.Deadline(s.ReceivedAt)
		if ok && d+2000 <= now && (s.askedAt == 0 || now-s.askedAt >= 60000) && (max <= 0 || len(all) < max) {
			s.askedAt = now
			all = append(all, bytes.Clone(s.Topic))
		}
	}
	return all
}

func (p *plainStore) setAway(away bool) {
	if !away {
		p.awayAt = 0
	} else if p.awayAt == 0 {
		p.awayAt = p.now
	}
}

func (inv *Inventory) setBrokerStamps(stamps bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.stamps = stamps
}

func (p *plainStore) counts() Counts {
	c := Counts{Version: p.version, Structure: p.structure}
	for _, s := range p.slots {
		p.count(&c, s)
	}
	return c
}

func (p *plainStore) count(c *Counts, s *plainSlot) {
	c.Topics++
	switch {
	case s.Flags&FlagNever != 0:
		c.Never++
	case s.Flags&FlagExpiring != 0:
		c.Expiring++
	default:
		c.Unknown++
	}
	if s.Flags&FlagDue != 0 {
		c.Due++
	}
	if s.Flags&findings != 0 {
		c.Findings++
	}
	c.Bytes += int64(s.Size)
	c.KeptBytes += int64(len(s.payload) + len(s.props))
}

func (p *plainStore) copySlot(s *plainSlot) Slot {
	c := s.Slot
	c.Topic = bytes.Clone(s.Topic)
	c.Head = bytes.Clone(s.Head)
	c.StoppedAt = p.awayAt
	if s.epoch != p.epoch {
		c.Flags |= FlagNotSeen
	}
	return c
}

func (p *plainStore) slot(r Ref) (Slot, bool) {
	s := p.byID[r.id]
	if s == nil {
		return Slot{}, false
	}
	return p.copySlot(s), true
}

func (p *plainStore) find(topic []byte) (Ref, bool) {
	if s := p.slots[string(topic)]; s != nil {
		return s.Ref, true
	}
	return Ref{}, false
}

func (inv *Inventory) detail(r Ref) (Detail, bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	s := inv.byID[r.id]
	if s == nil {
		return Detail{}, false
	}
	d := Detail{Slot: inv.copySlot(s), Payload: bytes.Clone(s.payload), Kept: len(s.payload), Properties: bytes.Clone(s.props)}
	d.SHA256 = sha256.Sum256(s.payload)
	d.Fingerprint = Fingerprint(s.payload, s.props, s.raw)
	d.Changes = append(d.Changes, s.changes...)
	return d, true
}

func (p *plainStore) events(after uint64, max int) ([]Event, uint64) {
	var out []Event
	oldest := p.evSeq - uint64(len(p.evs))
	if after < oldest {
		after = oldest
	}
	for i := after - oldest; i < uint64(len(p.evs)) && (max <= 0 || len(out) < max); i++ {
		out = append(out, p.evs[i])
		after++
	}
	return out, after
}

// entries returns the matching slots in the order of the spec.
func (inv *Inventory) entries(s Spec) []entry {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	var all []entry
	keys := map[uint32]int64{}
	for _, ps := range inv.slots {
		c := inv.copySlot(ps)
		if !s.Filter.Match(c, ps.payload, s.Now) {
			continue
		}
		all = append(all, entry{ref: ps.Ref, topic: ps.Topic})
		if !s.Tree {
			keys[ps.Ref.id] = sortValue(&c, s.Sort)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if ka, kb := keys[a.ref.id], keys[b.ref.id]; ka != kb {
			return ka < kb
		}
		return compareTopics(a.topic, b.topic) < 0
	})
	if s.Desc && !s.Tree {
		for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
			all[i], all[j] = all[j], all[i]
		}
	}
	return all
}

func (p *plainStore) below(prefix []byte) Counts {
	var c Counts
	for _, s := range p.slots {
		if bytes.HasPrefix(s.Topic, prefix) && (len(s.Topic) == len(prefix) || s.Topic[len(prefix)] == '/') {
			p.count(&c, s)
		}
	}
	return c
}

func sortValue(s *Slot, k SortKey) int64 {
	switch k {
	case ByExpiry:
		if d, ok := s.Interval.Deadline(s.ReceivedAt); ok {
			return (d + 999) / 1000
		}
		return 1 << 62
	case BySize:
		return int64(s.Size)
	case ByLive:
		return s.LastLive
	case ByReceived:
		return s.ReceivedAt
	}
	return 0
}
