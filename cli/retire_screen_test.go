//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"retainscope/actions"
	"retainscope/demo"
	"retainscope/testbroker"
)

// A topic is approved and cleared on the built program, on a terminal, with a real mosquitto: what a person types and
// what is then in the store and in the record.

const (
	birthday = "caldates2mqtt/birthday/state"
	right    = "\x1b[C"
	down     = "\x1b[B"
)

// houseBench is a real mosquitto with the fixture house.
func houseBench(t *testing.T) *workbench {
	t.Helper()
	m := quick(t)
	if _, err := demo.Load(t.Context(), strings.TrimPrefix(m.URL(), "mqtt://")); err != nil {
		t.Fatal(err)
	}
	return emptyWorkbench(t, m.URL())
}

// screen opens the screen on the bench and waits until the readings are in.
func (b *workbench) screen(cols, rows int, args ...string) *terminal {
	b.t.Helper()
	s := open(b.t, cols, rows, b.env, append([]string{"--broker", b.url, "--manifest", b.manifest}, args...)...)
	s.until("the readings", func(v string) bool {
		return strings.Contains(v, "left behind ·") || strings.Contains(v, "look left behind") || cols < 60
	})
	return s
}

// find puts the cursor on one topic in a flat list.
func (s *terminal) find(topic string) {
	s.t.Helper()
	level := topic[strings.LastIndexByte(topic, '/')+1:]
	s.press("/")
	s.press("\x15" + topic)
	s.until("the filter", func(v string) bool { return strings.Contains(v, "  1 topic") && strings.Contains(s.sign(v), level) })
	s.press("\r")
	s.shows("/ filter") // among the keys again
	if strings.Contains(s.look(), "▾") {
		s.press("t")
	}
	s.until("the row of "+topic, func(v string) bool { return !strings.Contains(v, "▾") && strings.Contains(s.sign(v), level) })
}

// look returns what stands on the screen now.
func (s *terminal) look() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen()
}

// approve approves the topic under the cursor, with a writer that is stopped where evidence is given.
func (s *terminal) approve(topic, evidence string) {
	s.t.Helper()
	s.press("a")
	title := regexp.MustCompile(`Approve (\d+ of \d+: )?` + regexp.QuoteMeta(topic)) // in a group it says which of them
	s.until("the approval of "+topic, title.MatchString)
	s.press(right)
	s.shows("[cleared]")
	if evidence != "" && !strings.Contains(s.look(), evidence) {
		s.press(strings.Repeat(down, 4))
		s.shows("› [ add a writer ]")
		s.press("\r")
		s.shows("A writer of")
		s.press(right)
		s.shows("[stopped]")
		s.press(strings.Repeat(down, 3) + evidence)
		s.shows(evidence)
		s.press(down + down + right)
		s.shows("[none]")
		s.press(strings.Repeat(down, 6))
		s.shows("› [ take it over ]")
		s.press("\r")
		s.shows("Approve " + topic)
	}
	s.press(strings.Repeat(down, 12))
	s.shows("› [ approve: this value may be cleared")
	s.press("\r")
	s.shows("Approved")
}

// clear clears the topic under the cursor up to the key that sends.
func (s *terminal) clear(topic, word string) {
	s.t.Helper()
	s.press("x")
	s.shows("Clear " + topic)
	s.shows("› [ no: nothing is sent ]")
	s.press(down + down)
	s.shows("› type it")
	s.press(word)
	s.until("the key that sends", func(v string) bool {
		return strings.Contains(v, "[ send the empty message ]") && !strings.Contains(v, "off:")
	})
	s.press("\r")
}

