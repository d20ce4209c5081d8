package actions

import (
	"bytes"
	"fmt"
	goparser "go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// The rows of the guide. G1, G2 and G7 stand beside the manifest and the watch.

func guideManifest(t *testing.T) *Manifest {
	t.Helper()
	return mustParse(t, fmt.Sprintf(`version = 1
[broker]
url = "mqtt://lab"
[[topic]]
topic = "lab/retire/device07/state"
owner = "device07"
purpose = "state"
disposition = "clear"
approved_by = "kim"
approved_at = 2026-03-07T12:00:00Z
fingerprint = "%s"
[[topic]]
topic = "lab/retire/device07/availability"
owner = "device07"
purpose = "presence"
disposition = "clear"
approved_by = "kim"
approved_at = 2026-03-07T12:00:00Z
fingerprint = "%s"
[[topic]]
topic = "lab/retire/device08/state"
owner = "device08"
disposition = "preserve"
reason = "independent neighbour"
[[topic]]
topic = "lab/retire/+"
disposition = "clear"
[[topic]]
topic = "lab/site/summary"
owner = "shared"
`, inventory.Fingerprint([]byte("21.5"), nil, expiry.None()), inventory.Fingerprint([]byte("online"), nil, expiry.None())))
}

func guideStore() *Model {
	m := NewModel()
	for topic, payload := range map[string]string{
		"lab/retire/device07/state": "21.5", "lab/retire/device07/availability": "online", "lab/retire/device070/state": "3",
		"lab/retire/device08/state": "4", "lab/site/summary": "5", "elsewhere": "6",
	} {
		m.Publish([]byte(topic), []byte(payload), true)
	}
	return m
}

// G12: a dry run over a local model says what the manifest would select, refuse and preserve.
func TestG12DryRunSelectsRefusesAndPreserves(t *testing.T) {
	store := guideStore()
	d := Check(guideManifest(t), store, Protection{}, BrokerID{URL: "mqtt://lab:1883"}, Past{}, noon.UnixMilli())
	var got []Decision
	for _, c := range d.Entries {
		got = append(got, c.Decision)
	}
	if want := []Decision{WouldClear, WouldClear, WouldPreserve, WouldRefuse, WouldHold}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if d.Unlisted != 2 || !d.Looked || d.Count(WouldClear) != 2 {
		t.Errorf("%d topics are not listed, %d to clear", d.Unlisted, d.Count(WouldClear))
	}
	if c := d.Entries[0]; len(c.Provisional) == 0 || len(c.Controls) == 0 || c.Entry.Line != 4 {
		t.Errorf("the first entry: %+v", c)
	}
	if !strings.Contains(d.Entries[3].Why, "wildcard") {
		t.Errorf("refused: %s", d.Entries[3].Why)
	}
	cleared := d.Rehearse(store)
	if len(cleared) != 2 || store.Len() != 4 {
		t.Errorf("cleared %q, %d left", cleared, store.Len())
	}
	for _, topic := range []string{"lab/retire/device070/state", "lab/retire/device08/state", "lab/site/summary", "elsewhere"} {
		if _, ok := store.Get([]byte(topic)); !ok {
			t.Errorf("%s went along", topic)
		}
	}
	// A second run selects nothing: nothing is cleared again and again.
	if again := Check(guideManifest(t), store, Protection{}, BrokerID{}, Past{}, noon.UnixMilli()); again.Count(WouldClear) != 0 || again.Count(IsAbsent) != 2 {
		t.Errorf("a second run selects %d", again.Count(WouldClear))
	}
}

func TestG12DryRunKnowsWhatKeepsAnEntryBack(t *testing.T) {
	p, err := Protect([]string{"lab/retire/device07/availability"})
	if err != nil {
		t.Fatal(err)
	}
	store := guideStore()
	store.Publish([]byte("lab/retire/device07/state"), []byte("22"), true)
	d := Check(guideManifest(t), store, p, BrokerID{}, Past{}, noon.UnixMilli())
	if d.Entries[0].Decision != HasChanged || d.Entries[1].Decision != WouldRefuse || !strings.Contains(d.Entries[1].Why, "protected") {
		t.Errorf("%+v", d.Entries[:2])
	}
	d = Check(guideManifest(t), nil, Protection{}, BrokerID{URL: "mqtt://other"}, Past{}, 0)
	if d.Looked || d.Count(WouldClear) != 0 || len(d.Notes) != 1 {
		t.Errorf("on another broker: %+v", d)
	}
	if d = Check(guideManifest(t), nil, Protection{}, BrokerID{}, Past{}, 0); d.Count(WouldClear) != 2 || !strings.Contains(d.Entries[0].Why, "not looked at") {
		t.Errorf("without a store: %+v", d)
	}
}

// G1: a shared prefix selects nothing; device07 never selects device070.
func TestG1Device07NeverSelectsDevice070(t *testing.T) {
	b := newBench(t)
	others := b.holds()
	if op := b.clear(); op.Verdict() != ClearedVerified {
		t.Fatal(op.Sentence())
	}
	if want := strings.Replace(others, own+"="+ownPayload+"\n", "", 1); b.holds() != want && b.holds()+"\n" != want {
		t.Errorf("left\n%s\nwant\n%s", b.holds(), want)
	}
	// Names that a careless reader takes for one another; the last two are no UTF-8 and cannot be subscribed to.
	names := []string{"/x", "x", "x/", "x//y", "x/y", "x ", " x", "e\u0301", "\u00e9", "x/\xff", "x/\xfe"}
	for _, n := range names {
		b := newBench(t)
		for _, m := range names {
			b.publish(retained(m, "v"))
		}
		m := NewManifest(home)
		b.approve(m, n, silent)
		if err := b.store.Replace("home.toml", m.Text()); err != nil {
			t.Fatal(err)
		}
		b.request = Request{Topic: []byte(n), Controls: [][]byte{[]byte(neighbour)}}
		if op := b.clear(); op.Verdict() != ClearedVerified {
			t.Errorf("%q: %s", n, op.Sentence())
		}
		for _, m := range names {
			if _, there := b.lab.store[m]; there == (m == n) {
				t.Errorf("clearing %q: %q is there: %v", n, m, there)
			}
		}
	}
}

// G3: RETAIN 1, zero bytes, QoS 1, the exact topic; checked on the packet as serialised.
func TestG3RemovalIsRetainOneZeroBytesQoSOne(t *testing.T) {
	o, err := tombstone([]byte(own), Protection{})
	if err != nil {
		t.Fatal(err)
	}
	good := encodePublish(o, 7)
	f, err := o.Check(good)
	if err != nil || !f.Retain || f.Dup || f.QoS != 1 || f.ID != 7 || f.PayloadLength != 0 || f.PropertyBytes != 0 || f.TopicLength != len(own) || f.Length != len(good) {
		t.Errorf("%+v %v", f, err)
	}
	with := func(change func(o *Outgoing)) []byte {
		p := o
		change(&p)
		return encodePublish(p, 7)
	}
	for _, c := range []struct {
		name   string
		packet []byte
		want   string
	}{
		{"RETAIN 0", append([]byte{good[0] &^ 1}, good[1:]...), "RETAIN 0"},
		{"DUP 1", append([]byte{good[0] | 8}, good[1:]...), "DUP 1"},
		{"QoS 0", with(func(o *Outgoing) { o.qos = 0 }), "QoS 0, not 1"},
		{"QoS 2", append([]byte{good[0]&^6 | 4}, good[1:]...), "QoS 2, not 1"},
		{"null", with(func(o *Outgoing) { o.payload = []byte("null") }), "payload of 4 bytes"},
		{"an empty object", with(func(o *Outgoing) { o.payload = []byte("{}") }), "payload of 2 bytes"},
		{"two quotes", with(func(o *Outgoing) { o.payload = []byte(`""`) }), "payload of 2 bytes"},
		{"one space", with(func(o *Outgoing) { o.payload = []byte(" ") }), "payload of 1 bytes"},
		{"one zero byte", with(func(o *Outgoing) { o.payload = []byte{0} }), "payload of 1 bytes"},
		{"another topic", with(func(o *Outgoing) { o.topic = []byte(similar) }), "names the topic"},
		{"no topic", with(func(o *Outgoing) { o.topic = nil }), "names the topic"},
		{"an expiry", with(func(o *Outgoing) { o.interval = expiry.Seconds(1) }), "other properties"},
		{"a user property", with(func(o *Outgoing) { o.properties = richProperties() }), "other properties"},
		{"a topic alias", with(func(o *Outgoing) { o.properties = []byte{0x23, 0, 1} }), "other properties"},
		{"Packet Identifier 0", encodePublish(o, 0), "Packet Identifier 0"},
		{"another packet", []byte{0xC0, 0}, "not a PUBLISH"},
		{"half a packet", good[:10], "bytes follow"},
		{"two packets", append(slices.Clone(good), good...), "bytes follow"},
		{"nothing", nil, "too early"},
	} {
		if _, err := o.Check(c.packet); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := (Outgoing{}).Check(good); err == nil {
		t.Error("a value that nobody made may be sent")
	}
}

// G3: zero bytes with RETAIN 0 remove nothing; null, {}, "" and one space are values.
func TestG3NonRetainedEmptyRemovesNothingAndNullIsAValue(t *testing.T) {
	m := NewModel()
	topic := []byte("a/b")
	m.Publish(topic, []byte("x"), true)
	m.Publish(topic, nil, false)
	if _, ok := m.Get(topic); !ok {
		t.Error("a publication without RETAIN removed it")
	}
	for _, payload := range []string{"null", "{}", `""`, " ", "\x00"} {
		m.Publish(topic, []byte(payload), true)
		if h, ok := m.Get(topic); !ok || h.Size != len(payload) {
			t.Errorf("%q is not held as a value", payload)
		}
	}
	m.Publish([]byte("a/bb"), nil, true)
	if m.Len() != 1 {
		t.Error("a tombstone for another topic removed it")
	}
	m.Publish(topic, nil, true)
	if m.Len() != 0 {
		t.Error("a tombstone left it")
	}
}

// G4: the record holds identity, topic, payload length, RETAIN, Packet Identifier and reason; three states of evidence.
func TestG4RecordHoldsThePacketAndItsAnswer(t *testing.T) {
	for _, c := range []struct {
		set  func(*bench)
		want string
	}{
		{func(b *bench) { b.code = 0x10 }, "PUBACK 0x10 no matching subscribers for packet 7"},
		{func(b *bench) { b.code = 0x87 }, "PUBACK 0x87 not authorized for packet 7"},
		{func(b *bench) { b.send = func(r *Receipt) error { r.Answered = false; return nil } }, "no acknowledgement came in time"},
	} {
		b := newBench(t)
		c.set(b)
		op, err := b.desk.Operation(t.Context(), b.clear().ID)
		if err != nil {
			t.Fatal(err)
		}
		p := op.Outcome.Packet
		if op.ID == "" || string(op.Topic) != own || p.PayloadLength != 0 || !p.Retain || p.QoS != 1 || p.ID != 7 {
			t.Errorf("%+v", p)
		}
		report := op.Report(nil)
		if !strings.Contains(report, c.want) || !strings.Contains(report, "RETAIN 1, DUP 0, QoS 1, Packet Identifier 7, topic 25 bytes, properties 0 bytes, payload 0 bytes") {
			t.Errorf("the report says\n%s", report)
		}
	}
}

// G5: the session is not the retained store, and the record says so.
func TestG5EndingASessionRemovesNothingIsSaid(t *testing.T) {
	op := newBench(t).clear()
	if !strings.Contains(op.Report(nil), "ending a session or a subscription removes nothing") {
		t.Error(op.Report(nil))
	}
}

// G6: a separate observer with a fresh nonshared subscription reads owned topic and controls before and after.
func TestG6ASeparateObserverReadsTopicAndControlsBeforeAndAfter(t *testing.T) {
	op := newBench(t).clear()
	looks := append(slices.Clone(op.Baseline.Looks), op.Outcome.Looks...)
	ids := map[string]bool{op.Outcome.Receipt.ClientID: true}
	for _, l := range looks {
		if ids[l.ClientID] {
			t.Errorf("client id %s was used before", l.ClientID)
		}
		ids[l.ClientID] = true
		for _, f := range l.Filters {
			if strings.HasPrefix(string(f.Filter), "$share/") || f.Code >= 0x80 {
				t.Errorf("%s: filter %q with code %#x", l.Role, f.Filter, f.Code)
			}
		}
	}
	before, after := op.Baseline.Looks[0].Filters, op.Outcome.Looks[0].Filters
	if len(before) != 4 || !reflect.DeepEqual(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	if n := count(op.Outcome.Controls, Intact); n != 3 {
		t.Errorf("%d controls intact", n)
	}
}

// G8: a quiet subscriber is bounded evidence; the record keeps the controls and the limits.
func TestG8TheRecordKeepsControlsAndLimits(t *testing.T) {
	op := newBench(t).clear()
	report := op.Report(nil)
	for _, want := range []string{"bounded evidence, not proof", `login "reader"`, "of 3 controls 3 intact", "up to 2026-03-07 12:00:00Z"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
}

// G9: nothing claims that a topic is absent from the store.
func TestG9NoSentenceClaimsAbsence(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	if _, err := b.clearer.Recheck(t.Context(), op.ID, ""); err != nil {
		t.Fatal(err)
	}
	op, err := b.desk.Operation(t.Context(), op.ID)
	if err != nil {
		t.Fatal(err)
	}
	var md bytes.Buffer
	if _, err := b.desk.Export(t.Context(), &md); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{op.Report(nil), op.Sentence(), md.String()} {
		for _, bad := range []string{"absent", "absence", "deleted", "does not exist", "no longer exists", "is gone", "removed from"} {
			if strings.Contains(strings.ToLower(text), bad) {
				t.Errorf("%q is claimed in\n%s", bad, text)
			}
		}
	}
}

// G10: a late writer that recreates a value is detected and named; nothing is cleared again by itself.
func TestG10ALateWriterIsNamedAndNothingIsClearedAgain(t *testing.T) {
	store := guideStore()
	Check(guideManifest(t), store, Protection{}, BrokerID{}, Past{}, 0).Rehearse(store)
	store.Publish([]byte("lab/retire/device07/state"), []byte("21.5"), true)
	if _, ok := store.Get([]byte("lab/retire/device07/state")); !ok {
		t.Error("in the model the late writer does not recreate it")
	}
	b := newBench(t)
	b.onSend = func() { b.pass(200 * time.Millisecond); b.publish(retained(own, ownPayload)) }
	op := b.clear()
	if op.Verdict() != CameBack || op.Outcome.Return.AfterMS != 200 || !op.Outcome.Return.Same || b.sends != 1 {
		t.Errorf("%s: %+v, %d sends", op.Verdict(), op.Outcome.Return, b.sends)
	}
	if !strings.Contains(op.Sentence(), "somebody still writes it") {
		t.Error(op.Sentence())
	}
}

// G11: ownership, writers, acknowledgement and read-back are closed separately.
func TestG11FourQuestionsAreClosedSeparately(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*bench)
		want [4]bool // ownership, writers, acknowledgement, read-back
	}{
		{"everything", func(*bench) {}, [4]bool{true, true, true, true}},
		{"a writer is not established", func(b *bench) {
			m, _ := b.desk.Manifest()
			e, _ := m.Find(b.topic)
			e.Writers[0].Will = WillUnknown
			if err := m.Put(e); err != nil {
				b.t.Fatal(err)
			}
			if err := b.store.Replace("home.toml", m.Text()); err != nil {
				b.t.Fatal(err)
			}
		}, [4]bool{true, false, true, true}},
		{"no answer", func(b *bench) { b.send = func(r *Receipt) error { r.Answered = false; return nil } }, [4]bool{true, true, false, false}},
		{"refused", func(b *bench) { b.code = 0x87 }, [4]bool{true, true, false, false}},
		{"still present", func(b *bench) { b.keep = true }, [4]bool{true, true, true, false}},
		{"a control is lost", func(b *bench) { b.onSend = func() { delete(b.lab.store, parent) } }, [4]bool{true, true, true, false}},
		{"nothing sent", func(b *bench) { delete(b.lab.store, own) }, [4]bool{true, true, false, false}},
	} {
		b := newBench(t)
		c.set(b)
		op := b.clear()
		for i, q := range op.Closings() {
			if q.Closed != c.want[i] || q.Why == "" {
				t.Errorf("%s: %s closed %v: %s", c.name, q.Question, q.Closed, q.Why)
			}
		}
		if c.name == "a writer is not established" && (len(op.Provisional()) != 1 || !strings.Contains(op.Report(nil), "cleared and verified, provisional")) {
			t.Errorf("it is not called provisional:\n%s", op.Report(nil))
		}
	}
}

// The room is pure: no network, no third party, no clock but Now.
func TestOnlyTheStandardLibraryInventoryAndExpiryAreImported(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		ast, err := goparser.ParseFile(token.NewFileSet(), f.Name(), nil, goparser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range ast.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			first, _, _ := strings.Cut(path, "/")
			ours := path == "retainscope/inventory" || path == "retainscope/expiry"
			if path == "net" || path == "os/exec" || path == "log/slog" || !ours && (strings.Contains(first, ".") || first == "retainscope") {
				t.Errorf("%s imports %s", f.Name(), path)
			}
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"time.Now", "time.Since(", "\tgo "} {
			if bytes.Contains(text, []byte(bad)) {
				t.Errorf("%s holds %q", f.Name(), bad)
			}
		}
	}
}
