package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/journal"
	"retainscope/testbroker"
)

// outcomeJSON is what `clear --json` prints.
type outcomeJSON struct {
	Operation   *string `json:"operation"`
	Topic       string  `json:"topic"`
	TopicHex    string  `json:"topic_hex"`
	Broker      struct{ URL, User, Identity string }
	Manifest    string   `json:"manifest"`
	Verdict     string   `json:"verdict"`
	Sentence    string   `json:"sentence"`
	Provisional []string `json:"provisional"`
	Outcome     struct {
		Obstacle string `json:"obstacle"`
		Packet   *struct {
			Retain        bool `json:"retain"`
			QoS           int  `json:"qos"`
			PayloadLength int  `json:"payload_length"`
			TopicLength   int  `json:"topic_length"`
			ID            int  `json:"packet_identifier"`
		} `json:"packet"`
		Receipt *struct {
			Publishes int    `json:"publishes"`
			CodeName  string `json:"code_name"`
			Code      int    `json:"code"`
		} `json:"receipt"`
		Found    string `json:"found"`
		Controls []struct {
			State string `json:"state"`
		} `json:"controls"`
	} `json:"outcome"`
	Watch *struct {
		Found  string `json:"found"`
		Return *struct {
			Same bool `json:"same"`
		} `json:"return"`
	} `json:"watch"`
	Undo   *string `json:"undo"`
	Record *struct {
		Lines  int    `json:"lines"`
		SHA256 string `json:"sha256"`
	} `json:"record"`
}