// store returns what is held, a topic a line, with everything but the time that is left.
func (b *workbench) store() string {
	b.t.Helper()
	topics, _ := lines(b.t, run(b.t, b.env, "list", "--json", "--payload", "--readings=false", "--quiet-time", "300ms", "--sys-wait", "1s", "--broker", b.url))
	var all []string
	for _, l := range topics {
		if strings.HasPrefix(l.Topic, "expiry/") {
			continue // these run out while a test runs
		}
		payload, err := json.Marshal([]any{l.Payload, l.PayloadBase64})
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s%s=%s %s %v\n", l.Topic, l.TopicHex, l.SHA256, payload, l.Expiry == nil))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func TestBothIncidentsAreClearedFromTheScreenAndOneIsUndone(t *testing.T) {
	t.Parallel()
	b := houseBench(t)
	before := b.store()
	s := b.screen(120, 40)
	incidents := []string{
		"homeassistant/sensor/caldates2mqtt/birthday_days/config", birthday, "caldates2mqtt/birthday/availability",
		"homeassistant/sensor/airthings2mqtt/airthings_radon/config", "homeassistant/sensor/airthings2mqtt/airthings_temperature/config",
		"airthings2mqtt-upper/airthings/state", "airthings2mqtt-upper/airthings/availability",
	}
	for _, topic := range incidents {
		s.find(topic)
		s.approve(topic, "unit is disabled")
		s.until("the row approved", func(v string) bool { return strings.Contains(v, "  approved ") })
		s.clear(topic, topic[strings.LastIndexByte(topic, '/')+1:])
		s.until("the row to say that it is watched", func(v string) bool {
			return strings.Contains(v, topic) && strings.Contains(v, "watched to ") && strings.Contains(v, "Cleared and verified.")
		})
	}
	want := before
	for _, topic := range incidents {
		want = without(want, topic)
	}
	if got := b.store(); got != want || strings.Count(before, "\n")-strings.Count(got, "\n") != len(incidents) {
		t.Errorf("the store is\n%s\nwant\n%s", got, want)
	}
	for _, op := range b.operations() {
		if op.Open || op.Verdict != actions.ClearedVerified {
			t.Errorf("%s: %s", op.Topic, op.Sentence)
		}
	}

	t.Log("undo of the last one")
	s.press("u")
	s.shows("Put back " + incidents[len(incidents)-1])
	s.shows("› [ no: nothing is sent ]")
	s.press(down)
	s.shows("› [ put it back ]")
	s.press("\r")
	s.until("the value back", func(v string) bool { return strings.Contains(v, "put back, the same") })
	want = before
	for _, topic := range incidents[:len(incidents)-1] {
		want = without(want, topic)
	}
	if got := b.store(); got != want {
		t.Errorf("after the undo the store is\n%s\nwant\n%s", got, want)
	}

	t.Log("the record")
	s.press("4")
	s.until("the operations", func(v string) bool {
		return strings.Contains(v, "put back since") && strings.Contains(v, "cleared and verified") && strings.Contains(v, "7 operations")
	})
	s.press("v")
	s.shows("lines are as they were written.")
	s.press("\r")
	s.shows("ownership")
	s.press("\x1b")
	s.until("the list", func(v string) bool { return strings.Contains(v, "VERDICT") })
	s.press("q")
	s.left()
	b.verifies()
	if o := run(t, b.env, b.args("list", "--json", "--where", "is:approved", "--quiet-time", "300ms")...); strings.Contains(o.out, `"topic":`) {
		t.Errorf("after every approval was used is:approved lists %s%s", o.out, o.errout)
	}
}

func TestAGroupOfLeftoversIsApprovedTopicByTopic(t *testing.T) {
	t.Parallel()
	b := houseBench(t)
	s := b.screen(120, 40)
	s.press("2")
	s.until("the groups", func(v string) bool { return strings.Contains(v, "by owner and device") })
	s.press("*")
	for range 120 {
		// A member of the birthday's group, whatever stands above it.
		if line := s.sign(s.look()); strings.Contains(line, birthday) {
			break
		}
		s.press("j")
		s.moved()
	}
	s.approve(birthday, "")
	s.shows("The next topic of this group?")
	s.press("\r")
	s.until("the groups again", func(v string) bool { return !strings.Contains(v, "The next topic") })
	if o := b.run("check", "--json"); !strings.Contains(o.out, birthday) {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	s.press("q")
	s.left()
}

func TestKeysThatRepeatThemselvesApproveAndSendNothing(t *testing.T) {
	t.Parallel()
	b := houseBench(t)
	gate := newGate(t, b.url, func([]byte) gateDecision { return gateDecision{forward: true} })
	before := b.store()
	b.url = gate.url
	s := b.screen(80, 24)
	s.find(birthday)
	s.press(strings.Repeat("a", 60))
	s.shows("[on hold]")
	s.press(strings.Repeat("\r", 4))
	s.press("\x1b")
	if _, err := os.Stat(b.manifest); err == nil {
		t.Error("a manifest was written")
	}
	s.until("the list", func(v string) bool { return strings.Contains(v, "READING") })
	s.approve(birthday, "unit is disabled")
	s.until("the list", func(v string) bool { return strings.Contains(v, "READING") })
	s.press(strings.Repeat("x", 60))
	s.shows("› [ no: nothing is sent ]")
	s.press("\r")
	s.shows("Nothing was sent.")
	s.press("x")
	s.shows("› [ no: nothing is sent ]")
	s.press(down + down)
	s.shows("› type it")
	s.press("\x1b[200~state\r\x1b[201~")
	s.shows("pasted text confirms nothing")
	s.press("\r" + strings.Repeat("x", 5) + "\r")
	s.shows("type state first, exactly")
	s.press("\x1b")
	s.until("the list", func(v string) bool { return strings.Contains(v, "READING") })
	s.press("ABCDFH")
	s.press("q")
	s.left()
	if n := gate.count(); n != 0 {
		t.Errorf("%d PUBLISH packets", n)
	}
	if got := b.store(); got != before {
		t.Error("the store is another one")
	}
	if ops := b.operations(); len(ops) != 0 {
		t.Errorf("%d operations", len(ops))
	}
}

func TestAResizeInTheMiddleOfAClearLosesNothing(t *testing.T) {
	t.Parallel()
	b := houseBench(t)
	reached, release := make(chan struct{}), make(chan struct{})
	gate := newGate(t, b.url, func([]byte) gateDecision { close(reached); <-release; return gateDecision{forward: true} })
	direct := b.url
	b.url = gate.url
	s := b.screen(120, 40)
	s.find(birthday)
	s.approve(birthday, "unit is disabled")
	s.press("x")
	s.shows("› [ no: nothing is sent ]")
	s.press(down + down + "st")
	s.shows("› type it")
	s.resize(40, 10)
	s.until("a low screen", func(v string) bool {
		return strings.Contains(v, "type it   st") && strings.Contains(v, "Clear caldates")
	})
	s.press("ate")
	s.resize(80, 24)
	s.until("the word", func(v string) bool { return strings.Contains(v, "type it      state") })
	s.press("\r")
	<-reached
	s.resize(40, 10)
	s.until("the low screen to say what runs", func(v string) bool { return strings.Contains(v, "Clearing") })
	s.resize(120, 40)
	close(release)
	s.until("the end", func(v string) bool {
		return strings.Contains(v, "Cleared and verified.") && strings.Contains(v, "watched to")
	})
	s.press("q")
	s.left()
	if n := gate.count(); n != 1 {
		t.Errorf("%d PUBLISH packets", n)
	}
	b.url = direct
	if got := b.store(); strings.Contains(got, birthday+"=") {
		t.Error("it is held")
	}
}

func TestLeavingInTheMiddleOfAClearLeavesAnOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		before  bool // stopped before anything is sent
		leave   func(s *terminal) error
		answer  bool // the broker is let to answer
		verdict actions.Verdict
		asked   bool // the screen says that it waits
	}{
		{"q, and the broker answers", false, func(s *terminal) error { s.press("q"); return nil }, true, actions.ClearedVerified, true},
		{"ctrl+c twice, and it does not answer", false, func(s *terminal) error { s.press("\x03"); s.shows("Leaving"); s.press("\x03"); return nil }, false, actions.NoAnswer, true},
		{"the terminal goes, and the broker answers", false, func(s *terminal) error { return s.pty.Close() }, true, actions.ClearedVerified, false},
		{"SIGHUP, and the broker answers", false, func(s *terminal) error { return s.cmd.Process.Signal(syscall.SIGHUP) }, true, actions.ClearedVerified, false},
		{"SIGTERM, and the broker does not answer", false, func(s *terminal) error { return s.cmd.Process.Signal(syscall.SIGTERM) }, false, actions.NoAnswer, false},
		{"SIGTERM before anything is sent", true, func(s *terminal) error { return s.cmd.Process.Signal(syscall.SIGTERM) }, true, actions.NotSent, false},
		{"q before anything is sent", true, func(s *terminal) error { s.press("q"); return nil }, true, actions.NotSent, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := houseBench(t)
			direct := b.url
			var armed, once atomic.Bool
			reached, release := make(chan struct{}), make(chan struct{})
			hold := byte(publishPacket)
			if c.before {
				hold = subscribePacket
			}
			gate := newGateForAll(t, b.url, func(packet []byte) gateDecision {
				if armed.Load() && packet[0]>>4 == hold && once.CompareAndSwap(false, true) {
					close(reached)
					<-release
				}
				return gateDecision{forward: true}
			})
			b.url = gate.url
			s := b.screen(100, 30)
			s.find(birthday)
			s.approve(birthday, "unit is disabled")
			s.press("x")
			s.shows("› [ no: nothing is sent ]")
			s.press(down + down + "state")
			s.shows("state")
			armed.Store(true)
			s.press("\r")
			<-reached
			if err := c.leave(s); err != nil {
				t.Fatal(err)
			}
			if c.asked && c.answer {
				s.until("that it waits", func(v string) bool { return strings.Contains(v, "Leaving") || c.before })
			}
			if c.answer {
				close(release)
			}
			s.ends()
			if !c.answer {
				close(release)
			}
			if last := map[actions.Verdict]string{actions.ClearedVerified: "cleared and verified", actions.NoAnswer: "no answer", actions.NotSent: "nothing was sent (left)"}[c.verdict]; c.name != "the terminal goes, and the broker answers" {
				s.until("how it ended", func(v string) bool { return strings.Contains(v, "The clear of "+birthday+": "+last) })
			}
			b.url = direct
			op := b.onlyOf(gate.url)
			if op.Open || op.Verdict != c.verdict {
				t.Errorf("recorded is %s, open %v: %s", op.Verdict, op.Open, op.Sentence)
			}
			sent := 1
			if c.before {
				sent = 0
			}
			if n := gate.count(); n != sent {
				t.Errorf("%d PUBLISH packets, want %d", n, sent)
			}
			if held := strings.Contains(b.store(), birthday+"="); held != (c.verdict == actions.NotSent) && c.answer {
				t.Errorf("held: %v", held)
			}
		})
	}
}

