package actions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// Held is one retained message in a Model.
type Held struct {
	Topic       []byte
	Fingerprint string
	Size        int
	Interval    expiry.Interval
	ReceivedAt  int64 // Unix ms
	LastLive    int64 // Unix ms; 0 = not seen live or not known

	also []string // what else the same value may have been approved as, where the broker stamps intervals
}

// fits reports whether it is the value of that fingerprint.
func (h *Held) fits(fingerprint string) bool {
	return h.Fingerprint == fingerprint || slices.Contains(h.also, fingerprint)
}

// Model is a retained store in memory, without a broker: for a dry run over a saved list or an inventory, and to try
// out what a publication does. It is not safe for concurrent use. The zero value is not ready; use NewModel.
type Model struct {
	slots  map[string]Held
	notes  []string
	broker BrokerID
}

// NewModel returns an empty store.
func NewModel() *Model { return &Model{slots: map[string]Held{}} }

// Len returns how many topics hold a message.
func (m *Model) Len() int { return len(m.slots) }

// Get returns what exactly this topic holds.
func (m *Model) Get(topic []byte) (Held, bool) {
	h, ok := m.slots[string(topic)]
	return h, ok
}

// Broker returns where a saved list was made, the zero value where that is not known. The user is the one who looked.
func (m *Model) Broker() BrokerID { return m.broker }

// Publish does to the store what a broker does with a PUBLISH without properties: with RETAIN 0 nothing, with RETAIN 1
// and no payload the slot is emptied, and with any payload, however empty it looks, the slot holds that.
//
// Source: MQTT 5, 3.3.1.3.
func (m *Model) Publish(topic, payload []byte, retain bool) {
	switch {
	case !retain:
	case len(payload) == 0:
		delete(m.slots, string(topic))
	default:
		m.put(Held{Topic: bytes.Clone(topic), Size: len(payload), Interval: expiry.None(),
			Fingerprint: inventory.Fingerprint(payload, nil, expiry.None())})
	}
}

func (m *Model) put(h Held) { m.slots[string(h.Topic)] = h }

func (m *Model) candidates() []Candidate {
	all := make([]Candidate, 0, len(m.slots))
	for _, h := range m.slots {
		all = append(all, Candidate{Topic: h.Topic, Interval: h.Interval, ReceivedAt: h.ReceivedAt, LastLive: h.LastLive})
	}
	return all
}

// ModelOf copies an inventory into a model. It may take long; the error is that of ctx.
func ModelOf(ctx context.Context, inv *inventory.Inventory) (*Model, error) {
	m := NewModel()
	_, sure := inv.Habits().Stamps()
	err := inv.Walk(ctx, inventory.Spec{}, func(d inventory.Detail) error {
		h := Held{Topic: d.Topic, Fingerprint: d.Fingerprint, Size: d.Size, Interval: d.Interval, ReceivedAt: d.ReceivedAt, LastLive: d.LastLive}
		if !d.Flags.Has(inventory.FlagCut) {
			h.also = sameValues(inventory.Publication{Payload: d.Payload, Properties: d.Properties, Interval: d.Interval}, sure == expiry.Certain)
		}
		m.put(h)
		return nil
	})
	return m, err
}

// listLine is one line of a saved list.
type listLine struct {
	Summary     bool    `json:"summary"`
	Topic       *string `json:"topic"`
	TopicHex    string  `json:"topic_hex"`
	Size        int     `json:"size"`
	Fingerprint string  `json:"fingerprint"`
	Expiry      *uint32 `json:"expiry_seconds"`
	ReceivedAt  string  `json:"received_at"`

	Flags []string `json:"flags"`

	// Of the summary.
	Claim  string `json:"claim"`
	Broker string `json:"broker"`
	Says   string `json:"broker_says"`
	User   string `json:"user"`
}

// ReadList reads a saved inventory: the JSON lines that list writes. The error names the line that is none of them. A
// list without its summary at the end is read and a note says that it may be cut short.
func ReadList(r io.Reader) (*Model, error) {
	m := NewModel()
	in := bufio.NewReaderSize(r, 1<<20)
	summary := false
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var l listLine
			if e := json.Unmarshal(line, &l); e != nil {
				return nil, fmt.Errorf("read saved list: line %d is no JSON of a list: %w", n, e)
			}
			if l.Summary {
				summary = true
				m.broker = BrokerID{URL: l.Broker, User: l.User, Identity: l.Says}
				if l.Claim != inventory.Verified.String() && l.Claim != inventory.NoSignOfLoss.String() {
					m.notes = append(m.notes, fmt.Sprintf("the saved list is %s: a topic that is not in it may be there nevertheless", Quote([]byte(l.Claim))))
				}
			} else if e := m.take(l); e != nil {
				return nil, fmt.Errorf("read saved list: line %d: %w", n, e)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read saved list: %w", err)
		}
	}
	if !summary {
		m.notes = append(m.notes, "the saved list has no summary at its end: it may be cut short")
	}
	return m, nil
}

func (m *Model) take(l listLine) error {
	h := Held{Fingerprint: l.Fingerprint, Size: l.Size, Interval: expiry.None()}
	switch {
	case l.TopicHex != "":
		raw, err := hex.DecodeString(l.TopicHex)
		if err != nil {
			return fmt.Errorf("topic_hex is not hexadecimal")
		}
		h.Topic = raw
	case l.Topic != nil:
		h.Topic = []byte(*l.Topic)
	default:
		return errors.New("it names no topic")
	}
	if !isFingerprint(h.Fingerprint) {
		return errors.New("it has no fingerprint")
	}
	if slices.Contains(l.Flags, "unknown") {
		h.Interval = expiry.NotKnown()
	}
	if l.Expiry != nil {
		h.Interval = expiry.Seconds(*l.Expiry)
	}
	if t, err := time.Parse(time.RFC3339Nano, l.ReceivedAt); err == nil {
		h.ReceivedAt = t.UnixMilli()
	}
	m.put(h)
	return nil
}