// TestAPersonWithAShellGetsFromAFirstLookToEvidence walks the way of the README on a real mosquitto and on the embedded broker.
func TestAPersonWithAShellGetsFromAFirstLookToEvidence(t *testing.T) {
	for name, url := range map[string]func(*testing.T) string{
		"mosquitto": func(t *testing.T) string { return quick(t).URL() },
		"embedded":  func(t *testing.T) string { return serveDemo(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWorkbench(t, url(t))
			before := b.holds()

			// Nothing is there yet, and every command says what to do.
			for _, args := range [][]string{{"check"}, {"clear", "--topic", benchOwn}} {
				if o := b.run(args...); o.code == ExitOK || !strings.Contains(o.errout, "retainscope draft") {
					t.Errorf("%v without a manifest: exit %d: %s", args, o.code, o.errout)
				}
			}
			if o := b.run("record", "show"); o.code != ExitOK || !strings.Contains(o.out, "nothing is in the record") {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}

			o := b.run("draft", "--topic", benchOwn, "--owner", "airthings, renamed in May", "--purpose", "availability")
			if o.code != ExitOK || !strings.Contains(o.out, fingerprint(benchValue)) || !strings.Contains(o.out, b.manifest+" line ") {
				t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			if o := b.clear(); o.code != ExitNotSent || !strings.Contains(o.errout, "on hold") || !strings.Contains(o.errout, "retainscope check") {
				t.Errorf("a draft is taken for an approval: exit %d: %s", o.code, o.errout)
			}
			// What a person types into the file.
			text, err := os.ReadFile(b.manifest)
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.Replace(text, []byte(`disposition = "hold"`), []byte("disposition = \"clear\" # seen at the meter\napproved_by = \"kim\"\napproved_at = 2026-11-30T12:00:00Z"), 1)
			if err := os.WriteFile(b.manifest, append(text, established...), 0o600); err != nil {
				t.Fatal(err)
			}
			o = b.run("check")
			if o.code != ExitOK || !strings.Contains(o.out, "clear     "+benchOwn) || !strings.Contains(o.out, "can serve as controls: airthings, "+benchSister) ||
				strings.Contains(o.out, "provisional") || !strings.Contains(o.out, "not listed and stay on hold") {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			if got := b.holds(); got != before {
				t.Fatalf("looking changed the store:\n%s", got)
			}

			o = b.run("clear", "--topic", benchOwn, "--window", "1s")
			if o.code != ExitOK || o.errout != "" || !strings.HasPrefix(o.out, "so far, ") || !strings.Contains(o.out, "watched: ") || !strings.Contains(o.out, "\ncleared and verified: "+benchOwn+"\n") {
				t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			kept := regexp.MustCompile(`digest of the last ([0-9a-f]{64})`).FindStringSubmatch(o.out)
			if kept == nil {
				t.Fatalf("no digest to keep: %s", o.out)
			}
			if got, want := b.holds(), without(before, benchOwn); got != want {
				t.Errorf("the store is\n%swant\n%s", got, want)
			}
			op := b.only()
			if op.Verdict != actions.ClearedVerified || op.Provisional || op.Topic != benchOwn || op.ApprovedBy != "kim" {
				t.Errorf("%+v", op)
			}
			o = b.run("record", "show", op.Operation)
			for _, want := range []string{"RETAIN 1, DUP 0, QoS 1", "payload 0 bytes", "ownership        closed", "writers          closed", "acknowledgement  closed", "read-back        closed", "hex " + hex.EncodeToString([]byte(benchOwn)), "bounded evidence"} {
				if !strings.Contains(o.out, want) {
					t.Errorf("%q is not in\n%s", want, o.out)
				}
			}

			o = b.run("restore", op.Operation)
			if o.code != ExitOK || !strings.Contains(o.out, "put back and read back") {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			if got := b.holds(); got != before {
				t.Errorf("after the undo the store is\n%swant\n%s", got, before)
			}
			o = b.run("record", "verify", "--digest", kept[1])
			if o.code != ExitOK || !strings.Contains(o.out, "the digest that was kept is that of line") {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			o = b.run("record", "export")
			if o.code != ExitOK || !strings.HasPrefix(o.out, "# Retired topics") || !strings.Contains(o.out, op.Operation) || strings.Contains(o.out, "value") && strings.Contains(o.out, `"`+benchValue+`"`) {
				t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
			}
		})
	}
}

func TestTheExitCodesOfAClear(t *testing.T) {
	t.Parallel()
	cleared := approved(benchOwn, benchValue)
	for _, c := range []struct {
		name     string
		entries  []string
		set      func(*testing.T, *workbench, *testbroker.Broker)
		args     []string
		code     int
		verdict  string
		obstacle string
		says     string
		left     bool // the topic holds what it held
	}{
		{"nothing is named as a writer", []string{cleared}, nil, nil, ExitOK, "cleared and verified", "none", "", false},
		{"not in the manifest", nil, nil, nil, ExitNotSent, "not sent", "not approved", "what is not listed is on hold", true},
		{"on hold", []string{strings.Replace(cleared, `"clear"`, `"hold"`, 1)}, nil, nil, ExitNotSent, "not sent", "not approved", "on hold", true},
		{"to be preserved", []string{strings.Replace(cleared, `"clear"`, `"preserve"`, 1)}, nil, nil, ExitNotSent, "not sent", "not approved", "preserved", true},
		{"nobody approved it", []string{strings.Replace(cleared, `approved_by = "kim"`, "", 1)}, nil, nil, ExitNotSent, "not sent", "not approved", "who and when is missing", true},
		{"protected by a flag", []string{cleared}, nil, []string{"--protect", "airthings/#"}, ExitNotSent, "not sent", "protected", `protected by "airthings/#"`, true},
		{"protected by the environment", []string{cleared}, func(_ *testing.T, b *workbench, _ *testbroker.Broker) {
			b.env = append(b.env, "RETAINSCOPE_CLEAR__PROTECT=+/availability")
		}, nil, ExitNotSent, "not sent", "protected", `protected by "+/availability"`, true},
		{"protected by the manifest", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) {
			edit(t, b.manifest, "[broker]", "protect = [\"airthings/+\"]\n[broker]")
		}, nil, ExitNotSent, "not sent", "protected", `protected by "airthings/+"`, true},
		{"another broker in the manifest", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) {
			edit(t, b.manifest, `url = "mqtt://127.0.0.1:`, `url = "mqtt://127.0.0.1:1`)
		}, nil, ExitNotSent, "not sent", "another broker", "--manifest", true},
		{"another product at the address", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) {
			edit(t, b.manifest, "user =", "identity = \"FlashMQ 1.26\"\nuser =")
		}, nil, ExitNotSent, "not sent", "another broker", "FlashMQ", true},
		{"another login", []string{cleared}, nil, []string{"--user", "me"}, ExitNotSent, "not sent", "another broker", "another login", true},
		{"another process clears", []string{cleared}, func(_ *testing.T, b *workbench, _ *testbroker.Broker) { b.locked() }, nil,
			ExitNotSent, "not sent", "locked", "another process: process", true},
		{"no broker", []string{cleared}, func(_ *testing.T, _ *workbench, m *testbroker.Broker) { m.Stop() }, nil,
			ExitNotSent, "not sent", "not connected", "nothing was sent (not connected)", false},
		{"the value is another", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) { place(t, b.url, benchOwn, "online") }, nil,
			ExitOtherValue, "changed", "none", "does not hold the value that was approved", true},
		{"the value went", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) { place(t, b.url, benchOwn, "") }, nil,
			ExitOtherValue, "vanished", "none", "was not observed", false},
		{"no control is there", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) {
			for _, m := range benchHouse()[1:] {
				place(t, b.url, m.Topic, "")
			}
		}, nil, ExitNotVerified, "acknowledged, could not verify", "none", "no control", false},
		{"somebody writes it again at once", []string{cleared}, func(t *testing.T, _ *workbench, m *testbroker.Broker) {
			lateWriter(t, m, benchOwn, benchValue)
		}, []string{"--window", "10m"}, ExitCameBack, "came back", "none", "with the same value", true},
		{"the record cannot be written", []string{cleared}, func(t *testing.T, b *workbench, _ *testbroker.Broker) {
			if err := os.Mkdir(b.recordFile(), 0o700); err != nil {
				t.Fatal(err)
			}
		}, nil, ExitNotSent, "not sent", "record not writable", "record", true},
		{"the manifest is wrong", []string{cleared, cleared}, nil, nil, ExitNotSent, "not sent", "manifest not readable", "two entries, on lines", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := testbroker.Start(t, testbroker.Config{})
			b := newWorkbench(t, m.URL())
			b.write("", c.entries...)
			if c.set != nil {
				c.set(t, b, m)
			}
			// Without "no": the one that comes back is watched.
			args := append([]string{"clear", "--topic", benchOwn, "--window", "0s", "--json"}, c.args...)
			o := b.run(args...)
			var got outcomeJSON
			decode(t, o, &got)
			if o.code != c.code || got.Verdict != c.verdict || got.Outcome.Obstacle != c.obstacle {
				t.Errorf("exit %d, verdict %q, obstacle %q: %s", o.code, got.Verdict, got.Outcome.Obstacle, got.Sentence)
			}
			if c.code == ExitOK && o.errout != "" || c.code != ExitOK && (strings.Count(o.errout, "\n") != 1 || !strings.Contains(o.errout, c.says)) {
				t.Errorf("stderr %q, want %q in it", o.errout, c.says)
			}
			if sent := got.Outcome.Packet != nil; sent != (got.Outcome.Receipt != nil) || sent && (got.Outcome.Receipt.Publishes != 1 || !got.Outcome.Packet.Retain ||
				got.Outcome.Packet.QoS != 1 || got.Outcome.Packet.PayloadLength != 0 || got.Outcome.Packet.TopicLength != len(benchOwn)) {
				t.Errorf("on the wire: %+v %+v", got.Outcome.Packet, got.Outcome.Receipt)
			}
			if held := c.obstacle != "not connected" && strings.Contains(b.holds(), benchOwn+"="); held != c.left {
				t.Errorf("the topic holds something: %v", held)
			}
			if c.code == ExitNotSent != (got.Operation == nil) {
				t.Errorf("operation %v", got.Operation)
			}
		})
	}
}