// onlyOf returns the one operation of the record of another address.
func (b *workbench) onlyOf(url string) operationJSON {
	b.t.Helper()
	keep := b.url
	b.url = url
	defer func() { b.url = keep }()
	b.verifies()
	return b.only()
}

func TestWhatWasKilledIsToldByTheNextScreenAndReadBack(t *testing.T) {
	t.Parallel()
	b := houseBench(t)
	var armed atomic.Bool
	reached := make(chan struct{})
	gate := newGate(t, b.url, func([]byte) gateDecision {
		if armed.Swap(false) {
			return gateDecision{forward: true, held: reached}
		}
		return gateDecision{forward: true}
	})
	b.url = gate.url
	s := b.screen(100, 30)
	s.find(birthday)
	s.approve(birthday, "unit is disabled")
	armed.Store(true)
	s.clear(birthday, "state")
	<-reached
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.ends()

	s = b.screen(100, 30)
	s.until("what has no outcome", func(v string) bool {
		return strings.Contains(v, "Unknown: 1 clear was begun") && strings.Contains(v, "4 Record!")
	})
	s.press("4")
	s.until("the operation", func(v string) bool { return strings.Contains(v, "UNKNOWN, no outcome") })
	s.press("r")
	s.shows("Look again at")
	s.press("\r")
	s.shows("was not observed")
	s.press("q")
	s.left()
	if n := gate.count(); n != 1 {
		t.Errorf("%d PUBLISH packets", n)
	}
	b.verifies()
}

