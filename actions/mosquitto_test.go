package actions

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// realDesk is a desk on a real mosquitto: operator may do everything, reader only read, writer only write.
type realDesk struct {
	t       *testing.T
	all     *wire
	desk    *Desk
	clearer *Clearer
}

func newReal(t *testing.T) *realDesk {
	t.Helper()
	dir := t.TempDir()
	passwords := filepath.Join(dir, "passwords")
	acl := filepath.Join(dir, "acl")
	if err := os.WriteFile(passwords, []byte("operator:o\nreader:r\nwriter:w\nhalf:h\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(acl, []byte("user operator\ntopic readwrite #\nuser reader\ntopic read #\nuser writer\ntopic write #\n"+
		"user half\ntopic readwrite lab/#\ntopic deny lab/retire/device07/secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// mosquitto hashes the file in place.
	hash, err := exec.LookPath("mosquitto_passwd")
	if err != nil {
		testbroker.Missing(t, "mosquitto_passwd is not installed")
	}
	if out, err := exec.Command(hash, "-U", passwords).CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v %s", err, out)
	}
	b := testbroker.Start(t, testbroker.Config{NoAnonymous: true, Lines: []string{"password_file " + passwords, "acl_file " + acl, "allow_anonymous false"}})
	r := &realDesk{t: t, all: &wire{addr: fmt.Sprintf("127.0.0.1:%d", b.Port), user: "operator", secret: "o"}}
	store, err := OpenDir(filepath.Join(dir, "desk"))
	if err != nil {
		t.Fatal(err)
	}
	r.desk = OpenDesk(store, "home.toml", time.Now)
	id := BrokerID{URL: b.URL(), User: "operator", Identity: "mosquitto version 2.0.11"}
	r.clearer = &Clearer{Desk: r.desk, Broker: id, Observer: r.as("reader", "r"), Sender: r.all, Now: time.Now}
	for topic, payload := range map[string]string{own: ownPayload, ownToo: "online", parent: "here", similar: "other", neighbour: "far", own + "/child": "below"} {
		r.put(retained(topic, payload))
	}
	m := NewManifest(id)
	r.approve(m, own, inventory.Fingerprint([]byte(ownPayload), nil, expiry.None()))
	return r
}

func (r *realDesk) as(user, secret string) *wire {
	return &wire{addr: r.all.addr, user: user, secret: secret}
}

func (r *realDesk) put(p inventory.Publication) {
	r.t.Helper()
	if err := r.all.put(r.t.Context(), p); err != nil {
		r.t.Fatal(err)
	}
}

func (r *realDesk) approve(m *Manifest, topic, fingerprint string) {
	r.t.Helper()
	e := Entry{Topic: []byte(topic), Owner: "device07", Purpose: "state", Fingerprint: fingerprint, Writers: []Writer{silent}}
	if err := m.Approve(e, Protection{}, Person{Login: "kim"}, noon); err != nil {
		r.t.Fatal(err)
	}
	if err := r.desk.Save(r.t.Context(), m); err != nil {
		r.t.Fatal(err)
	}
}

// holds returns the whole store but the broker's own topics, expiry left out.
func (r *realDesk) holds() []string {
	r.t.Helper()
	o, err := r.all.Observe(r.t.Context(), Question{Filters: [][]byte{[]byte("#")}, Quiet: 250 * time.Millisecond})
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, p := range o.Seen {
		all = append(all, fmt.Sprintf("%s=%q %x", p.Topic, p.Payload, p.Properties))
	}
	slices.Sort(all)
	return all
}

func (r *realDesk) clear(topic string) Operation {
	r.t.Helper()
	op, err := r.clearer.Clear(context.Background(), Request{Topic: []byte(topic)})
	if err != nil {
		r.t.Fatal(err)
	}
	v := mustVerify(r.t, r.desk)
	if v.Lines == 0 && op.ID != "" {
		r.t.Error("nothing in the record")
	}
	return op
}

func TestOnMosquittoOneTopicGoesAndComesBackByUndo(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	before := r.holds()
	op := r.clear(own)
	if op.Verdict() != ClearedVerified || !op.Outcome.Echo || len(op.Baseline.Controls) != 3 {
		t.Fatalf("%s\n%s", op.Sentence(), op.Report(nil))
	}
	after := r.holds()
	i := slices.IndexFunc(before, func(s string) bool { return strings.HasPrefix(s, own+"=") })
	if !slices.Equal(after, slices.Delete(slices.Clone(before), i, i+1)) {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if r.all.published != 1 {
		t.Errorf("%d PUBLISH packets", r.all.published)
	}
	out, err := r.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "kim"})
	if err != nil || out.Result != Restored {
		t.Fatalf("%s (%v)", out.Sentence, err)
	}
	if again := r.holds(); !slices.Equal(again, before) {
		t.Errorf("after the undo\n%s", strings.Join(again, "\n"))
	}
}

