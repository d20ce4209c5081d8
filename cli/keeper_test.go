package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/demo"
	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/journal"
	"retainscope/testbroker"
)

// settled returns settings out of environment lines alone, as a run would have them.
func settled(t testing.TB, env ...string) *resolved {
	t.Helper()
	r, err := merge(sources{env: environ(append([]string{"RETAINSCOPE_SCAN__QUIET=200ms", "RETAINSCOPE_SCAN__SYS_WAIT=1s"}, env...))})
	if err == nil {
		err = r.settle()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// memorable is one run that keeps a journal.
type memorable struct {
	t    testing.TB
	inv  *inventory.Inventory
	w    *broker.Watcher
	keep *keeper
	end  func()
}

// memorise starts one and returns when the first scan has ended and what is remembered was brought in.
func memorise(t testing.TB, b *testbroker.Broker, file, holder string) *memorable {
	t.Helper()
	r := settled(t, "RETAINSCOPE_MQTT__BROKER="+b.URL(), "RETAINSCOPE_JOURNAL__FILE="+file)
	x := &memorable{t: t, inv: inventory.New(inventory.Options{})}
	log := slog.New(slog.DiscardHandler)
	var err error
	if x.keep, err = r.keep(x.inv, holder, log); err != nil {
		t.Fatal(err)
	}
	finish := x.keep.start(context.Background())
	if x.w, err = broker.Watch(context.Background(), x.keep.tapped(r.watchConfig(log)), x.inv); err != nil {
		t.Fatal(err)
	}
	ended := false
	x.end = func() {
		if !ended {
			ended = true
			leave(context.Background(), x.w)
			finish()
		}
	}
	t.Cleanup(x.end)
	<-x.keep.known(nil)
	return x
}

func (x *memorable) slot(topic string) inventory.Slot {
	r, _ := x.inv.Find([]byte(topic))
	s, _ := x.inv.Slot(r)
	return s
}

// until waits for a condition on a slot.
func (x *memorable) until(topic string, ok func(inventory.Slot) bool) {
	x.t.Helper()
	eventually(x.t, func() string {
		if s := x.slot(topic); !ok(s) {
			return fmt.Sprintf("%s: %+v", topic, s)
		}
		return ""
	})
}

// eventually waits until wrong returns "", and fails with what it says last.
func eventually(t testing.TB, wrong func() string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(hang)
	for {
		what := wrong()
		if what == "" {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("waited in vain: ", what)
		}
	}
}

// publish runs mosquitto_pub with MQTT 5.
func publish(t testing.TB, b *testbroker.Broker, args ...string) {
	t.Helper()
	path, err := exec.LookPath("mosquitto_pub")
	if err != nil {
		testbroker.Missing(t, "mosquitto_pub is not installed")
	}
	out, err := exec.Command(path, append([]string{"-V", "5", "-p", fmt.Sprint(b.Port)}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("mosquitto_pub %v: %v: %s", args, err, out)
	}
}

func refresh(t testing.TB, b *testbroker.Broker, topic string, seconds int) {
	t.Helper()
	publish(t, b, "-t", topic, "-m", "1", "-r", "-q", "1", "-D", "publish", "message-expiry-interval", fmt.Sprint(seconds))
}

// observed leaves behind the journal of a run that saw "kept" refreshed three times, "spoke" publish without RETAIN, and
// nothing of "silent".
func observed(t testing.TB, b *testbroker.Broker) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "journal.db")
	if _, err := demo.Publish(t.Context(), strings.TrimPrefix(b.URL(), "mqtt://"), []demo.Message{
		{Topic: "silent", Payload: []byte("1")}, {Topic: "spoke", Payload: []byte("1")}, {Topic: "kept", Payload: []byte("1")},
	}); err != nil {
		t.Fatal(err)
	}
	x := memorise(t, b, file, "the first run")
	for n := range uint16(3) {
		refresh(t, b, "kept", 600)
		x.until("kept", func(s inventory.Slot) bool { return s.History.Refreshes == n+1 })
	}
	publish(t, b, "-t", "spoke", "-m", "2")
	x.until("spoke", func(s inventory.Slot) bool { return s.LastLive != 0 })
	x.end()
	return file
}

func TestWhatAnEarlierRunSawIsKnownRightAfterTheScan(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	file := observed(t, b)
	between := time.Now()
	x := memorise(t, b, file, "the second run")
	now := time.Now().UnixMilli()
	kept := x.slot("kept")
	if got := kept.Standing(now); got != expiry.KeptAlive || kept.LiveCount != 3 || kept.History.Refreshes != 3 {
		t.Errorf("kept is %v after %+v, seen live %d times", got, kept.History, kept.LiveCount)
	}
	for _, topic := range []string{"kept", "spoke"} {
		if s := x.slot(topic); s.LastLive == 0 || s.LastLive > between.UnixMilli() || !s.Flags.Has(inventory.FlagLive) {
			t.Errorf("%s was seen live at %d", topic, s.LastLive)
		}
	}
	silent := x.slot("silent")
	if silent.LastLive != 0 || silent.FirstSeen > between.UnixMilli() {
		t.Errorf("silent: %+v", silent)
	}
	s := x.keep.silent([]byte("silent"), silent.FirstSeen, silent.LastLive, now)
	if s.Watched <= 0 || s.Gaps != 1 || s.Live || !strings.HasSuffix(s.String(), "with 1 gap") {
		t.Errorf("silent: %s", s)
	}
	if s := x.keep.silent([]byte("kept"), kept.FirstSeen, kept.LastLive, now); !strings.HasPrefix(s.String(), "not seen live since, in ") {
		t.Errorf("kept: %s", s)
	}
	// A topic that came when nobody looked has no past.
	publish(t, b, "-t", "new", "-m", "1", "-r", "-q", "1")
	x.until("new", func(s inventory.Slot) bool { return s.FirstSeen > between.UnixMilli() && s.LiveCount == 1 })
}

func TestOneRunWritesAndTheOtherReadsUntilItMayWrite(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	file := filepath.Join(t.TempDir(), "journal.db")
	publish(t, b, "-t", "a", "-m", "1", "-r", "-q", "1")
	first := memorise(t, b, file, "retainscope watch")
	second := memorise(t, b, file, "the screen")
	if by := second.keep.holder(); !strings.HasPrefix(by, "retainscope watch, process ") || first.keep.holder() != "" {
		t.Errorf("the second is told %q, the first %q", by, first.keep.holder())
	}
	refresh(t, b, "a", 600)
	first.until("a", func(s inventory.Slot) bool { return s.LiveCount == 1 })
	if err := first.keep.writing.Load().Flush(); err != nil {
		t.Fatal(err)
	}
	record := func(x *memorable) (r journal.Record) {
		x.keep.read(t.Context(), func(j *journal.Reader) (err error) {
			r, _, err = j.Topic(t.Context(), []byte("a"))
			return err
		})
		return r
	}
	if r := record(second); r.Times != 1 {
		t.Errorf("the one that reads finds %+v", r)
	}
	first.end()
	if err := second.keep.take(); err != nil || second.keep.holder() != "" {
		t.Fatalf("%v, held by %q", err, second.keep.holder())
	}
	refresh(t, b, "a", 600)
	second.until("a", func(s inventory.Slot) bool { return s.LiveCount >= 2 })
	second.end()
	third := memorise(t, b, file, "a third")
	if r := record(third); r.Times != 2 {
		t.Errorf("after the change of hands: %+v", r)
	}
	third.keep.look(t.Context())
	if n := len(third.keep.spans); n != 2 { // its own waits for the next flush
		t.Errorf("%d spans of watching, want one of each: %+v", n, third.keep.spans)
	}
}

// A journal is made beside the first scan, which a slow disk lets end first: all that time somebody watched.
func TestAJournalMadeAfterTheScanHadAGapAtItsBeginning(t *testing.T) {
	for what, batch := range map[string][]inventory.Publication{
		"nothing came":           nil,
		"what counts for nobody": {{Topic: []byte("a"), Payload: []byte("1")}, {Topic: []byte("a"), Retain: true}, {Topic: []byte("a"), Payload: []byte("1"), Retain: true, Origin: inventory.Own}},
		"a sign of life":         {{Topic: []byte("a"), Payload: []byte("1"), Retain: true}},
	} {
		r := settled(t, "RETAINSCOPE_MQTT__BROKER=mqtt://127.0.0.1", "RETAINSCOPE_JOURNAL__FILE="+filepath.Join(t.TempDir(), "j.db"))
		k, err := r.keep(inventory.New(inventory.Options{}), "x", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		began := time.UnixMilli(time.Now().UnixMilli()).Add(-5 * time.Second)
		k.Watching(began, []string{"#"})
		k.Live(batch)
		if err := k.take(); err != nil {
			t.Fatal(err)
		}
		if err := k.writing.Load().Flush(); err != nil {
			t.Fatal(err)
		}
		k.look(t.Context())
		k.close()
		if n := len(k.spans); n != 1 {
			t.Fatalf("%s: %d spans", what, n)
		}
		if whole := k.spans[0].Start == began.UnixMilli(); whole != (what != "a sign of life") {
			t.Errorf("%s: the span begins %d ms after the watching", what, k.spans[0].Start-began.UnixMilli())
		}
	}
}

func TestAJournalOfAnotherBrokerIsNotTakenForThisOne(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	file := observed(t, b)
	other := testbroker.Start(t, testbroker.Config{})
	r := settled(t, "RETAINSCOPE_MQTT__BROKER="+other.URL(), "RETAINSCOPE_JOURNAL__FILE="+file)
	inv := inventory.New(inventory.Options{})
	_, err := r.keep(inv, "x", slog.New(slog.DiscardHandler))
	var wrong *journal.BrokerError
	if !errors.As(err, &wrong) {
		t.Errorf("keep says %v", err)
	}
	if m := r.remember(inv, slog.New(slog.DiscardHandler)).known(t.Context()); m != nil {
		t.Error("the journal of another broker is read")
	}
}

func TestAListKnowsWhatTheJournalKnows(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	file := observed(t, b)
	args := []string{"list", "--quiet-time", "200ms", "--broker", b.URL(), "--journal-file", file}
	o := run(t, nil, args...)
	for _, want := range []string{"SEEN LIVE", "kept alive"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	for line := range strings.Lines(o.out) {
		topic, _, _ := strings.Cut(line, " ")
		want := map[string]string{"kept": " ago ", "spoke": " ago ", "silent": " not in "}[topic]
		if !strings.Contains(line, want) && !(want == " ago " && strings.Contains(line, " now ")) {
			t.Errorf("no %q in %s", want, line)
		}
	}
	topics, _ := lines(t, run(t, nil, append(args, "--json")...))
	if x := topics["silent"]; x.LastLive != nil || x.SilentSeconds == nil || x.SilentGaps == nil {
		t.Errorf("silent: %+v", x)
	}
	if x := topics["kept"]; x.LastLive == nil {
		t.Errorf("kept: %+v", x)
	}
	if o := run(t, nil, append(args, "--journal=false")...); strings.Contains(o.out, "SEEN LIVE") || strings.Contains(o.out, "kept alive") {
		t.Errorf("without a journal:\n%s", o.out)
	}
}

// The fault: a journal that could not be read changed what looks left behind, without a word.
func TestAJournalThatAPersonNamedAndThatCannotBeReadIsWarnedAbout(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	other := observed(t, testbroker.Start(t, testbroker.Config{}))
	junk, missing := file(t, "junk.db", "no journal\n"), filepath.Join(t.TempDir(), "missing.db")
	for _, c := range []struct{ name, path, says string }{
		{"junk", junk, "is not a journal"}, {"a missing file", missing, "there is no file"}, {"that of another broker", other, "belongs to"},
	} {
		config := file(t, "c.toml", "[journal]\nfile = "+quote(c.path)+"\n")
		for source, by := range map[string][2][]string{
			"flag --journal-file":       {nil, {"--journal-file", c.path}},
			"environment JOURNAL__FILE": {{"JOURNAL__FILE=" + c.path}, nil},
			config + " line 2":          {nil, {"--config", config}},
		} {
			o := run(t, by[0], append([]string{"list", "--quiet-time", "200ms", "--broker", b.URL()}, by[1]...)...)
			warned := regexp.MustCompile(`(?m)^retainscope: warning: journal\.file .*$`).FindAllString(o.errout, -1)
			if len(warned) != 1 || !strings.Contains(warned[0], source) || !strings.Contains(warned[0], c.says) {
				t.Errorf("%s by %s warns %q (%s)", c.name, source, warned, o.errout)
			}
		}
	}
	if o := run(t, nil, "list", "--quiet-time", "200ms", "--broker", b.URL()); strings.Contains(o.errout, "journal") {
		t.Errorf("nobody named one: %s", o.errout)
	}
}

func BenchmarkTap(b *testing.B) {
	inv := inventory.New(inventory.Options{})
	j, err := journal.Open(filepath.Join(b.TempDir(), "j.db"), journal.Options{Broker: "x", Now: func() int64 { return time.Now().UnixMilli() }, Holder: "x"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	k := &keeper{memory: &memory{inv: inv}}
	k.writing.Store(j)
	batch := make([]inventory.Publication, 256)
	for i := range batch {
		batch[i] = inventory.Publication{
			Topic: fmt.Appendf(nil, "plant/%02d/device/state", i), Payload: []byte(strings.Repeat("x", 200)),
			Retain: i%4 != 0, Origin: inventory.Live, ReceivedAt: time.Now().UnixMilli(), Interval: expiry.None(),
		}
	}
	inv.Apply(batch)
	b.ReportAllocs()
	for b.Loop() {
		k.Live(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch)), "ns/msg")
}
