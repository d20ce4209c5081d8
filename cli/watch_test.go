//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/demo"
	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// heard is one message that a listener was sent.
type heard struct {
	topic, payload string
	interval       expiry.Interval
	replay         bool
	at             time.Time
}

// listener is sent everything that happens at a broker.
type listener struct {
	mu  sync.Mutex
	all []heard
}

func listen(t testing.TB, b *testbroker.Broker) *listener {
	t.Helper()
	l := &listener{}
	c, err := broker.Dial(t.Context(), broker.Config{URL: b.URL(), ClientID: "listener"}, func(batch []inventory.Publication) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range batch {
			p := &batch[i]
			l.all = append(l.all, heard{string(p.Topic), string(p.Payload), p.Interval, false, time.Now()})
		}
	}, inventory.Live)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	if _, err := c.Subscribe(t.Context(), []broker.Subscription{{Filter: "#", RetainHandling: 2, RetainAsPublished: true}}); err != nil {
		t.Fatal(err)
	}
	return l
}

// on returns what was heard on a topic.
func (l *listener) on(topic string) (all []heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.all {
		if h.topic == topic {
			all = append(all, h)
		}
	}
	return all
}

// stored returns what a broker keeps, by topic.
func stored(t testing.TB, b *testbroker.Broker) map[string]heard {
	t.Helper()
	var mu sync.Mutex
	out := map[string]heard{}
	c, err := broker.Dial(t.Context(), broker.Config{URL: b.URL(), ClientID: "reader"}, func(batch []inventory.Publication) {
		mu.Lock()
		defer mu.Unlock()
		for i := range batch {
			if p := &batch[i]; p.Retain {
				out[string(p.Topic)] = heard{string(p.Topic), string(p.Payload), p.Interval, true, time.Now()}
			}
		}
	}, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Subscribe(t.Context(), []broker.Subscription{{Filter: "#"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return out
}

const (
	itsStatus = "retainscope/test/status"
	itsState  = "retainscope/test/state"
	itsConfig = "homeassistant/device/retainscope_test/config"
)

// service is `retainscope watch` as a process of its own.
type service struct {
	t    *testing.T
	cmd  *exec.Cmd
	home string
	mu   sync.Mutex
	log  bytes.Buffer
}

// Write takes what the process writes to stderr.
func (s *service) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

func (s *service) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func serve(t *testing.T, home, url string, args ...string) *service {
	t.Helper()
	s := &service{t: t, home: home}
	s.cmd = exec.Command(binary(t), append([]string{"watch", "--broker", url, "--instance", "test", "--quiet-time", "200ms", "--sys-wait", "1s"}, args...)...)
	s.cmd.Env = []string{"HOME=" + home, "RETAINSCOPE_JOURNAL__FLUSH=1s"}
	s.cmd.Stderr = s
	var out bytes.Buffer
	s.cmd.Stdout = &out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
		if out.Len() > 0 {
			t.Errorf("a service wrote to stdout: %s", out.String())
		}
		if t.Failed() {
			t.Log(s.text())
		}
	})
	return s
}

// logs waits for a text in the log.
func (s *service) logs(text string) {
	s.t.Helper()
	eventually(s.t, func() string {
		if !strings.Contains(s.text(), text) {
			return "no " + text + " in the log"
		}
		return ""
	})
}

// ends sends a signal and returns the exit code.
func (s *service) ends(sig os.Signal) int {
	s.t.Helper()
	_ = s.cmd.Process.Signal(sig)
	_ = waitFor(s.cmd)
	return s.cmd.ProcessState.ExitCode()
}

// state waits for figures that satisfy ok.
func state(t testing.TB, b *testbroker.Broker, ok func(figures) bool) (f figures) {
	t.Helper()
	eventually(t, func() string {
		f = figures{}
		got := stored(t, b)[itsState].payload
		if got == "" || json.Unmarshal([]byte(got), &f) != nil || !ok(f) {
			return "state is " + got
		}
		return ""
	})
	return f
}

func TestAWatcherSaysWhatItFindsAndLeavesInOrder(t *testing.T) {
	t.Parallel()
	b := quick(t)
	house := lastingHouse(t)
	fill(t, b.URL(), house)
	want := figures{Retained: int64(len(house))}
	for _, m := range house {
		if m.Expiry != nil {
			want.WithExpiry++
		} else {
			want.WithoutExpiry++
		}
	}
	s := serve(t, t.TempDir(), b.URL(), "--message-expiry-interval", "3")
	f := state(t, b, func(f figures) bool { return f.Coverage == "verified" })
	if f.Retained != want.Retained || f.WithExpiry != want.WithExpiry || f.WithoutExpiry != want.WithoutExpiry || f.Unknown != 0 ||
		f.LeftBehind == nil || *f.LeftBehind < 20 || f.Hazards == nil || *f.Hazards < 1 || f.Bytes < 10_000 || f.LastChange != nil {
		t.Errorf("of the house it says %s", f.payload())
	}
	publish(t, b, "-t", "new/one", "-m", "1", "-r", "-q", "1")
	f = state(t, b, func(f figures) bool { return f.Retained == want.Retained+1 })
	if f.LastChange == nil || time.Since(*f.LastChange) > time.Minute {
		t.Errorf("after a change it says %s", f.payload())
	}
	l := listen(t, b)
	eventually(t, func() string { // it is repeated, and stays
		if n := len(l.on(itsConfig)); n < 4 {
			return fmt.Sprintf("%d repetitions", n)
		}
		return ""
	})
	if got := l.on(itsStatus); len(got) == 0 || got[len(got)-1].payload != "online" {
		t.Errorf("status is %+v", got)
	}
	if code := s.ends(syscall.SIGTERM); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	eventually(t, func() string {
		if got := l.on(itsStatus); got[len(got)-1].payload != "offline" {
			return fmt.Sprintf("after it left its status is %+v", got)
		}
		return ""
	})
	for _, topic := range []string{itsStatus, itsState, itsConfig} {
		for _, h := range l.on(topic) {
			if n, ok := h.interval.Seconds(); !ok || n > 3 {
				t.Errorf("%s is sent with the interval %v", topic, h.interval)
			}
		}
	}
	gone(t, b)
}

// gone waits until a broker keeps nothing of a watcher any more.
func gone(t testing.TB, b *testbroker.Broker) {
	t.Helper()
	eventually(t, func() string {
		for topic, h := range stored(t, b) {
			if topic == itsStatus || topic == itsState || topic == itsConfig {
				return topic + " is kept: " + h.payload
			}
		}
		return ""
	})
}

func TestNothingOfAWatcherThatWasKilledOutlivesItsInterval(t *testing.T) {
	t.Parallel()
	b := quick(t)
	publish(t, b, "-t", "a", "-m", "1", "-r", "-q", "1")
	s := serve(t, t.TempDir(), b.URL(), "--message-expiry-interval", "3")
	state(t, b, func(f figures) bool { return f.Retained == 1 })
	l := listen(t, b)
	s.ends(syscall.SIGKILL)
	eventually(t, func() string {
		if n := len(l.on(itsStatus)); n == 0 || l.on(itsStatus)[n-1].payload != "offline" {
			return fmt.Sprintf("its last will was not heard: %v", l.on(itsStatus))
		}
		return ""
	})
	gone(t, b)
	if got := stored(t, b); len(got) != 1 || got["a"].payload != "1" {
		t.Errorf("what was there before is %v", got)
	}
}

func TestASecondWatcherIsToldWhoWritesTheJournal(t *testing.T) {
	t.Parallel()
	b := quick(t)
	home := t.TempDir()
	first := serve(t, home, b.URL())
	state(t, b, func(figures) bool { return true })
	second := serve(t, home, b.URL(), "--instance", "other")
	_ = waitFor(second.cmd)
	want := fmt.Sprintf("retainscope watch, process %d on ", first.cmd.Process.Pid)
	if code := second.cmd.ProcessState.ExitCode(); code != ExitFailed || !strings.Contains(second.text(), want) {
		t.Errorf("exit %d, %s", code, second.text())
	}
	third := serve(t, home, b.URL(), "--instance", "other", "--journal=false")
	third.logs("publishing")
	if code := third.ends(os.Interrupt); code != ExitOK {
		t.Errorf("exit %d", code)
	}
}

func TestAListReadsTheJournalWhileAWatcherWritesIt(t *testing.T) {
	t.Parallel()
	b := quick(t)
	home := t.TempDir()
	refresh(t, b, "kept", 600)
	s := serve(t, home, b.URL())
	state(t, b, func(figures) bool { return true })
	for range 3 {
		refresh(t, b, "kept", 600)
	}
	list := func() (map[string]listed, string) {
		cmd := exec.Command(binary(t), "list", "--json", "--quiet-time", "200ms", "--sys-wait", "1s", "--broker", b.URL())
		cmd.Env = []string{"HOME=" + home}
		var out, errout bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errout
		_ = cmd.Run()
		topics, _ := lines(t, outcome{cmd.ProcessState.ExitCode(), out.String(), errout.String()})
		return topics, errout.String()
	}
	eventually(t, func() string { // the writer flushes every second
		topics, errout := list()
		if x := topics["kept"]; x.LastLive == nil || x.SilentSeconds == nil || x.Reading != "kept alive" {
			return fmt.Sprintf("kept: %+v %s", x, errout)
		}
		return ""
	})
	if code := s.ends(syscall.SIGTERM); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	if topics, _ := list(); topics["kept"].LastLive == nil {
		t.Errorf("after it left: %+v", topics["kept"])
	}
}

func TestAWatcherOutlivesItsBrokerWithoutGrowing(t *testing.T) {
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	publish(t, b, "-t", "a", "-m", "1", "-r", "-q", "1")
	runtime.GC()
	before := runtime.NumGoroutine()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	home := t.TempDir()
	go func() {
		ended <- runIn(ctx, []string{"HOME=" + home}, "watch", "--broker", b.URL(), "--instance", "test",
			"--quiet-time", "200ms", "--sys-wait", "1s", "--message-expiry-interval", "30")
	}()
	state(t, b, func(f figures) bool { return f.Retained == 1 })
	most := 0
	for range 3 {
		b.Kill()
		b.Restart() // it has forgotten everything
		publish(t, b, "-t", "b", "-m", "1", "-r", "-q", "1")
		eventually(t, func() string {
			got := stored(t, b)
			if got[itsStatus].payload != "online" || got[itsConfig].payload == "" || got[itsState].payload == "" {
				return fmt.Sprint("the broker keeps ", got)
			}
			return ""
		})
		state(t, b, func(f figures) bool { return f.Retained == 1 && f.Coverage == "verified" })
		if n := runtime.NumGoroutine(); most == 0 {
			most = n + 10
		} else if n > most {
			t.Errorf("%d goroutines after one more restart, %d after the first", n, most-10)
		}
	}
	stop()
	o := <-ended
	if o.code != ExitOK {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	eventually(t, func() string {
		if n := runtime.NumGoroutine(); n > before+2 {
			return fmt.Sprintf("%d goroutines before and %d after", before, n)
		}
		return ""
	})
	for _, want := range []string{"the connection was lost", "watching", "the scan has ended", "claim=verified"} {
		if !strings.Contains(o.errout, want) {
			t.Errorf("the log has no %q:\n%s", want, o.errout)
		}
	}
}

func TestFiguresFollowAStormOncePerSecondAndACountdownNever(t *testing.T) {
	t.Parallel()
	b := quick(t)
	for i := range 20 {
		refresh(t, b, fmt.Sprintf("counting/%d", i), 600)
	}
	serve(t, t.TempDir(), b.URL())
	state(t, b, func(f figures) bool { return f.Retained == 20 && f.Coverage == "verified" && f.LeftBehind != nil })
	l := listen(t, b)
	before := 0 // what the broker's own figures, which come late, still changed
	for try := 1; ; try++ {
		wait(t, 4*time.Second)
		n := l.on(itsState)
		if len(n) == before {
			break
		}
		if try == 5 {
			t.Fatalf("nothing but countdowns moved, and it said %v", n)
		}
		before = len(n)
	}
	start := time.Now()
	var all []demo.Message
	for i := range 4000 {
		all = append(all, demo.Message{Topic: fmt.Sprintf("storm/%d", i), Payload: []byte("x")})
	}
	for n := 0; n < len(all); n += 500 {
		fill(t, b.URL(), all[n:n+500])
		wait(t, 300*time.Millisecond)
	}
	state(t, b, func(f figures) bool { return f.Retained == 4020 })
	took := time.Since(start)
	said := l.on(itsState)[before:]
	if len(said) == 0 || len(said) > int(took/time.Second)+2 {
		t.Errorf("%d messages of figures in %s", len(said), took)
	}
}

// wait lets time pass for what must not happen in it.
func wait(t testing.TB, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

func TestAWatcherThatDoesNotPublishIsNotHeard(t *testing.T) {
	t.Parallel()
	b := quick(t)
	publish(t, b, "-t", "a", "-m", "1", "-r", "-q", "1")
	l := listen(t, b)
	s := serve(t, t.TempDir(), b.URL(), "--publish=false", "--log-format", "json")
	s.logs("the scan has ended")
	if code := s.ends(syscall.SIGHUP); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	if len(l.all) != 0 {
		t.Errorf("it said %v", l.all)
	}
	for line := range strings.Lines(s.text()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %s", line)
		}
	}
}

func TestAWatcherOf311LeavesNothingBehindEither(t *testing.T) {
	t.Parallel()
	b := quick(t)
	publish(t, b, "-t", "a", "-m", "1", "-r", "-q", "1")
	s := serve(t, t.TempDir(), b.URL(), "--protocol-version", "3.1.1")
	s.logs("the scan has ended")
	wait(t, 1500*time.Millisecond)
	if code := s.ends(syscall.SIGTERM); code != ExitOK || len(stored(t, b)) != 1 || !strings.Contains(s.text(), "it would never expire") {
		t.Errorf("exit %d, the broker keeps %v:\n%s", code, stored(t, b), s.text())
	}
	s = serve(t, t.TempDir(), b.URL(), "--protocol-version", "3.1.1", "--publish")
	f := state(t, b, func(f figures) bool { return f.Retained == 1 })
	if f.Unknown != 1 {
		t.Errorf("without expiry on the wire it says %s", f.payload())
	}
	if h := stored(t, b)[itsStatus]; h.payload != online || h.interval.Kind() != expiry.Absent {
		t.Errorf("status is %+v", h)
	}
	if code := s.ends(syscall.SIGTERM); code != ExitOK {
		t.Errorf("exit %d", code)
	}
	if got := stored(t, b); len(got) != 1 || got["a"].payload != "1" {
		t.Errorf("after it left the broker keeps %v", got)
	}
}

func TestAWatcherWaitsForABrokerAndNotForAnotherPassword(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{NoAnonymous: true, Lines: []string{"sys_interval 1", "password_file " + passwords(t, "me", "right")}})
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("wrong-and-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, t.TempDir(), b.URL(), "--user", "me", "--password-file", secret)
	_ = waitFor(s.cmd)
	if code := s.cmd.ProcessState.ExitCode(); code != ExitFailed || !strings.Contains(s.text(), "refused") || strings.Contains(s.text(), "wrong-and-secret") {
		t.Errorf("exit %d: %s", code, s.text())
	}
	if err := os.WriteFile(secret, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Stop()
	s = serve(t, t.TempDir(), b.URL(), "--user", "me", "--password-file", secret)
	s.logs("cannot be reached yet")
	b.Restart()
	s.logs("msg=publishing")
	if strings.Contains(s.text(), "right") {
		t.Errorf("the log holds the password:\n%s", s.text())
	}
}

func TestARefusedStateIsToldOnce(t *testing.T) {
	t.Parallel()
	acl := filepath.Join(t.TempDir(), "acl")
	if err := os.WriteFile(acl, []byte("topic read #\ntopic read $SYS/#\ntopic write "+itsStatus+"\ntopic write a/#\n"), 0o644); err != nil { //nolint:gosec // the broker may run as another account
		t.Fatal(err)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1", "acl_file " + acl}})
	s := serve(t, t.TempDir(), b.URL())
	for i := range 3 {
		s.logs("cannot be published")
		publish(t, b, "-t", fmt.Sprintf("a/%d", i), "-m", "1", "-r", "-q", "1")
		wait(t, 1500*time.Millisecond)
	}
	if n := strings.Count(s.text(), "cannot be published"); n != 1 || !strings.Contains(s.text(), "Not authorized (0x87)") {
		t.Errorf("told %d times:\n%s", n, s.text())
	}
	if got := stored(t, b)[itsStatus].payload; got != "online" {
		t.Errorf("what may be published is %q", got)
	}
	for line := range strings.Lines(s.text()) {
		if strings.Contains(line, "msg=publishing") && (!strings.Contains(line, itsStatus) || strings.Contains(line, "discovery=") || strings.Contains(line, "state=")) {
			t.Errorf("what is refused is called published: %s", line)
		}
	}
	s.logs("some of it is not published: the broker refuses it")
}

func TestNothingWasCalledPublishedWhereTheBrokerRefusesAll(t *testing.T) {
	t.Parallel()
	acl := filepath.Join(t.TempDir(), "acl")
	if err := os.WriteFile(acl, []byte("topic read #\ntopic read $SYS/#\n"), 0o644); err != nil { //nolint:gosec // the broker may run as another account
		t.Fatal(err)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1", "acl_file " + acl}})
	s := serve(t, t.TempDir(), b.URL())
	s.logs("nothing is published: the broker refuses all of it")
	if strings.Contains(s.text(), "msg=publishing") {
		t.Errorf("it says that it publishes:\n%s", s.text())
	}
}

func TestARefusedLoginLeftAnEmptyJournal(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{NoAnonymous: true, Lines: []string{"password_file " + passwords(t, "me", "right")}})
	file := filepath.Join(t.TempDir(), "journal.db")
	s := serve(t, t.TempDir(), b.URL(), "--journal-file", file)
	_ = waitFor(s.cmd)
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) > 0 || !strings.Contains(s.text(), "refused") {
		t.Errorf("%v, %v is left: %s", err, left, s.text())
	}
}

func TestAWatcherBesideAScreenThatWritesTheJournalGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	b := quick(t)
	file := filepath.Join(t.TempDir(), "journal.db")
	screen := memorise(t, b, file, "the screen of retainscope")
	s := serve(t, t.TempDir(), b.URL(), "--journal-file", file)
	state(t, b, func(figures) bool { return true })
	if !strings.Contains(s.text(), "written by somebody else") {
		t.Errorf("the log is\n%s", s.text())
	}
	screen.end()
	if code := s.ends(syscall.SIGTERM); code != ExitOK {
		t.Errorf("exit %d", code)
	}
}

func TestTheDiaryHasALineWhereSomethingIsDifferent(t *testing.T) {
	var out bytes.Buffer
	d := diary{log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))}
	at := time.Unix(1_790_000_000, 0)
	link := inventory.Link{State: inventory.Watching, Since: at}
	cov := inventory.Coverage{Claim: inventory.Scanning, Known: -1}
	step := func() { d.note(link, cov); d.note(link, cov) }
	step()
	link.Scanning = true
	step()
	link.Progress, link.ScanDone = "scanning", 5
	step()
	cov.Claim, cov.StartedAt, cov.EndedAt = inventory.Verified, at, at.Add(2*time.Second)
	step() // not before the scan is over
	link.Scanning = false
	step()
	cov.Claim = inventory.Unverified
	step()
	link.Err = "no answer since 14:02:11"
	step()
	link.Err = ""
	step()
	link.State, link.Err = inventory.Lost, "the broker closed the connection"
	step()
	for link.Attempt = 1; link.Attempt < 25; link.Attempt++ {
		step()
	}
	link.State, link.Err, link.Attempt = inventory.Watching, "", 0
	step()
	one, two, three := int64(1), int64(2), int64(3)
	for _, f := range []figures{{}, {LeftBehind: &one, Hazards: &two}, {LeftBehind: &one, Hazards: &two, Bytes: 5}, {LeftBehind: &three, Hazards: &two}} {
		d.found(f)
	}
	want := `msg=watching broker="" user=""
msg=scanning
msg="the scan has ended" claim=verified seen=0 known_to_the_broker=-1 rule="" took=2s
msg="the claim is another one" claim=unverified seen=0 known_to_the_broker=-1 rule=""
msg="the broker is silent" error="no answer since 14:02:11"
msg="the broker answers again"
msg="the connection was lost" error="the broker closed the connection"
msg="the broker cannot be reached" attempts=10 error="the broker closed the connection"
msg="the broker cannot be reached" attempts=20 error="the broker closed the connection"
msg=watching broker="" user=""
msg=found retained=0 without_expiry=0 left_behind=1 hazards=2
msg=found retained=0 without_expiry=0 left_behind=3 hazards=2
`
	if out.String() != want {
		t.Errorf("the log is\n%s\nwant\n%s", out.String(), want)
	}
}