func TestTheBrokerRefusesAClearByItsRights(t *testing.T) {
	t.Parallel()
	acl := file(t, "acl", "user writer\ntopic write #\nuser reader\ntopic read #\ntopic read $SYS/#\nuser clerk\ntopic readwrite #\n")
	m := testbroker.Start(t, testbroker.Config{
		Lines: []string{"password_file " + passwords(t, "writer", "w", "reader", "r", "clerk", "c"), "acl_file " + acl}, NoAnonymous: true, ListenerLines: []string{"allow_anonymous false"},
	})
	for _, r := range benchHouse() {
		out, err := exec.Command("mosquitto_pub", "-p", fmt.Sprint(m.Port), "-u", "clerk", "-P", "c", "-t", r.Topic, "-m", string(r.Payload), "-r", "-q", "1").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b := emptyWorkbench(t, m.URL())
	again := 0
	as := func(user, password string, more ...string) outcome {
		t.Helper()
		again++ // each of them is approved anew
		b.write(user, strings.Replace(approved(benchOwn, benchValue), "T12:00:00Z", fmt.Sprintf("T12:00:%02dZ", again), 1), established)
		b.login = []string{"--user", user}
		b.env = append([]string{"HOME=" + t.TempDir(), "MQTT__PASSWORD=" + password}, more...)
		return b.clear("--json")
	}
	var got outcomeJSON
	o := as("reader", "r")
	decode(t, o, &got)
	if o.code != ExitRefused || got.Verdict != "refused" || got.Outcome.Receipt.Code != 0x87 || got.Outcome.Found != "present" || !strings.Contains(o.errout, "0x87 not authorized") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	// Who may not read sees nothing to clear, and sends nothing.
	o = as("writer", "w")
	decode(t, o, &got)
	if o.code != ExitOtherValue || got.Verdict != "vanished" || !strings.Contains(o.errout, "may not read it") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	o = as("writer", "w", "OBSERVER__USER=reader", "OBSERVER__PASSWORD=wrong")
	decode(t, o, &got)
	if o.code != ExitNotSent || got.Outcome.Obstacle != "observer failed" || strings.Contains(o.out+o.errout, "wrong\"") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	o = as("writer", "w", "OBSERVER__USER=reader", "OBSERVER__PASSWORD=r")
	decode(t, o, &got)
	if o.code != ExitOK || got.Verdict != "cleared and verified" || got.Broker.User != "writer" || len(got.Outcome.Controls) < 2 {
		t.Errorf("with an observer of its own: exit %d: %s%s", o.code, o.out, o.errout)
	}
}

// TestWhatABrokerCanDoToATombstone puts a gate before a mosquitto: it swallows, answers and cuts.
func TestWhatABrokerCanDoToATombstone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		decide  func(packet []byte) gateDecision
		code    int
		verdict string
		says    string
	}{
		{"it acknowledges and keeps", func(p []byte) gateDecision { return gateDecision{answer: puback(p, 0)} }, ExitStillPresent, "acknowledged, still present", "the broker keeps it"},
		{"it has too many", func(p []byte) gateDecision { return gateDecision{answer: puback(p, 0x97)} }, ExitRefused, "refused", "0x97 quota exceeded"},
		{"nobody was subscribed", func(p []byte) gateDecision { return gateDecision{forward: true, hang: true, answer: puback(p, 0x10)} }, ExitOK, "cleared and verified", ""},
		{"it cuts the connection", func([]byte) gateDecision { return gateDecision{cut: true} }, ExitNoAnswer, "no answer", "neither success nor failure"},
		{"it cuts it after it took it", func([]byte) gateDecision { return gateDecision{forward: true, hang: true, cut: true} }, ExitNoAnswer, "no answer", "neither success nor failure"},
		{"it never answers", func([]byte) gateDecision { return gateDecision{hang: true} }, ExitNoAnswer, "no answer", "neither success nor failure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := testbroker.Start(t, testbroker.Config{})
			b := newWorkbench(t, m.URL())
			g := newGate(t, m.URL(), c.decide)
			b.url = g.url
			b.write("", approved(benchOwn, benchValue), established)
			o := b.clear("--json")
			var got outcomeJSON
			decode(t, o, &got)
			if o.code != c.code || got.Verdict != c.verdict || !strings.Contains(o.errout, c.says) {
				t.Errorf("exit %d, %q: %s", o.code, got.Verdict, o.errout)
			}
			if g.count() != 1 || got.Outcome.Receipt.Publishes != 1 {
				t.Errorf("%d PUBLISH on the wire, %d counted", g.count(), got.Outcome.Receipt.Publishes)
			}
			if p := g.published[0]; p[0] != 0x33 || !bytes.HasSuffix(p, []byte{byte(got.Outcome.Packet.ID >> 8), byte(got.Outcome.Packet.ID), 0}) {
				t.Errorf("the packet is %x", p)
			}
			if op := b.only(); op.Verdict.String() != c.verdict || op.Open {
				t.Errorf("the record says %+v", op)
			}
		})
	}
}

