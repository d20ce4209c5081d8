package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"retainscope/actions"
	"retainscope/testbroker"
)

// recordFile is where the record of a workbench lies.
func (b *workbench) recordFile() string {
	return strings.TrimSuffix(b.manifest, ".toml") + ".record.jsonl"
}

// afterClear is a workbench on a mosquitto on which one topic was cleared, and the name of the operation.
func afterClear(t *testing.T) (*workbench, string) {
	t.Helper()
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue), established)
	if o := b.clear(); o.code != ExitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	return b, b.only().Operation
}

// undoneJSON is what `restore --json` prints.
type undoneJSON struct {
	Operation string `json:"operation"`
	Topic     string `json:"topic"`
	Result    string `json:"result"`
	Outcome   struct {
		Obstacle string `json:"obstacle"`
		Receipt  *struct {
			Publishes int `json:"publishes"`
		} `json:"receipt"`
	} `json:"outcome"`
	Record *struct{ Lines int } `json:"record"`
}

func TestTheExitCodesOfARestore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		set      func(*testing.T, *workbench)
		args     []string
		code     int
		result   string
		obstacle string
		says     string
	}{
		{"put back", nil, nil, ExitOK, "restored", "none", ""},
		{"the topic holds something", func(t *testing.T, b *workbench) { place(t, b.url, benchOwn, "new") }, nil, ExitOtherValue, "not sent", "topic holds something", "--overwrite " + fingerprint("new")},
		{"exactly that is overwritten", func(t *testing.T, b *workbench) { place(t, b.url, benchOwn, "new") }, []string{"--overwrite", fingerprint("new")}, ExitOK, "restored", "none", ""},
		{"something else is not", func(t *testing.T, b *workbench) { place(t, b.url, benchOwn, "newer") }, []string{"--overwrite", fingerprint("new")}, ExitOtherValue, "not sent", "topic holds something", "holds 5 bytes"},
		{"a neighbour", func(t *testing.T, b *workbench) { place(t, b.url, benchSister, "") }, []string{"--topic", benchSister}, ExitOK, "restored", "none", ""},
		{"a topic that was no control", nil, []string{"--topic", "airthings2/availability"}, ExitNotSent, "not sent", "nothing to restore", "holds nothing of topic"},
		{"protected meanwhile", nil, []string{"--protect", "airthings/#"}, ExitNotSent, "not sent", "protected", "is protected by"},
		{"another login", nil, []string{"--user", "me"}, ExitNotSent, "not sent", "another broker", "another login"},
		{"another process acts", func(_ *testing.T, b *workbench) { b.locked() }, nil, ExitNotSent, "not sent", "locked", "another process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, id := afterClear(t)
			if c.set != nil {
				c.set(t, b)
			}
			o := b.run(append([]string{"restore", id, "--json"}, c.args...)...)
			var got undoneJSON
			decode(t, o, &got)
			if o.code != c.code || got.Result != c.result || got.Outcome.Obstacle != c.obstacle || !strings.Contains(o.errout, c.says) || got.Operation != id || got.Record == nil {
				t.Errorf("exit %d, %+v: %s", o.code, got, o.errout)
			}
			if sent := got.Outcome.Receipt != nil; sent != (c.code == ExitOK) || sent && got.Outcome.Receipt.Publishes != 1 {
				t.Errorf("sent: %v", got.Outcome.Receipt)
			}
		})
	}
	b, _ := afterClear(t)
	if o := b.run("restore", "20260101-000000-1"); o.code != ExitFailed || !strings.Contains(o.errout, "record show") || o.out != "" {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestALaterLookIsInTheRecordAndItsExitCodeSaysWhatWasSeen(t *testing.T) {
	t.Parallel()
	b, id := afterClear(t)
	if o := b.run("record", "recheck", id); o.code != ExitOK || !strings.Contains(o.out, "was not observed") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	place(t, b.url, benchOwn, benchValue)
	o := b.run("record", "recheck", id, "--note", "the broker was restarted", "--json")
	var got struct {
		Operation string `json:"operation"`
		Topic     string `json:"topic"`
		Found     string `json:"found"`
		Note      string `json:"note"`
		Return    *struct {
			Same bool `json:"same"`
		} `json:"return"`
	}
	decode(t, o, &got)
	if o.code != ExitCameBack || got.Operation != id || got.Topic != benchOwn || got.Found != "present" || got.Return == nil || !got.Return.Same || got.Note != "the broker was restarted" {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if op := b.only(); op.Verdict != actions.CameBack {
		t.Errorf("the record says %s", op.Verdict)
	}
	if o := b.run("record", "recheck", id, "--user", "me"); o.code != ExitFailed || !strings.Contains(o.errout, "another login") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	if o := b.run("record", "recheck", "nothing"); o.code != ExitFailed || !strings.Contains(o.errout, "no such operation") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	o = b.run("record", "show", id)
	if !strings.Contains(o.out, "the broker was restarted") || strings.Count(o.out, "recheck ") < 2 {
		t.Errorf("the looks are not shown:\n%s", o.out)
	}
}

func TestAHalfWrittenLineStopsNothingAndIsToldOf(t *testing.T) {
	t.Parallel()
	b, id := afterClear(t)
	f, err := os.OpenFile(b.recordFile(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"prev":"half`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if o := b.run("record", "show"); o.code != ExitOK || !strings.Contains(o.out, id) || !strings.Contains(o.errout, "record verify") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("restore", id); o.code != ExitOK {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	o := b.run("record", "verify")
	if o.code != ExitOK || !strings.Contains(o.out, "files: 2") || !strings.Contains(o.out, "record.2.jsonl begins because") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestALineThatWasChangedIsNamed(t *testing.T) {
	t.Parallel()
	b, _ := afterClear(t)
	whole, err := os.ReadFile(b.recordFile())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		text []byte
		says string
	}{
		{"a word", bytes.Replace(whole, []byte(`"approved_by":"kim"`), []byte(`"approved_by":"tim"`), 1), "home.record.jsonl, line 2 "},
		{"the last line", whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1], "taken away"},
		{"everything", nil, "taken away"},
	} {
		if err := os.WriteFile(b.recordFile(), c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if o := b.run("record", "verify"); o.code != ExitBadRecord || !strings.Contains(o.errout, c.says) || strings.Count(o.errout, "\n") != 1 {
			t.Errorf("%s: exit %d: %s%s", c.name, o.code, o.out, o.errout)
		}
		// Whoever asks for something else is told as well.
		if o := b.run("record", "show"); o.code != ExitOK || !strings.Contains(o.errout, "warning: the record is not as it was written: ") || !strings.Contains(o.errout, c.says) {
			t.Errorf("%s: exit %d: %s%s", c.name, o.code, o.out, o.errout)
		}
	}
	if err := os.WriteFile(b.recordFile(), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := b.run("record", "show"); o.errout != "" {
		t.Errorf("as it was: %s", o.errout)
	}
	if o := b.run("record", "verify", "--digest", strings.Repeat("a", 64)); o.code != ExitBadRecord || !strings.Contains(o.errout, "no line has the digest") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("record", "verify"); o.code != ExitOK {
		t.Errorf("as it was: exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestTheJSONOfAnOperationHoldsItsFactsAndNoPayload(t *testing.T) {
	t.Parallel()
	b, id := afterClear(t)
	if o := b.run("restore", id); o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	o := b.run("record", "show", id, "--json")
	var got map[string]json.RawMessage
	decode(t, o, &got)
	for _, key := range []string{"operation", "topic", "topic_hex", "begun", "owner", "approved_by", "verdict", "provisional", "open", "restored", "sentence", "last_at",
		"closings", "intent", "before", "outcome", "later", "restores"} {
		if v, ok := got[key]; !ok || string(v) == "null" {
			t.Errorf("%s is %s", key, v)
		}
	}
	if string(got["restored"]) != "true" || strings.Contains(o.out, `"payload":`) || strings.Contains(o.out, benchValue) {
		t.Errorf("%s", o.out)
	}
	if o := b.run("record", "show", "no-such"); o.code != ExitFailed || !strings.Contains(o.errout, "record show") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	if o := run(t, b.env, append(b.args("__complete", "record", "show"), "")...); !strings.Contains(o.out, id+"\t"+benchOwn) {
		t.Errorf("the shell is not offered the operation: %s%s", o.out, o.errout)
	}
	// It was put back: a restore has nothing to do.
	if o := run(t, b.env, append(b.args("__complete", "restore"), "")...); strings.Contains(o.out, id) {
		t.Errorf("the shell offers to put back what was put back: %s%s", o.out, o.errout)
	}
}

func TestTheHelpOfTheRecordExplainsClosedAndOpen(t *testing.T) {
	o := run(t, nil, "record", "show", "--help")
	for _, c := range (actions.Operation{}).Closings() {
		if !strings.Contains(o.out, c.Question+" (") {
			t.Errorf("%s is not explained", c.Question)
		}
	}
	if !strings.Contains(o.out, "closed") || !strings.Contains(o.out, "or open") {
		t.Error("closed and open are not explained")
	}
}