func TestAWriterThatRunsBringsItBackAndTheScreenSaysSo(t *testing.T) {
	t.Parallel()
	m := quick(t)
	if _, err := demo.Load(t.Context(), strings.TrimPrefix(m.URL(), "mqtt://")); err != nil {
		t.Fatal(err)
	}
	b := emptyWorkbench(t, m.URL())
	s := b.screen(120, 40)
	s.find(birthday)
	s.approve(birthday, "")
	s.shows("Approved, provisional")
	lateWriter(t, m, birthday, `{"days":6}`)
	s.until("the row approved", func(v string) bool { return strings.Contains(v, "prov. approval") })
	s.clear(birthday, "state")
	s.until("the return", func(v string) bool { return strings.Contains(v, "came back in ") && strings.Contains(v, "PROVISIONAL") })
	s.press("4")
	s.until("the verdict", func(v string) bool { return strings.Contains(v, "came back") })
	s.press("q")
	s.left()
}

func TestALoginThatMayNotPublishIsRefusedOnTheScreen(t *testing.T) {
	t.Parallel()
	acl := file(t, "acl", "topic read #\ntopic read $SYS/#\nuser loader\ntopic readwrite #\n")
	m := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1", "acl_file " + acl, "password_file " + passwords(t, "loader", "secret")}})
	if _, err := demo.LoadAs(t.Context(), strings.TrimPrefix(m.URL(), "mqtt://"), demo.Login{User: "loader", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	b := emptyWorkbench(t, m.URL())
	s := b.screen(120, 40)
	s.find(birthday)
	s.approve(birthday, "unit is disabled")
	s.clear(birthday, "state")
	s.until("the refusal", func(v string) bool {
		return strings.Contains(v, "refused 0x87") && strings.Contains(v, "keep permissions for minutes")
	})
	s.press("q")
	s.left()
}