func TestASignalBeforeTheMessageSendsNothingAndAfterItIsNoAnswer(t *testing.T) {
	t.Parallel()
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// It answers CONNECT and never SUBSCRIBE: the topic cannot be read.
		b := emptyWorkbench(t, deaf(t, map[byte][]byte{1: {0x20, 3, 0, 0, 0}, 12: {0xd0, 0}}, subscribePacket, cancel))
		b.write("", approved(benchOwn, benchValue))
		o := runIn(ctx, b.env, b.args("clear", "--topic", benchOwn, "--json")...)
		var got outcomeJSON
		decode(t, o, &got)
		if o.code != ExitInterrupted || got.Verdict != "not sent" || got.Outcome.Packet != nil || !strings.Contains(o.errout, "interrupted: nothing was sent") {
			t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
		}
	})
	for name, signal := range map[string]os.Signal{"SIGTERM after": syscall.SIGTERM, "SIGINT after": os.Interrupt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, g := held(t)
			s := b.start("clear", "--topic", benchOwn, "--json")
			<-g.arrived
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			o := s.ends()
			var got outcomeJSON
			decode(t, o, &got)
			if o.code != ExitNoAnswer || got.Verdict != "no answer" || got.Watch != nil || g.count() != 1 {
				t.Errorf("exit %d after %d PUBLISH: %s%s", o.code, g.count(), o.out, o.errout)
			}
			if op := b.only(); op.Verdict != actions.NoAnswer || op.Open {
				t.Errorf("the record says %+v", op)
			}
		})
	}
	t.Run("while it watches", func(t *testing.T) {
		t.Parallel()
		b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
		b.write("", approved(benchOwn, benchValue))
		s := b.start("clear", "--topic", benchOwn, "--window", "10m")
		b.until(func() bool { return len(b.operations()) == 1 && !b.only().Open })
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		o := s.ends()
		if o.code != ExitInterrupted || !strings.HasPrefix(o.out, "so far, before a return is watched for: cleared and verified, provisional: ") || !strings.Contains(o.errout, "interrupted while a return was watched for; cleared and verified") {
			t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
		}
		if op := b.only(); op.Verdict != actions.ClearedVerified {
			t.Errorf("the record says %+v", op)
		}
	})
}

