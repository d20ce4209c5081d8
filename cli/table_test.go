package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/tui"
)

func TestReadingsAndExpiryOfARow(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct {
		name            string
		slot            inventory.Slot
		expiry, reading string
	}{
		{"never", inventory.Slot{Interval: expiry.None()}, "never", "never expires"},
		{"unknown", inventory.Slot{}, "unknown", "unknown"},
		{"a minute", inventory.Slot{Interval: expiry.Seconds(61), ReceivedAt: now}, "00:01:01", "expires by itself"},
		{"days", inventory.Slot{Interval: expiry.Seconds(90061), ReceivedAt: now}, "1d 01:01", "expires by itself"},
		{"the longest there is", inventory.Slot{Interval: expiry.Seconds(4294967295), ReceivedAt: now}, "49710d", "expires by itself"},
		{"due", inventory.Slot{Interval: expiry.Seconds(5), ReceivedAt: now - 6000}, "due", "due"},
		{"still served", inventory.Slot{Interval: expiry.Seconds(5), ReceivedAt: now - 6000, Flags: inventory.FlagStillServed}, "due", "still served"},
		{"looks empty", inventory.Slot{Interval: expiry.None(), Size: 2, Flags: inventory.FlagLooksEmpty}, "never", "looks empty (2 B)"},
	} {
		if got := tui.Expires(&c.slot, now, &inventory.Link{}); got != c.expiry {
			t.Errorf("%s: expiry %q, want %q", c.name, got, c.expiry)
		}
		if got := readingText(&c.slot, now); got != c.reading {
			t.Errorf("%s: reading %q, want %q", c.name, got, c.reading)
		}
	}
}

func TestARowIsCutOnlyOnATerminal(t *testing.T) {
	for _, topic := range []string{strings.Repeat("level/", 40), strings.Repeat("\u65e5\u672c/", 30), strings.Repeat("\x1b", 60), "short"} {
		for _, width := range []int{0, 40, 80, 120} {
			for _, payload := range []bool{false, true} {
				for _, more := range []string{"…", "~"} {
					var out bytes.Buffer
					d := inventory.Detail{Slot: inventory.Slot{Topic: []byte(topic), Size: 2, Interval: expiry.Seconds(4294967295), Flags: inventory.FlagLooksEmpty}, Payload: []byte("\x1b[2J\n" + strings.Repeat("payload", 99))}
					if err := (table{w: &out, width: width, payload: payload, more: more}).row(&d, 0); err != nil {
						t.Fatal(err)
					}
					line := strings.TrimSuffix(out.String(), "\n")
					if width > 0 && textWidth(line) > width {
						t.Errorf("%d cells on a terminal of %d: %q", textWidth(line), width, line)
					}
					if width == 0 && (!strings.Contains(line, tui.Printable([]byte(topic))) || payload && !strings.Contains(line, strings.Repeat("payload", 99))) {
						t.Errorf("cut without a terminal: %q", line)
					}
					if strings.ContainsAny(line, "\x1b\n") || more == "~" && strings.Contains(line, "…") {
						t.Errorf("raw or with the wrong mark: %q", line)
					}
				}
			}
		}
	}
}

func TestThousandsAreGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1284: "1 284", 1000000: "1 000 000", -1234: "-1 234", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestTheProgressLineIsGoneAtTheEnd(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, limit: 20}
	p.show("scanning, 1 topics")
	p.show("short")
	p.show(strings.Repeat("x", 50))
	p.clear()
	p.clear()
	// Written over on one line: what stands at the end is the last of each column.
	screen := make([]rune, 60)
	col := 0
	for _, r := range out.String() {
		if r == '\r' {
			col = 0
			continue
		}
		screen[col] = r
		col++
		if col > 20 {
			t.Fatal("the line is longer than the terminal")
		}
	}
	if left := strings.Trim(strings.ReplaceAll(string(screen), "\x00", ""), " "); left != "" || col != 0 {
		t.Errorf("left on the screen: %q, column %d", left, col)
	}
	none := newProgress(&out)
	out.Reset()
	none.show("x")
	none.clear()
	if out.Len() > 0 {
		t.Errorf("written without a terminal: %q", out.String())
	}
}

