package actions

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestProtectPatternsAreTopicFilters(t *testing.T) {
	p, err := Protect([]string{"a/b", "x/+/z", "deep/#", "/lead"}, []string{"+/end"})
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]string{
		"a/b": "a/b", "a/bb": "", "a/b/": "", "a": "", "A/b": "",
		"x/y/z": "x/+/z", "x//z": "x/+/z", "x/z": "", "x/y/z/": "",
		"deep": "deep/#", "deep/": "deep/#", "deep/a/b": "deep/#", "deeper": "",
		"/lead": "/lead", "lead": "",
		"b/end": "+/end", "/end": "+/end", "$x/end": "+/end", "b/c/end": "",
		"$SYS": "$SYS/#", "$SYS/broker/x": "$SYS/#", "$sys/x": "", "SYS/x": "",
	} {
		got, yes := p.Match([]byte(topic))
		if got != want || yes != (want != "") {
			t.Errorf("%q is protected by %q, want %q", topic, got, want)
		}
	}
	if f, yes := (Protection{}).Match([]byte("$SYS/x")); !yes || f != "$SYS/#" {
		t.Error("the zero value leaves $SYS unprotected")
	}
	for _, bad := range []string{"", "a/#/b", "a#", "a/b+", "++", "a\x00", "$share/g/a"} {
		if _, err := Protect([]string{bad}); err == nil {
			t.Errorf("%q is taken for a topic filter", bad)
		}
	}
}

func TestControlsAreNeighboursQuietAndNeverExpiringFirst(t *testing.T) {
	now := noon.UnixMilli()
	topic := []byte("h/dev/state")
	var near []Candidate
	add := func(topic string, i expiry.Interval, live time.Duration) {
		c := Candidate{Topic: []byte(topic), Interval: i, ReceivedAt: now}
		if live > 0 {
			c.LastLive = now - live.Milliseconds()
		}
		near = append(near, c)
	}
	add("far/away", expiry.None(), 0)
	add("h/dev/busy", expiry.None(), time.Second)
	add("h/dev/expiring", expiry.Seconds(3600), 0)
	add("h/dev/due", expiry.Seconds(60), 0)
	add("h/dev/quiet", expiry.None(), time.Hour)
	add("h/dev/bad\xff", expiry.None(), 0)
	add("$SYS/x", expiry.None(), 0)
	add("h", expiry.None(), 0)
	add("h/dev", expiry.None(), time.Second)
	add("h/dev/state/child", expiry.None(), 0)
	add("h/dev/state", expiry.None(), 0)
	add("h/dev0/state", expiry.None(), 0)
	got := fmt.Sprintf("%s", SelectControls(topic, near, now, 0))
	if want := "[h/dev h h/dev/state/child h/dev/quiet h/dev/expiring h/dev/busy]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := fmt.Sprintf("%s", SelectControls([]byte("far/away"), near, now, 0)); got != "[h h/dev/quiet h/dev/state]" {
		t.Errorf("without kin: %s", got)
	}
	if got := fmt.Sprintf("%s", SelectControls([]byte("top"), near, now, 0)); got != "[h far/away h/dev/quiet]" {
		t.Errorf("of one level: %s", got)
	}
	near = nil
	for i := range 200 {
		add(fmt.Sprintf("h/dev/state/c%03d", i), expiry.None(), 0)
		add(fmt.Sprintf("h/dev/s%03d", i), expiry.None(), 0)
	}
	all := SelectControls(topic, near, now, 1000)
	children := 0
	for _, c := range all {
		if kin(topic, c) == child {
			children++
		}
	}
	if len(all) != MaxControls || children != 25 {
		t.Errorf("%d controls, %d of them children", len(all), children)
	}
}