func TestOnMosquittoUndoKeepsPropertiesAndTheRemainingExpiry(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	p := retained(own, ownPayload)
	p.Properties, p.Interval = richProperties(), expiry.Seconds(600)
	r.put(p)
	m, err := r.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	r.approve(m, own, inventory.Fingerprint(p.Payload, p.Properties, p.Interval))
	op := r.clear(own)
	if op.Verdict() != ClearedVerified {
		t.Fatal(op.Sentence())
	}
	out, err := r.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID})
	if err != nil || out.Result != Restored || out.Now.Seconds > 600 || out.Now.Seconds < 590 {
		t.Fatalf("%s %+v (%v)", out.Sentence, out.Now, err)
	}
	if out, err = r.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID}); err != nil || out.Obstacle != Occupied {
		t.Errorf("a second undo: %s (%v)", out.Sentence, err)
	}
}

func TestOnMosquittoVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(*realDesk)
		want Verdict
		says string
		sent int
	}{
		{"the login may not publish", func(r *realDesk) { r.clearer.Sender = r.as("reader", "r") }, Refused, "0x87 not authorized", 0},
		{"the observer may not read", func(r *realDesk) { r.clearer.Observer = r.as("writer", "w") }, Vanished, "this login may not read it", 0},
		{"the value is another one", func(r *realDesk) { r.put(retained(own, "new")) }, Changed, "not hold the value", 0},
		{"it is not there", func(r *realDesk) { r.put(retained(own, "")) }, Vanished, "not observed", 0},
		{"a writer republishes it", func(r *realDesk) {
			r.clearer.Progress = func(p Progress) {
				if p.Step == StepSent {
					r.put(retained(own, ownPayload))
				}
			}
		}, CameBack, "with the same value", 1},
		{"a writer republishes something else", func(r *realDesk) {
			r.clearer.Progress = func(p Progress) {
				if p.Step == StepSent {
					r.put(retained(own, "null"))
				}
			}
		}, CameBack, "with another value", 1},
		{"a neighbour is cleared by somebody", func(r *realDesk) {
			r.clearer.Progress = func(p Progress) {
				if p.Step == StepSent {
					r.put(retained(ownToo, ""))
				}
			}
		}, ClearedVerified, "1 cleared by someone", 1},
		{"no right for one neighbour", func(r *realDesk) {
			r.put(retained("lab/retire/device07/secret", "x"))
			r.clearer.Observer = r.as("half", "h")
		}, ClearedVerified, "of 3 controls 3 intact", 1},
		{"a wrong password", func(r *realDesk) { r.clearer.Observer = r.as("reader", "no") }, NotSent, "observer failed", 0},
		{"no right and a wrong password for the sender", func(r *realDesk) { r.clearer.Sender = r.as("operator", "no") }, NotSent, "not connected", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			c.set(r)
			op := r.clear(own)
			if op.Verdict() != c.want || !strings.Contains(op.Sentence(), c.says) {
				t.Errorf("got %s: %s", op.Verdict(), op.Sentence())
			}
			if r.all.published != c.sent {
				t.Errorf("%d PUBLISH packets, want %d", r.all.published, c.sent)
			}
		})
	}
}

func TestOnMosquittoAWatchSeesTheReturn(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	op := r.clear(own)
	if op.Verdict() != ClearedVerified {
		t.Fatal(op.Sentence())
	}
	r.put(retained(own, ownPayload)) // between the clear and the watch
	later, err := r.clearer.WatchReturn(t.Context(), op, time.Now().Add(5*time.Second))
	if err != nil || later.Return == nil || !later.Return.Same {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
	op, err = r.desk.Operation(t.Context(), op.ID)
	if err != nil || op.Verdict() != CameBack {
		t.Errorf("%s (%v)", op.Verdict(), err)
	}
}

func TestOnMosquittoOddNames(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	names := []string{"/x", "x", "x//y", "temp ", "rtl\u202e/x", "z\u200bw", "नमस्ते/\U0001F469\u200d\U0001F467", "x/", "x/y", "temp"}
	for _, n := range names {
		r.put(retained(n, "v"))
	}
	const cleared = 6 // the others stay
	for _, n := range names[:cleared] {
		m, err := r.desk.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		r.approve(m, n, inventory.Fingerprint([]byte("v"), nil, expiry.None()))
		if op := r.clear(n); op.Verdict() != ClearedVerified {
			t.Errorf("%q: %s", n, op.Sentence())
		}
	}
	for _, h := range r.holds() {
		for i, n := range names {
			if i < cleared && strings.HasPrefix(h, n+"=") {
				t.Errorf("%q is still there", n)
			}
		}
	}
	if left := len(r.holds()); left != 6+len(names)-cleared {
		t.Errorf("%d are left", left)
	}
	var md bytes.Buffer
	if n, err := r.desk.Export(t.Context(), &md); err != nil || n != cleared {
		t.Errorf("%d exported, %v", n, err)
	}
}