func TestAScanThatWasStoppedSaysSo(t *testing.T) {
	c := cutShort(inventory.Coverage{Claim: inventory.Scanning, Known: -1}, time.Minute, 7)
	if c.Claim != inventory.Incomplete || c.Seen != 7 || !strings.Contains(reason(c), "--timeout 1m") {
		t.Errorf("%+v: %s", c, reason(c))
	}
	if c := cutShort(inventory.Coverage{Known: 5, KnownFrom: "x"}, time.Minute, 7); c.Known != -1 || c.KnownFrom != "" {
		t.Errorf("seen %d of %d", c.Seen, c.Known)
	}
	done := inventory.Coverage{Claim: inventory.Verified, EndedAt: time.Unix(1, 0)}
	if got := cutShort(done, time.Minute, 7); got.Claim != inventory.Verified {
		t.Errorf("a scan that had ended is %v", got.Claim)
	}
}

func TestUTF8IsBelievedOnlyWhenTheLocaleSaysIt(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{nil, true},
		{[]string{"LANG=C"}, true},
		{[]string{"LANG=de_DE.UTF-8"}, false},
		{[]string{"LANG=en_US.utf8", "LC_ALL=C"}, true},
		{[]string{"LANG=C", "LC_CTYPE=C.UTF-8"}, false},
		{[]string{"LANG=de_DE.UTF-8", "TERM=linux"}, true},
	} {
		p := &program{env: environ(c.env)}
		r := &resolved{}
		r.Screen.ASCII = "auto"
		if got := p.ascii(r); got != c.want {
			t.Errorf("%v: ascii %v", c.env, got)
		}
		r.Screen.ASCII = "false"
		if p.ascii(r) {
			t.Error("false is not obeyed")
		}
	}
}

func TestThePaddingOfATableLeavesTheTopicItsRoom(t *testing.T) {
	topic := "homeassistant/sensor/kitchen_lamp_power/config"
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte("x"), Interval: expiry.None(), ReceivedAt: 1000, Retain: true}})
	var out bytes.Buffer
	tb := table{w: &out, width: 80, more: "…"}
	if err := tb.fit(t.Context(), inv, inventory.Spec{}); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("measuring writes %q", out.String())
	}
	d := inventory.Detail{Slot: inventory.Slot{Topic: []byte(topic), Size: 1, Interval: expiry.None()}}
	if err := errors.Join(tb.head(), tb.row(&d, 0)); err != nil {
		t.Fatal(err)
	}
	want := "TOPIC                                           EXPIRY  SIZE  READING\n" + topic + "  never    1 B  never expires\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	tb.cols.reading, tb.cols.topic = 60, 200
	if n := tb.topicCells(); n != 80-6-4-readingWidth-6 {
		t.Errorf("beside long readings a long topic has %d cells", n)
	}
	if tb.cols.expiry = 15; tb.widths().expiry != 10 {
		t.Errorf("one interval of years makes the column %d wide", tb.widths().expiry)
	}
}

func TestASizeInASettingMayBeInThousandsToo(t *testing.T) {
	for text, want := range map[string]int64{"64kB": 64_000, "64KiB": 64 << 10, "2 MB": 2_000_000, "64000": 64_000} {
		var n int64
		v := sizeValue{&n, 1, 1 << 30}
		if err := v.take(text, true); err != nil || n != want {
			t.Errorf("%s is %d, want %d: %v", text, n, want, err)
		}
		if err := v.take(strings.Trim(v.show(), `"`), true); err != nil || n != want {
			t.Errorf("%s is shown as %s", text, v.show())
		}
	}
}
