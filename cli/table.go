package cli

// The list as a table for people: columns as in the screen, cut only where a terminal is too narrow.

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"retainscope/inventory"
	"retainscope/readings"
	"retainscope/tui"
)

// Widths of the columns behind the topic, and what a topic gets where nothing limits it.
const (
	expiryMost   = len("999d 02:03") // one interval of years is no reason to cut every topic
	expiryWidth  = 13
	liveWidth    = 11
	liveFrom     = 100 // cells of a terminal from which on there is room for it
	sizeWidth    = 9
	readingWidth = 26
	topicWidth   = 48
	narrowest    = 16
)

// table draws rows; width 0 means that nothing is cut.
type table struct {
	w       io.Writer
	width   int
	cols    *columns // nil: the widths above
	payload bool
	more    string // the mark of a cut
	reader  *readings.Reader
	memory  *memory
	link    *inventory.Link // by which the rows came
}

func (p *program) writeTable(ctx context.Context, w io.Writer, inv *inventory.Inventory, reader *readings.Reader, m *memory, spec inventory.Spec, payload bool, s Summary) error {
	t := table{w: w, payload: payload, more: "…", reader: reader, memory: m, link: &s.Link}
	if f, ok := p.stdout.file(); ok && !p.wide && term.IsTerminal(f.Fd()) {
		t.width = 80
		if n, _, err := term.GetSize(f.Fd()); err == nil && n > 0 {
			t.width = n
		}
		if !utf8Locale(p.env) {
			t.more = "~"
		}
	}
	if t.width > 0 {
		if err := t.fit(ctx, inv, spec); err != nil {
			return err
		}
	}
	if err := t.head(); err != nil {
		return err
	}
	var listed, never, expiring int64
	left := ""
	held := inv.Counts().Topics
	err := inv.Walk(ctx, spec, func(d inventory.Detail) error {
		listed++
		switch {
		case d.Flags.Has(inventory.FlagNever):
			never++
		case d.Flags.Has(inventory.FlagExpiring):
			expiring++
		}
		return t.row(&d, spec.Now)
	})
	if err != nil {
		return err
	}
	if c := inv.Counts(); c.Left+c.Hazards > 0 {
		left = "; of all, " + thousands(c.Left) + " look left behind, " + thousands(c.Hazards) + " a hazard"
	}
	kinds := thousands(expiring) + " expire, " + thousands(never) + " never"
	if s.Link.Limited() {
		kinds = "expiry unknown (" + s.Link.Protocol + ")"
	}
	what := thousands(listed) + " retained"
	switch {
	case held == 0 && !emptyByCount(s.Coverage):
		// Nothing left behind in what was not shown is no finding.
		what, kinds = "no retained topic was shown to this login", "so nothing was judged, which is no proof of an empty store"
	case listed < held:
		what = thousands(listed) + " listed of " + thousands(held) + " retained"
	}
	_, err = fmt.Fprintln(w, wrapped(fmt.Sprintf("%s, %s%s; %s", what, kinds, left, claimText(s.Coverage)), t.width, 0))
	for note := range strings.Lines(footnotes(s)) {
		if err == nil {
			_, err = fmt.Fprintln(w, wrapped(strings.TrimSuffix(note, "\n"), t.width, 0))
		}
	}
	return err
}

// emptyByCount reports whether the broker's own count says that there is nothing.
func emptyByCount(c inventory.Coverage) bool { return c.Claim == inventory.Verified && c.Known == 0 }

// footnotes are the sentences behind a claim: the rule that ended the scan, what explains a difference, what is true of
// this broker. Where the claim is not a good one the explanations stand on stderr.
func footnotes(s Summary) string {
	var b strings.Builder
	add := func(text string) {
		if text != "" {
			b.WriteString(sentence(text) + "\n")
		}
	}
	c := s.Coverage
	if verdict(c) == nil {
		add(c.Rule)
		for _, g := range c.Gaps {
			add(g.Text)
		}
	}
	for _, n := range c.Notes {
		add(n)
	}
	if s.Link.Insecure {
		add("The certificate of the broker was not checked (mqtt.insecure)")
	}
	return b.String()
}

func (t table) head() error {
	last := ""
	if t.payload {
		last = "PAYLOAD"
	}
	return t.line("TOPIC", t.beside("EXPIRY", "SEEN LIVE"), "SIZE", "READING", last)
}

