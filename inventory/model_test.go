package inventory

import (
	"bytes"
	"fmt"
	"sort"

	"retainscope/expiry"
)

// model is the inventory said again in the plainest way: a map and loops over it. The tests compare.
type model struct {
	slots     map[string]*modelSlot
	tombs     map[string]int64
	epoch     int
	now       int64
	away      bool
	structure int
	events    []string
}

type modelSlot struct {
	topic           string
	payload, props  string
	interval        expiry.Interval
	history         expiry.History
	received, first int64
	live, set       int64 // set in seconds
	setEpoch, epoch int
	count           uint32
	flags           Flags
	qos             int8
	past            bool
	changes         []string
}

func newModel() *model { return &model{slots: map[string]*modelSlot{}, tombs: map[string]int64{}} }

func (m *model) event(k EventKind, topic []byte) {
	m.events = append(m.events, fmt.Sprintf("%v %q", k, topic))
}

func (m *model) apply(q Publication) {
	topic := string(q.Topic)
	if topic == "" {
		return
	}
	m.now = max(m.now, q.ReceivedAt)
	s := m.slots[topic]
	switch {
	case q.Origin == Live && !q.Retain:
		if s != nil {
			s.live, s.count = q.ReceivedAt, s.count+1
			s.flags = s.flags&^FlagLiveDiffers | FlagLive
			if s.payload != string(q.Payload) {
				s.flags |= FlagLiveDiffers
			}
		}
		return
	case q.Origin == Live && len(q.Payload) == 0:
		m.tombs[topic] = q.ReceivedAt
		m.event(Cleared, q.Topic)
		m.drop(topic)
		return
	case q.Origin == Live:
		delete(m.tombs, topic)
	case s == nil:
		at, ok := m.tombs[topic]
		if ok && (q.Origin == Replay && m.epoch > 0 || q.Origin == Answer && q.ReceivedAt-at < 10000) {
			return
		}
	}
	fresh := s == nil
	if fresh {
		s = &modelSlot{topic: topic, first: q.ReceivedAt, qos: -1}
		if oddName(q.Topic) {
			s.flags |= FlagOddName
		}
		m.slots[topic] = s
		m.structure++
		if q.Origin == Live {
			m.event(Appeared, q.Topic)
		}
	} else {
		same := s.payload == string(q.Payload) && s.props == string(q.Properties)
		deadline, finite := s.interval.Deadline(s.received)
		past := finite && (deadline+999)/1000*1000 <= q.ReceivedAt
		if q.Origin != Live {
			s.epoch = m.epoch
			newer := s.set != 0 && (q.Origin == Replay && m.epoch > 0 && s.setEpoch == m.epoch ||
				q.Origin == Answer && q.ReceivedAt-s.set*1000 < 10000)
			if newer && (!same || !past) {
				if same && q.QoSKnown {
					s.qos = int8(q.QoS)
				}
				return
			}
			near := finite && deadline-q.ReceivedAt <= 3000 && q.ReceivedAt-deadline <= 3000
			if same && q.QoS > 0 && q.Interval.Kind() == expiry.Absent && near {
				return
			}
		}
		if !same {
			kind := Replaced
			if q.Origin != Live {
				kind = FoundChanged
			}
			s.flags |= FlagChanged
			s.changes = append([]string{fmt.Sprintf("%v %s %v", kind, s.payload, s.interval)}, s.changes...)
			s.qos = -1
			m.event(kind, q.Topic)
		}
		switch was, is := s.interval.Kind(), q.Interval.Kind(); {
		case was == expiry.Finite && is == expiry.Absent:
			s.flags |= FlagFell
			m.event(FellToNever, q.Topic)
		case was == expiry.Absent && is == expiry.Finite:
			s.flags &^= FlagFell
			m.event(GainedExpiry, q.Topic)
		}
		s.past = past && q.Origin != Live
	}
	s.payload, s.props, s.interval, s.received = string(q.Payload), string(q.Properties), q.Interval, q.ReceivedAt
	if q.QoSKnown {
		s.qos = int8(q.QoS)
	}
	s.flags &^= FlagNever | FlagExpiring | FlagUnknown | FlagDue | FlagLooksEmpty | FlagEmptyReplay
	switch q.Interval.Kind() {
	case expiry.Absent:
		s.flags |= FlagNever
	case expiry.Finite:
		s.flags |= FlagExpiring
	default:
		s.flags |= FlagUnknown
	}
	if len(q.Payload) == 0 {
		s.flags |= FlagEmptyReplay
	} else if looksEmpty(q.Payload) {
		s.flags |= FlagLooksEmpty
	}
	s.epoch = m.epoch
	if q.Origin != Live {
		s.history = s.history.Replay(q.Interval)
		return
	}
	second := max(q.ReceivedAt/1000, 1)
	since := uint32(0)
	if s.set != 0 && second > s.set {
		since = uint32(second - s.set)
	}
	s.history = s.history.Live(q.Interval, since)
	s.set, s.setEpoch, s.live = second, m.epoch, q.ReceivedAt
	s.count++
	s.flags = s.flags&^(FlagStillServed|FlagLiveDiffers) | FlagLive
}

