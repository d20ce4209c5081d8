package cli

// The program killed between the intent and the outcome, at every packet where it can stand: what the next start tells.

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/broker"
	"retainscope/testbroker"
)

// The packets of a client that are counted. Source: MQTT 5, 2.1.2.
const (
	connectPacket   = 1
	publishPacket   = 3
	subscribePacket = 8
	pingreqPacket   = 12
)

// hold names the n-th packet of a type, counted over all connections, as the place where the program stands still.
type hold struct {
	packet byte
	n      int
	passes bool // it reaches the broker, and nothing comes back
}

// newCheckpoint starts a gate that holds one packet. The channel is closed when that packet is there.
func newCheckpoint(t *testing.T, target string, at hold) (*gate, <-chan struct{}) {
	t.Helper()
	reached := make(chan struct{})
	var mu sync.Mutex
	seen := 0
	return newGateForAll(t, target, func(packet []byte) gateDecision {
		mu.Lock()
		defer mu.Unlock()
		if packet[0]>>4 == at.packet {
			if seen++; seen == at.n {
				return gateDecision{forward: at.passes, held: reached}
			}
		}
		return gateDecision{forward: true}
	}), reached
}

// checkpointBench is a workbench on a mosquitto behind a checkpoint, with one topic that is approved.
func checkpointBench(t *testing.T, at hold) (*workbench, *testbroker.Broker, *gate, <-chan struct{}) {
	t.Helper()
	m := testbroker.Start(t, testbroker.Config{})
	b := newWorkbench(t, m.URL())
	point, reached := newCheckpoint(t, m.URL(), at)
	b.url = point.url
	b.write("", approved(benchOwn, benchValue), established)
	return b, m, point, reached
}

// The connections of a clear, in order: what the broker is, two scans for controls (there are two nearby), the baseline, the witness, the stored
// QoS, the sender, the read-back, the watch for a return. All but the sender subscribe once.
func TestKilledAtAnyPacketTheNextStartTellsTheTruth(t *testing.T) {
	t.Parallel()
	const (
		nothing = "it sent nothing"
		unknown = "whether the empty message was sent is not known"
	)
	for _, c := range []struct {
		name    string
		at      hold
		says    string // of the operation
		sent    int    // PUBLISH packets that came from the program
		present bool   // the topic still holds its value
		closed  bool   // there is an outcome
	}{
		{"before the scan for controls", hold{connectPacket, 2, false}, nothing, 0, true, false},
		{"while the topic is read", hold{subscribePacket, 4, false}, nothing, 0, true, false},
		{"while the witness subscribes", hold{subscribePacket, 5, false}, nothing, 0, true, false},
		{"while the stored QoS is read", hold{pingreqPacket, 8, false}, nothing, 0, true, false},
		{"while the sender connects", hold{connectPacket, 7, false}, unknown, 0, true, false},
		{"with the tombstone on its way", hold{publishPacket, 1, false}, unknown, 1, true, false},
		{"with the tombstone at the broker", hold{publishPacket, 1, true}, unknown, 1, false, false},
		{"before the read-back", hold{connectPacket, 8, false}, unknown, 1, false, false},
		{"while the topic is read back", hold{subscribePacket, 7, true}, unknown, 1, false, false},
		{"while a return is watched for", hold{subscribePacket, 8, true}, "did not observe", 1, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, m, point, reached := checkpointBench(t, c.at)
			before := storedAt(t, m.URL())

			s := b.start("clear", "--topic", benchOwn)
			<-reached
			if err := s.cmd.Process.Kill(); err != nil { // SIGKILL: nothing of it runs any more
				t.Fatal(err)
			}
			_ = s.ends()

			op := b.only()
			verdict := actions.Unknown
			if c.closed {
				verdict = actions.ClearedVerified
			}
			if op.Open == c.closed || op.Verdict != verdict || !strings.Contains(op.Sentence, c.says) {
				t.Errorf("the next start says %+v", op)
			}
			o := b.run("record", "show", op.Operation)
			if o.code != ExitOK || !c.closed && !strings.Contains(o.out, "unknown: begun, and no outcome was written") {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			b.verifies()
			want := before
			if !c.present {
				want = without(before, benchOwn)
			}
			if got := storedAt(t, m.URL()); got != want {
				t.Errorf("the store is\n%swant\n%s", got, want)
			}

			o = b.run("record", "recheck", op.Operation, "--note", "after it was killed")
			if found := map[bool]string{true: "is still there, as approved", false: "was not observed"}[c.present]; !strings.Contains(o.out, found) {
				t.Errorf("exit %d: want %q: %s%s", o.code, found, o.out, o.errout)
			}
			if n := point.count(); n != c.sent {
				t.Errorf("%d PUBLISH packets, %d before the next start", n, c.sent)
			}

			// No lock is left behind. What was approved still counts where nothing was sent; else it is approved anew.
			if c.says != nothing {
				if o := b.clear(); o.code != ExitNotSent || !strings.Contains(o.errout, "approval used") || point.count() != c.sent {
					t.Errorf("an approval is used twice: exit %d: %s%s", o.code, o.out, o.errout)
				}
				b.write("", strings.Replace(approved(benchOwn, benchValue), "T12:00:00Z", "T12:00:01Z", 1), established)
			}
			code, sent := ExitOtherValue, c.sent
			if c.present {
				code, sent = ExitOK, c.sent+1
			}
			if o := b.clear(); o.code != code {
				t.Errorf("the next clear: exit %d, want %d: %s%s", o.code, code, o.out, o.errout)
			}
			if n := point.count(); n != sent {
				t.Errorf("%d PUBLISH packets, want %d", n, sent)
			}
			if got, want := storedAt(t, m.URL()), without(before, benchOwn); got != want {
				t.Errorf("at the end the store is\n%swant\n%s", got, want)
			}
			b.verifies()
		})
	}
}