// held is a workbench behind a gate that takes the tombstone and lets no answer through.
func held(t *testing.T) (*workbench, *gate) {
	t.Helper()
	m := testbroker.Start(t, testbroker.Config{})
	b := newWorkbench(t, m.URL())
	g := newGate(t, m.URL(), func([]byte) gateDecision { return gateDecision{forward: true, hang: true} })
	b.url = g.url
	b.write("", approved(benchOwn, benchValue), established)
	return b, g
}

func TestAClearThatWasKilledIsUnknownAtTheNextStartAndCanBeLookedAt(t *testing.T) {
	t.Parallel()
	b, g := held(t)
	s := b.start("clear", "--topic", benchOwn)
	<-g.arrived
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.ends()
	o := b.run("record", "show")
	op := b.only()
	again := op.Operation + "` looks what the topic holds now"
	if o.code != ExitOK || op.Verdict != actions.Unknown || !op.Open || !strings.Contains(o.out, "unknown") || !strings.Contains(o.errout, again) || !strings.Contains(o.errout, "what became of it is not known") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("clear", "--topic", "not/approved"); o.code != ExitNotSent || !strings.Contains(o.errout, again) {
		t.Errorf("the next clear does not say it: exit %d: %s", o.code, o.errout)
	}
	o = b.run("record", "recheck", op.Operation, "--note", "after the power went")
	if o.code != ExitOK || !strings.Contains(o.out, "was not observed") || !strings.Contains(o.out, "after the power went") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("record", "show"); strings.Contains(o.errout, again) || b.only().Verdict != actions.Unknown {
		t.Errorf("after the look: %s%s", o.out, o.errout)
	}
	if o := b.run("record", "verify"); o.code != ExitOK {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if g.count() != 1 {
		t.Errorf("%d PUBLISH: a start sent something", g.count())
	}
}

func TestWhatTheJournalKnowsOfAnOwnerIsSaidBeforeAndAfterAClear(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue), established)
	path := filepath.Join(t.TempDir(), "j.db")
	now := time.Now().UnixMilli()
	j, err := journal.Open(path, journal.Options{Broker: actions.CanonicalAddress(b.url), Now: func() int64 { return now }, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for hours := int64(6); hours > 0; hours-- {
		j.Observe([]journal.Seen{{Topic: []byte(benchOwn), At: now - hours*3600_000, Live: true, Retain: true, Interval: expiry.None()}})
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	const says = "published every 1h while watched"
	if o := b.run("check", "--quiet-time", "300ms", "--sys-wait", "1s", "--journal-file", path); o.code != ExitOK || !strings.Contains(o.out, says) {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	o := b.clear("--journal-file", path)
	if o.code != ExitOK || !strings.Contains(o.out, says) || !strings.Contains(o.out, "record recheck") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("record", "show", b.only().Operation); !strings.Contains(o.out, says) {
		t.Errorf("the record does not keep it: %s", o.out)
	}
}

func TestTwoCopiesOfTheProgramSendOneMessage(t *testing.T) {
	t.Parallel()
	m := testbroker.Start(t, testbroker.Config{})
	b := newWorkbench(t, m.URL())
	g := newGate(t, m.URL(), func([]byte) gateDecision { return gateDecision{forward: true} })
	b.url = g.url
	b.write("", approved(benchOwn, benchValue), established)
	first, second := b.start("clear", "--topic", benchOwn, "--no-watch"), b.start("clear", "--topic", benchOwn, "--no-watch")
	codes := []int{first.ends().code, second.ends().code}
	slices.Sort(codes)
	if g.count() != 1 || codes[0] != ExitOK || codes[1] != ExitNotSent && codes[1] != ExitOtherValue {
		t.Errorf("exit %v after %d PUBLISH: %s%s", codes, g.count(), first.errout.String(), second.errout.String())
	}
	if o := b.run("record", "verify"); o.code != ExitOK {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestANameThatCannotBeTypedIsClearedByItsBytes(t *testing.T) {
	t.Parallel()
	address := serveDemo(t, "--empty")
	b := emptyWorkbench(t, address)
	odd := []string{"plant/\x1b[31mred", "plant/\u202eevil", "plant/two  spaces ", "plant/\u00e9\u200b"}
	for _, topic := range append(odd, "plant/a", "plant/b") {
		place(t, address, topic, "v")
	}
	for _, topic := range odd {
		digits := hex.EncodeToString([]byte(topic))
		b.write("", approved(topic, "v"), established)
		o := b.run("clear", "--topic-hex", digits, "--no-watch", "--json")
		var got outcomeJSON
		decode(t, o, &got)
		if o.code != ExitOK || got.TopicHex != digits {
			t.Errorf("%q: exit %d: %s%s", topic, o.code, o.out, o.errout)
		}
		show := b.run("record", "show", *got.Operation)
		for _, text := range []string{o.out, o.errout, show.out, b.run("check", "--offline").out} {
			if strings.ContainsAny(text, "\x1b\u202e\u200b") {
				t.Errorf("raw: %q", text)
			}
		}
	}
	// Bytes that are no text can be approved and named; what no broker holds is not there.
	b.write("", approved("plant/\xff\xfe", "v"))
	o := b.run("clear", "--topic-hex", "706c616e742ffffe", "--no-watch", "--json")
	var got outcomeJSON
	decode(t, o, &got)
	if o.code != ExitOtherValue || got.TopicHex != "706c616e742ffffe" || !strings.Contains(o.errout, `plant/\xff\xfe`) {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestAClearTakesOneExactTopicAndNothingElse(t *testing.T) {
	t.Parallel()
	b := emptyWorkbench(t, "mqtt://127.0.0.1:1")
	b.write("", approved(benchOwn, benchValue))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"clear"}, "no topic is named"},
		{[]string{"clear", "--topic", "a", "--topic", "b"}, "more than one topic"},
		{[]string{"clear", "--topic", "a", "--topic-hex", "62"}, "more than one topic"},
		{[]string{"clear", "--topic", "a", "b"}, `one exact topic that the manifest approves, with --topic or --topic-hex; "b" is too much`},
		{[]string{"clear", "a/b"}, `"a/b" is too much`},
		{[]string{"clear", "--topic", "a", "--filter", "a/#"}, "a filter is not taken"},
		{[]string{"clear", "--topic", "a/#"}, "wildcard"},
		{[]string{"clear", "--topic", "+/b"}, "wildcard"},
		{[]string{"clear", "--topic", ""}, "the topic is empty"},
		{[]string{"clear", "--topic", "$share/g/a"}, "shared subscription"},
		{[]string{"clear", "--topic-hex", "6100"}, "NUL"},
		{[]string{"clear", "--topic-hex", "612"}, "hexadecimal digits"},
		{[]string{"clear", "--topic-hex", "zz"}, "hexadecimal digits"},
		{[]string{"draft"}, "no topic is named"},
		{[]string{"draft", "--topic", "a/#"}, "wildcard"},
		{[]string{"draft", "a"}, "is too much"},
		{[]string{"restore"}, "one operation"},
		{[]string{"restore", "1", "2"}, `"2" is too much`},
		{[]string{"restore", "1", "--filter", "#"}, "a filter is not taken"},
		{[]string{"restore", "1", "--topic", "a/#"}, "wildcard"},
		{[]string{"record", "recheck"}, "one operation"},
		{[]string{"record", "recheck", "1", "2"}, `"2" is too much`},
		{[]string{"record", "clear"}, "show, verify, export and recheck"},
		{[]string{"record", "show", "1", "2"}, "one operation at most"},
		{[]string{"record", "verify", "1"}, "too much"},
		{[]string{"record", "verify", "--digest", "abc"}, "64 hexadecimal digits"},
		{[]string{"check", "a", "b"}, "one manifest"},
		{[]string{"check", "--offline", "--list", "x"}, "one of them"},
		{[]string{"clear", "--topic", "a", "--protocol-version", "3.1.1"}, "a refusal by the broker would be invisible"},
		{[]string{"restore", "1", "--protocol-version", "3.1.1"}, "a refusal by the broker would be invisible"},
	} {
		o := b.run(c.args...)
		if o.code != ExitUsage || o.out != "" || strings.Count(o.errout, "\n") != 1 || !strings.Contains(o.errout, c.says) {
			t.Errorf("%v: exit %d: %q%q", c.args, o.code, o.out, o.errout)
		}
	}
}

func TestEveryVerdictHasAnExitCodeAndOnlyOneOfThemIs0(t *testing.T) {
	seen := map[int]bool{}
	if v := actions.EmptyReplay + 1; v.String() != actions.Unknown.String() {
		t.Fatalf("%s is not in this test", v)
	}
	for v := actions.Unknown; v <= actions.EmptyReplay; v++ {
		code := clearExit(v)
		seen[code] = true
		if (code == ExitOK) != (v == actions.ClearedVerified) || code != ExitOK && code < 10 {
			t.Errorf("%s exits with %d", v, code)
		}
	}
	for code := ExitRefused; code <= ExitCollateral; code++ {
		if !seen[code] {
			t.Errorf("no verdict exits with %d", code)
		}
		if help := run(t, nil, "clear", "--help").out; !strings.Contains(help, fmt.Sprintf("\n  %d  ", code)) {
			t.Errorf("%d is not in the help", code)
		}
	}
	for u := actions.UndoUnknown; u <= actions.RestoreNotSent; u++ {
		if code := restoreExit(actions.UndoOutcome{Result: u}); (code == ExitOK) != (u == actions.Restored) {
			t.Errorf("%s exits with %d", u, code)
		}
	}
	for _, c := range []struct {
		later actions.Later
		code  int
	}{
		{actions.Later{}, ExitNotVerified}, {actions.Later{Found: actions.NotObserved}, ExitOK}, {actions.Later{Found: actions.Present}, ExitStillPresent},
		{actions.Later{Found: actions.EmptyCopy}, ExitStillPresent}, {actions.Later{Found: actions.Present, Return: &actions.Return{}}, ExitCameBack},
		{actions.Later{Found: actions.NotObserved, Controls: []actions.ControlResult{{State: actions.Intact}, {State: actions.Lost}}}, ExitCollateral},
	} {
		if got := recheckExit(c.later); got != c.code {
			t.Errorf("%+v exits with %d, want %d", c.later, got, c.code)
		}
	}
}

// edit replaces a text in a file once.
func edit(t *testing.T, path, old, by string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%q is not in %s: %v", old, path, err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(by), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}