func (m *model) drop(topic string) bool {
	if m.slots[topic] == nil {
		return false
	}
	delete(m.slots, topic)
	m.structure++
	return true
}

func (m *model) mark(topic string, set, unset Flags) bool {
	s := m.slots[topic]
	if s != nil {
		s.flags = s.flags&^unset | set
	}
	return s != nil
}

func (m *model) beginScan() { m.epoch, m.tombs = m.epoch+1, map[string]int64{} }

func (m *model) vanished(topic string, at int64, why EventKind) bool {
	s := m.slots[topic]
	if s == nil || s.received > at {
		return false
	}
	m.event(why, []byte(topic))
	return m.drop(topic)
}

func (m *model) stillServed(topic string, at int64) {
	s := m.slots[topic]
	if s == nil {
		return
	}
	d, finite := s.interval.Deadline(s.received)
	if !s.past && (!finite || (d+999)/1000*1000 > at) {
		return
	}
	if s.flags&FlagStillServed == 0 {
		m.event(Kept, []byte(topic))
	}
	s.flags |= FlagStillServed
}

func (m *model) tick(now int64) {
	m.now = max(m.now, now)
	if m.away {
		return
	}
	for _, s := range m.slots {
		if d, ok := s.interval.Deadline(s.received); ok && (d+999)/1000 <= now/1000 {
			s.flags |= FlagDue
		}
	}
}

func (m *model) shown(s *modelSlot) Flags {
	if s.epoch != m.epoch {
		return s.flags | FlagNotSeen
	}
	return s.flags
}

// sorted returns the topics for which keep holds, level by level.
func (m *model) sorted(keep func(*modelSlot) bool) []string {
	var all []string
	for t, s := range m.slots {
		if keep == nil || keep(s) {
			all = append(all, t)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := bytes.Split([]byte(all[i]), []byte("/")), bytes.Split([]byte(all[j]), []byte("/"))
		for k := 0; k < len(a) && k < len(b); k++ {
			if c := bytes.Compare(a[k], b[k]); c != 0 {
				return c < 0
			}
		}
		return len(a) < len(b)
	})
	return all
}

// rows returns the tree over topics with everything open, one line a level: depth, path, held.
func (m *model) rows(topics []string) []string {
	var lines []string
	seen := map[string]bool{}
	held := map[string]bool{}
	for _, t := range topics {
		held[t] = true
	}
	for _, t := range topics {
		depth := 0
		for i := 0; i <= len(t); i++ {
			if i < len(t) && t[i] != '/' {
				continue
			}
			if path := t[:i]; !seen[path] {
				seen[path] = true
				lines = append(lines, fmt.Sprintf("%d %q %v", depth, path, held[path]))
			}
			depth++
		}
	}
	return lines
}

// below returns the sums at a path and below.
func (m *model) below(path string) sums {
	var n sums
	for t, s := range m.slots {
		if under([]byte(t), []byte(path)) {
			n.add(sumsOf(s.flags))
		}
	}
	return n
}