func TestKilledWhileItPutsBackTheNextStartTellsTheTruth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		at      hold
		present bool // the value is back
	}{
		{"before the sender connects", hold{connectPacket, 12, false}, false},
		{"with the value on its way", hold{publishPacket, 2, false}, false},
		{"with the value at the broker", hold{publishPacket, 2, true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, m, _, reached := checkpointBench(t, c.at)
			before := storedAt(t, m.URL())
			if o := b.clear(); o.code != ExitOK {
				t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			id := b.only().Operation

			s := b.start("restore", id)
			<-reached
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = s.ends()

			if o := b.run("record", "show", id); o.code != ExitOK || !strings.Contains(o.out, "cleared and verified, perhaps put back: no outcome was written") {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			b.verifies()
			want := before
			if !c.present {
				want = without(before, benchOwn)
			}
			if got := storedAt(t, m.URL()); got != want {
				t.Errorf("the store is\n%swant\n%s", got, want)
			}
			o := b.run("restore", id)
			if c.present && o.code != ExitOtherValue || !c.present && o.code != ExitOK {
				t.Errorf("again: exit %d: %s%s", o.code, o.out, o.errout)
			}
			if got := storedAt(t, m.URL()); got != before {
				t.Errorf("at the end the store is\n%swant\n%s", got, before)
			}
			b.verifies()
		})
	}
}

func TestWhatAnotherProcessRunsIsNotUnknownInAShell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		at           hold
		restore      bool
		runs, killed string // of the list, with the number of the process
	}{
		{"a clear", hold{publishPacket, 1, true}, false, "running, by process %d", "unknown "},
		{"a restore", hold{publishPacket, 2, true}, true, "cleared and verified, being put back by process %d", "perhaps put back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, _, _, reached := checkpointBench(t, c.at)
			args := []string{"clear", "--topic", benchOwn}
			if c.restore {
				if o := b.clear(); o.code != ExitOK {
					t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
				}
				args = []string{"restore", b.only().Operation}
			}
			s := b.start(args...)
			<-reached
			runs := fmt.Sprintf(c.runs, s.cmd.Process.Pid)
			o := b.run("record", "show")
			if o.code != ExitOK || !strings.Contains(o.out, runs) || strings.Contains(o.out+o.errout, "unknown") {
				t.Errorf("exit %d: want %q: %s%s", o.code, runs, o.out, o.errout)
			}
			if op := b.only(); (op.Running == "") != c.restore {
				t.Errorf("%+v", op)
			}
			if o := b.run("record", "show", b.only().Operation); !strings.Contains(o.out, runs) {
				t.Errorf("want %q: %s%s", runs, o.out, o.errout)
			}
			if o := b.clear(); o.code != ExitNotSent || !strings.Contains(o.errout, fmt.Sprintf("process %d", s.cmd.Process.Pid)) {
				t.Errorf("a second one: exit %d: %s%s", o.code, o.out, o.errout)
			}
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = s.ends()
			if o := b.run("record", "show"); !strings.Contains(o.out, c.killed) || strings.Contains(o.out+o.errout, "process") {
				t.Errorf("killed: %s%s", o.out, o.errout)
			}
		})
	}
}

// storedAt returns what the broker at url holds, a topic a line.
func storedAt(t *testing.T, url string) string {
	t.Helper()
	seen, err := broker.NewObserver(broker.Config{URL: url}).Observe(t.Context(), actions.Question{Filters: [][]byte{[]byte("#")}, Quiet: 250 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range seen.Seen {
		all = append(all, fmt.Sprintf("%s=%x %x\n", p.Topic, p.Payload, p.Properties))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// verifies checks the record.
func (b *workbench) verifies() {
	b.t.Helper()
	if o := b.run("record", "verify"); o.code != ExitOK {
		b.t.Errorf("verify: exit %d: %s%s", o.code, o.out, o.errout)
	}
}