func (t table) row(d *inventory.Detail, now int64) error {
	var topic, payload string
	if t.width > 0 {
		// Cut before it is made printable: never inside an escape, and without the work for what is not shown.
		topic = t.cut(d.Topic, t.topicCells())
	} else {
		topic = tui.Printable(d.Topic)
	}
	if t.payload {
		bytes := d.Payload
		if t.width > 0 {
			bytes = bytes[:min(len(bytes), 4*t.width)]
		}
		payload = tui.PrintableText(bytes)
	}
	return t.line(topic, t.beside(tui.Expires(&d.Slot, now, t.link), t.seenLive(&d.Slot, now)), tui.Size(int64(d.Size)), t.reading(&d.Slot, now), payload)
}

// showsLive reports whether there is a column of when topics were seen live: only a journal knows, and it needs room.
func (t table) showsLive() bool { return t.memory != nil && (t.width == 0 || t.width >= liveFrom) }

// expiryMost returns the most cells that EXPIRY gets.
func (t table) expiryMost() int {
	if t.link != nil && t.link.Limited() {
		return max(expiryMost, len("unknown (3.1.1)"))
	}
	return expiryMost
}

// beside puts what stands under SEEN LIVE behind what stands under EXPIRY.
func (t table) beside(expires, live string) string {
	if !t.showsLive() {
		return expires
	}
	return pad(expires, t.expiryMost()) + "  " + live
}

func (t table) seenLive(s *inventory.Slot, now int64) string {
	if !t.showsLive() {
		return ""
	}
	ago := time.Duration(now-s.LastLive) * time.Millisecond
	return tui.SeenLive(ago, s.LastLive != 0, t.memory.silent(s.Topic, s.FirstSeen, s.LastLive, now).Watched)
}

func (t table) cut(b []byte, width int) string {
	text, whole := tui.Cut(b, width)
	if !whole && t.more != "…" {
		text = strings.TrimSuffix(text, "…") + t.more
	}
	return text
}

func (t table) line(topic, expires, size, reading, payload string) error {
	if c := t.cols; c != nil && c.measuring {
		c.take(topic, expires, size, reading)
		return nil
	}
	w := t.widths()
	line := pad(topic, t.topicCells()) + "  " + pad(expires, w.expiry) + "  " + strings.Repeat(" ", max(0, w.size-textWidth(size))) + size + "  "
	if payload != "" {
		line += pad(reading, w.reading) + "  " + payload
	} else {
		line += reading
	}
	if t.width > 0 {
		line = ansi.Truncate(line, t.width, t.more)
	}
	_, err := io.WriteString(t.w, strings.TrimRight(line, " ")+"\n")
	return err
}

// reading says the reader's phrase where there is one, and what is odd about the message.
func (t table) reading(s *inventory.Slot, now int64) string {
	if t.reader != nil {
		if b, ok := t.reader.Brief(s.Topic, now); ok {
			return tui.PrintableText([]byte(b.Phrase)) + oddities(s, b.Phrase)
		}
	}
	return readingText(s, now)
}

// readingText says what expiry alone tells, and what is odd about the message.
func readingText(s *inventory.Slot, now int64) string {
	text := tui.ExpiryPhrase(s, now)
	return text + oddities(s, text)
}

// oddities adds to a phrase what it does not say already.
func oddities(s *inventory.Slot, said string) (text string) {
	for _, f := range []struct {
		flag inventory.Flags
		text string
	}{
		{inventory.FlagFell, "fell to never"},
		{inventory.FlagEmptyReplay, "empty replay"},
		{inventory.FlagLooksEmpty, "looks empty (" + tui.Size(int64(s.Size)) + ")"},
		{inventory.FlagOddName, "odd name"},
		{inventory.FlagCut, "payload cut"},
	} {
		if s.Flags.Has(f.flag) && !strings.HasPrefix(said, f.text[:min(len(f.text), len("looks empty"))]) {
			text += ", " + f.text
		}
	}
	return text
}

func claimText(c inventory.Coverage) string {
	text := c.Claim.String()
	if c.Claim == inventory.Verified && c.Missing() > 0 {
		text += " for this login"
	}
	if c.Known >= 0 {
		text += fmt.Sprintf(", seen %s of %s known to the broker", thousands(c.Seen), thousands(c.Known))
	}
	return text
}

// thousands writes 1 284.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// textWidth returns the cells a printable text takes.
func textWidth(s string) int { return ansi.StringWidth(s) }

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-textWidth(s)))
}