func TestAScanForControlsGoesOutwardsStepByStep(t *testing.T) {
	for topic, want := range map[string]string{
		"a/b/c":    "[a/b/#] [a/#] [#]",
		"a/b/c/d":  "[a/b/c/#] [a/b/#] [#]",
		"a":        "[+ a/#] [#]",
		"/x":       "[/#] [#]",
		"a/\xff/c": "[a/+/#] [a/#] [#]",
		"\xff":     "[+ +/#] [#]",
	} {
		var got []string
		for _, f := range neighbourFilters([]byte(topic)) {
			got = append(got, fmt.Sprintf("%s", f))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", topic, got, want)
		}
	}
}

func TestNeighboursComeOutOfTheInventory(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	var batch []inventory.Publication
	for _, s := range []string{"lab", own, ownToo, parent, similar, neighbour, own + "/raw", "zz/far"} {
		batch = append(batch, inventory.Publication{Topic: []byte(s), Payload: []byte("v"), Interval: expiry.None(), ReceivedAt: noon.UnixMilli(), Retain: true})
	}
	inv.Apply(batch)
	near, err := Neighbours(t.Context(), inv, []byte(own))
	if err != nil {
		t.Fatal(err)
	}
	if len(near) != 7 {
		t.Errorf("%d neighbours", len(near))
	}
	got := fmt.Sprintf("%s", SelectControls([]byte(own), near, noon.UnixMilli(), 0))
	if want := "[lab/retire/device07 lab lab/retire/device07/state/raw lab/retire/device07/availability]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	m, err := ModelOf(t.Context(), inv)
	if err != nil || m.Len() != 8 {
		t.Errorf("%d in the model, %v", m.Len(), err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := Neighbours(ctx, inv, []byte(own)); err == nil {
		t.Error("left, and no error")
	}
}

func TestConfirmationIsTypedNotLookedAlike(t *testing.T) {
	fp := "0123456789" + strings.Repeat("a", 54)
	for _, c := range []struct {
		topic  string
		takes  []string
		denies []string
	}{
		{"a/state", []string{"state"}, []string{"", "State", "state ", "a/state", "012345"}},
		{"state", []string{"state"}, []string{"012345"}},
		{"a/", []string{"012345"}, []string{"", "a/"}},
		{"a/temp ", []string{"012345"}, []string{"temp", "temp "}},
		{"a/sta\u200bte", []string{"012345"}, []string{"state", "sta\u200bte"}},
		{"a/\u202eetats", []string{"012345"}, []string{"state", "etats"}},
		{"a/st\u0430te", []string{"st\u0430te", "012345"}, []string{"state"}},
		{"a/नमस्ते", []string{"नमस्ते", "012345"}, []string{"01234"}},
		{"a/\xff", []string{"012345"}, []string{"\xff"}},
		{"a/x\x1b", []string{"012345"}, []string{"x", "x\x1b"}},
		{"$aws/thing", []string{"$aws/thing"}, []string{"thing", "012345"}},
	} {
		conf, err := ConfirmationFor(Entry{Topic: []byte(c.topic), Fingerprint: fp})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.takes {
			if !conf.Accepts(s) {
				t.Errorf("%q does not take %q", c.topic, s)
			}
		}
		for _, s := range c.denies {
			if conf.Accepts(s) {
				t.Errorf("%q takes %q", c.topic, s)
			}
		}
	}
	if _, err := ConfirmationFor(Entry{Topic: []byte("a")}); err == nil {
		t.Error("confirmed without a fingerprint")
	}
	if (Confirmation{}).Accepts("") {
		t.Error("nothing typed was taken")
	}
}

func TestApproverUnderSudoIsThePersonWhoCalledIt(t *testing.T) {
	if (Person{Login: "root", SudoUser: "kim"}).Name() != "kim" || (Person{Login: "kim"}).Name() != "kim" {
		t.Error("not the person")
	}
}

func TestSavedListIsReadForADryRun(t *testing.T) {
	fp := strings.Repeat("a", 64)
	m, err := ReadList(strings.NewReader(`{"topic":"a/b","qos":null,"size":3,"fingerprint":"` + fp + `","expiry_seconds":60,"received_at":"2026-03-07T12:00:00Z"}
{"topic":"a/\ufffd","topic_hex":"612fff","size":1,"fingerprint":"` + fp + `","expiry_seconds":null,"received_at":"2026-03-07T12:00:00Z"}

{"summary":true,"claim":"verified"}
`))
	if err != nil || m.Len() != 2 || len(m.notes) != 0 {
		t.Fatalf("%v, %d", err, m.Len())
	}
	if h, ok := m.Get([]byte("a/b")); !ok || h.Interval != expiry.Seconds(60) || h.ReceivedAt != noon.UnixMilli() {
		t.Errorf("%+v", h)
	}
	if _, ok := m.Get([]byte("a/\xff")); !ok {
		t.Error("the exact bytes did not come back")
	}
	if m, err := ReadList(strings.NewReader(`{"summary":true,"claim":"verified","broker":"mqtt://h","broker_says":"x 1","user":"u"}`)); err != nil || m.Broker() != (BrokerID{"mqtt://h", "u", "x 1"}) {
		t.Errorf("where the list was made: %+v %v", m.Broker(), err)
	}
	if m, err := ReadList(strings.NewReader(`{"summary":true,"claim":"incomplete"}`)); err != nil || !strings.Contains(strings.Join(m.notes, ""), `is "incomplete"`) {
		t.Errorf("%v %v", m, err)
	}
	for text, want := range map[string]string{
		"{": "line 1 is no JSON", "\n{}": "line 2: it names no topic", `{"topic":"a"}`: "line 1: it has no fingerprint", `{"topic_hex":"zz"}`: "not hexadecimal",
	} {
		if _, err := ReadList(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if m, err := ReadList(strings.NewReader("")); err != nil || !strings.Contains(strings.Join(m.notes, ""), "cut short") {
		t.Errorf("%v %v", m, err)
	}
}

func TestExportHoldsNoPayloadAndNoMarkdownOfOthers(t *testing.T) {
	b := newBench(t)
	const secret = "s3cret-value"
	b.publish(retained(own, secret))
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.Find(b.topic)
	e.Owner, e.Reason = "a|b `c` <script> *x*", "see [here](http://x)"
	e.Fingerprint = inventory.Fingerprint([]byte(secret), nil, expiry.None())
	if err := m.Put(e); err != nil {
		t.Fatal(err)
	}
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	op := b.clear()
	if _, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "kim"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n, err := b.desk.Export(t.Context(), &out)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	text := out.String()
	for _, bad := range []string{secret, "czNjcmV0", "<script>", "[here]", "*x*"} {
		if strings.Contains(text, bad) {
			t.Errorf("the export holds %q", bad)
		}
	}
	for _, want := range []string{"`\"lab/retire/device07/state\"`", "cleared and verified, put back", "PUBACK 0x00 success", op.ID} {
		if !strings.Contains(text, want) {
			t.Errorf("the export does not hold %q:\n%s", want, text)
		}
	}
	kept, err := b.desk.Operation(t.Context(), op.ID)
	if err != nil {
		t.Fatal(err)
	}
	shown := kept.Report(func(b []byte) string { return "<" + string(b) + ">" })
	for _, want := range []string{"<" + own + ">", "value <" + secret + ">", "undo             "} {
		if !strings.Contains(shown, want) {
			t.Errorf("the report does not hold %q:\n%s", want, shown)
		}
	}
}

func TestAnExportMovedTheCursorOfWhoReadsIt(t *testing.T) {
	b := newBench(t)
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.Find(b.topic)
	const hostile = "o\x1b[31m\u202e\u200b\u0085\U000E0001"
	e.Owner, e.Purpose, e.Reason = hostile, hostile, hostile
	e.Writers = []Writer{{Name: hostile, Kind: Device, State: Stopped, Evidence: hostile, EvidenceAt: noon, Will: WillDiscarded}}
	if err := m.Approve(e, Protection{}, Person{Login: hostile}, noon); err != nil {
		t.Fatal(err)
	}
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	b.send = func(r *Receipt) error { r.Reason = hostile; return nil }
	op := b.clear()
	if op.ID == "" {
		t.Fatal(op.Sentence())
	}
	if _, err := b.clearer.Recheck(t.Context(), op.ID, hostile); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := b.desk.Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if !plainText([]byte(line)) {
			t.Errorf("a terminal acts on %q", line)
		}
	}
	if !strings.Contains(out.String(), `| o\\u001B\[31m\\u202E`) {
		t.Errorf("the owner is not there:\n%s", out.String())
	}
}

func TestEveryNameReadsBack(t *testing.T) {
	type namer interface {
		MarshalText() ([]byte, error)
		String() string
	}
	check := func(n int, at func(uint8) namer, read func(string) uint8) {
		var seen []string
		for i := range uint8(n) {
			s := at(i).String()
			if s == "" || slices.Contains(seen, s) || read(s) != i {
				t.Errorf("%T %d is %q and reads back as %d", at(i), i, s, read(s))
			}
			seen = append(seen, s)
		}
		if read("something newer") != 0 {
			t.Errorf("%T: an unknown name is not the zero value", at(0))
		}
	}
	check(len(verdictNames), func(i uint8) namer { return Verdict(i) }, func(s string) uint8 { var v Verdict; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(obstacleNames), func(i uint8) namer { return Obstacle(i) }, func(s string) uint8 { var v Obstacle; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(foundNames), func(i uint8) namer { return Found(i) }, func(s string) uint8 { var v Found; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(controlNames), func(i uint8) namer { return ControlState(i) }, func(s string) uint8 { var v ControlState; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(undoNames), func(i uint8) namer { return UndoResult(i) }, func(s string) uint8 { var v UndoResult; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(dispositionNames), func(i uint8) namer { return Disposition(i) }, func(s string) uint8 { var v Disposition; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(kindNames), func(i uint8) namer { return WriterKind(i) }, func(s string) uint8 { var v WriterKind; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(stateNames), func(i uint8) namer { return WriterState(i) }, func(s string) uint8 { var v WriterState; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	check(len(willNames), func(i uint8) namer { return Will(i) }, func(s string) uint8 { var v Will; _ = v.UnmarshalText([]byte(s)); return uint8(v) })
	if ClearedVerified == 0 || Unknown != 0 || UndoUnknown != 0 || FoundNothingOut != 0 || Hold != 0 {
		t.Error("a zero value claims something")
	}
}

func FuzzPacket(f *testing.F) {
	o, err := tombstone([]byte(own), Protection{})
	if err != nil {
		f.Fatal(err)
	}
	good := encodePublish(o, 7)
	f.Add(good)
	f.Add(good[:5])
	f.Add([]byte{0x33, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, packet []byte) {
		p, err := o.Check(packet)
		if err != nil {
			return
		}
		if !bytes.Equal(packet, encodePublish(o, p.ID)) || p.ID == 0 {
			t.Fatalf("%x passes as a tombstone", packet)
		}
	})
}

func TestControlsFromAfarAreThoseWithTheNearestName(t *testing.T) {
	near := []Candidate{{Topic: []byte("test")}, {Topic: []byte("a")}, {Topic: []byte("cal/holidays/state"), Interval: expiry.Seconds(86400), ReceivedAt: 1},
		{Topic: []byte("cal/busy/state"), LastLive: 1}, {Topic: []byte("cal/status"), Interval: expiry.Seconds(86400), ReceivedAt: 1}}
	got := SelectControls([]byte("cal/birthday/state"), near, 1000, 0)
	if fmt.Sprintf("%s", got) != "[cal/status cal/holidays/state a]" {
		t.Errorf("chosen were %s", got)
	}
}
