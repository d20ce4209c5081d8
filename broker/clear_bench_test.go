package broker

// A clear from end to end on one broker: a desk on disk, the steps of room actions, and this room's observer and sender.
// Every PUBLISH of the tool is counted where it leaves, below everything that is tested.

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// The store that every clear begins with.
const (
	clearOwn     = "lab/retire/device07/state"
	clearPayload = `{"temperature":21.5}`
	clearParent  = "lab/retire/device07"
	clearBeside  = "lab/retire/device07/availability"
)

var clearStore = [][2]string{
	{clearOwn, clearPayload}, {clearParent, "here"}, {clearBeside, "online"},
	{"lab/retire/device070/state", "other"}, {"lab/retire/device08/state", "far"}, {clearOwn + "/child", "below"},
}

// tally counts what the tool writes, over all its connections.
type tally struct {
	mu        sync.Mutex
	publishes [][]byte
	types     [16]int
	conns     int
}

// over returns cfg with every connection counted.
func (y *tally) over(cfg Config) Config {
	dial := cfg.wire
	if dial == nil {
		address := strings.TrimPrefix(cfg.URL, "mqtt://")
		dial = func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	cfg.wire = func(ctx context.Context) (net.Conn, error) {
		nc, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		y.mu.Lock()
		y.conns++
		y.mu.Unlock()
		return &talliedConn{Conn: nc, y: y}, nil
	}
	return cfg
}

func (y *tally) sent() [][]byte {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.publishes)
}

// talliedConn reads along what is written, in whatever pieces.
type talliedConn struct {
	net.Conn
	y   *tally
	buf []byte
}

func (c *talliedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.y.mu.Lock()
	defer c.y.mu.Unlock()
	c.buf = append(c.buf, p[:n]...)
	for {
		size, ok := packetSize(c.buf)
		if !ok || len(c.buf) < size {
			return n, err
		}
		c.y.types[c.buf[0]>>4]++
		if c.buf[0]>>4 == typePublish {
			c.y.publishes = append(c.y.publishes, slices.Clone(c.buf[:size]))
		}
		c.buf = c.buf[size:]
	}
}

// CloseWrite ends the direction of the tool.
func (c *talliedConn) CloseWrite() error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// retirement is one clear to be.
type retirement struct {
	t       *testing.T
	b       contractBroker
	y       *tally
	cfg     Config // of the operator, counted
	dir     string
	desk    *actions.Desk
	clearer *actions.Clearer
	id      actions.BrokerID
}

// newRetirement fills the broker with clearStore and approves clearOwn.
func newRetirement(t *testing.T, b contractBroker) *retirement {
	t.Helper()
	for _, s := range clearStore {
		b.retain(s[0], s[1], 0)
	}
	r := openRetirement(t, b)
	r.approve(clearOwn, inventory.Fingerprint([]byte(clearPayload), nil, expiry.None()))
	return r
}

// openRetirement leaves the broker as it is and approves nothing.
func openRetirement(t *testing.T, b contractBroker) *retirement {
	t.Helper()
	dir := t.TempDir()
	store, err := actions.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &retirement{t: t, b: b, y: &tally{}, dir: dir, desk: actions.OpenDesk(store, "home.toml", time.Now)}
	r.cfg = r.y.over(b.config())
	identity, err := Identify(within(t), b.config())
	if err != nil {
		t.Fatal(err)
	}
	r.id = actions.BrokerID{URL: r.cfg.URL, User: r.cfg.User, Identity: identity}
	r.clearer = &actions.Clearer{Desk: r.desk, Broker: r.id, Observer: NewObserver(r.cfg), Sender: NewSender(r.cfg), Now: time.Now}
	return r
}

// approve adds topic to the manifest with a writer that is known to be silent.
func (r *retirement) approve(topic, fingerprint string) {
	r.t.Helper()
	m, err := r.desk.Manifest()
	if err != nil {
		m = actions.NewManifest(r.id)
	}
	e := actions.Entry{Topic: []byte(topic), Owner: "device07", Purpose: "state", Fingerprint: fingerprint, Writers: []actions.Writer{{
		Name: "device07", Kind: actions.Device, State: actions.Stopped, Evidence: "unplugged", EvidenceAt: time.Now(), Will: actions.WillNone,
	}}}
	if err := m.Approve(e, actions.Protection{}, actions.Person{Login: "kim"}, time.Now()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.desk.Save(context.Background(), m); err != nil {
		r.t.Fatal(err)
	}
}

// at calls f when the clear has reached step.
func (r *retirement) at(step actions.Step, f func()) {
	r.clearer.Progress = func(p actions.Progress) {
		if p.Step == step {
			f()
		}
	}
}

// clear clears topic and looks whether what it says of the wire is what was on it.
func (r *retirement) clear(topic string) actions.Operation {
	r.t.Helper()
	before := len(r.y.sent())
	op, err := r.clearer.Clear(context.Background(), actions.Request{Topic: []byte(topic)})
	if err != nil {
		r.t.Fatal(err)
	}
	sent := r.y.sent()[before:]
	switch {
	case op.Verdict().Sent() && len(sent) != 1, !op.Verdict().Sent() && len(sent) != 0:
		r.t.Errorf("%d PUBLISH packets were on the wire: %s", len(sent), op.Sentence())
	case len(sent) == 1:
		p, o := op.Outcome.Packet, op.Outcome.Receipt
		want := publish(message{topic: topic, qos: 1, id: p.ID, retain: true})
		if string(sent[0]) != string(want) || !p.Retain || p.Dup || p.QoS != 1 || p.ID == 0 || p.PayloadLength != 0 || p.PropertyBytes != 0 || p.Length != len(want) || o.Publishes != 1 {
			r.t.Errorf("on the wire %x, in the record %+v, counted %d", sent[0], *p, o.Publishes)
		}
	}
	if v, err := r.desk.Verify(context.Background()); err != nil || v.Bad != nil || !v.HeadFits {
		r.t.Errorf("the record: %+v, %v", v, err)
	}
	if open, err := r.desk.List(context.Background()); err != nil || len(open.Open()) != 0 {
		r.t.Errorf("%d operations are open, %v", len(open.Open()), err)
	}
	return op
}

// holds returns everything that the broker replays for filters, sorted, as bytes that can be compared. A time that
// counts down is left out.
func (r *retirement) holds(filters ...string) []string {
	r.t.Helper()
	return holdsAs(r.t, r.b.config(), filters...)
}

func holdsAs(t testing.TB, cfg Config, filters ...string) []string {
	t.Helper()
	if len(filters) == 0 {
		filters = []string{"#"}
	}
	q := actions.Question{Quiet: 300 * time.Millisecond}
	for _, f := range filters {
		q.Filters = append(q.Filters, []byte(f))
	}
	seen, err := NewObserver(cfg).Observe(within(t), q)
	if err != nil || !seen.Fenced {
		t.Fatalf("look at the store: %+v, %v", seen.Grants, err)
	}
	var all []string
	for _, p := range seen.Seen {
		if p.Retain && p.Topic[0] != '$' {
			all = append(all, fmt.Sprintf("%s = %x %x %s", p.Topic, p.Payload, p.Properties, p.Interval.Kind()))
		}
	}
	slices.Sort(all)
	return all
}

// without returns all but what topic holds.
func without(all []string, topic string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.HasPrefix(s, topic+" = ") })
}
