package tui

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"retainscope/expiry"
	"retainscope/inventory"
)

// at0 is the instant at which every test begins.
var at0 = time.Date(2026, time.March, 14, 14, 2, 11, 0, time.UTC)

// source is a Source that says what a test wants it to say.
type source struct {
	link    inventory.Link
	cov     inventory.Coverage
	changed chan struct{}
	rescans int
	ask     func(ctx context.Context, topic []byte) (byte, bool, error)
}

func (s *source) Status() (inventory.Link, inventory.Coverage) { return s.link, s.cov }
func (s *source) Changed() <-chan struct{}                     { return s.changed }
func (s *source) Rescan()                                      { s.rescans++ }
func (s *source) Ask(ctx context.Context, topic []byte) (byte, bool, error) {
	return s.ask(ctx, topic)
}

func watching() *source {
	nothing := make(chan struct{})
	close(nothing) // nobody waits for it in these tests: they send what it would bring
	return &source{
		link: inventory.Link{State: inventory.Watching, Since: at0.Add(-10 * time.Second), URL: "mqtt://localhost:1883", User: "operator",
			Broker: "mosquitto version 2.0.11", Protocol: "5", ScanOf: -1},
		cov: inventory.Coverage{Claim: inventory.NoSignOfLoss, Rule: "the fence was answered, then 2 s of quiet; 168 kB on the wire", Known: -1, Dropped: -1,
			WireBytes: 168_000, Grants: []inventory.Grant{{Filter: "#"}}, StartedAt: at0.Add(-9 * time.Second), EndedAt: at0.Add(-6 * time.Second)},
		changed: nothing,
		ask:     func(context.Context, []byte) (byte, bool, error) { return 1, true, nil },
	}
}

// stage runs a model without a terminal: messages in, frames out, every command at once, a clock that only a test moves.
type stage struct {
	t      testing.TB
	m      *model
	now    time.Time
	src    *source
	inv    *inventory.Inventory
	w, h   int
	quit   bool
	said   []string // what was sent to the terminal past the frame: clipboard, suspend, clear
	timers []time.Duration
}

func newStage(t testing.TB, src *source, inv *inventory.Inventory, w, h int, change func(*Options)) *stage {
	t.Helper()
	s := &stage{t: t, now: at0, src: src, inv: inv, w: w, h: h}
	o := Options{Inventory: inv, Source: src, Version: "test", Now: func() time.Time { return s.now },
		Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}, ExportDir: "",
		Export: func(_ context.Context, _ Selection, w io.Writer, wrote func(int64)) error {
			wrote(1)
			_, err := io.WriteString(w, "{}\n")
			return err
		}}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s.m = newModel(ctx, o)
	s.m.pen.pal = palette{}
	s.m.timer = func(d time.Duration, _ int) tea.Cmd {
		s.timers = append(s.timers, d)
		return nil
	}
	first := s.m.Init()
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	s.run(first)
	return s
}

// send gives messages to the model and runs what follows from them.
func (s *stage) send(msgs ...tea.Msg) {
	s.t.Helper()
	for _, msg := range msgs {
		_, cmd := s.m.Update(msg)
		s.run(cmd)
		s.check()
	}
}

func (s *stage) run(cmd tea.Cmd) {
	s.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	case tea.QuitMsg:
		s.quit = true
	case listedMsg, workedMsg, detailMsg, laidMsg, askedMsg, exportedMsg, ghostsMsg, leftMsg, manifestMsg, nearMsg, decidedMsg, withdrawnMsg,
		actedMsg, watchedMsg, recordMsg, operationMsg, recheckedMsg, verifiedMsg, heldMarkMsg:
		s.send(msg)
	default:
		s.said = append(s.said, fmt.Sprintf("%T %v", msg, msg))
	}
}

// check holds for every frame: as many lines as the terminal, none wider, nothing a terminal would act on.
func (s *stage) check() {
	s.t.Helper()
	frame := s.m.View().Content
	lines := strings.Split(frame, "\n")
	if len(lines) > s.h || !s.m.lay.tiny && len(lines) != s.m.lay.h {
		s.t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), s.h, frame)
	}
	for i, l := range lines {
		if w := s.m.pen.m.method.StringWidth(l); w > s.w {
			s.t.Fatalf("line %d has %d cells of %d:\n%s", i, w, s.w, l)
		}
		for _, r := range unstyled(s.t, l) {
			if r < 0x20 || r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
				s.t.Fatalf("%U reached the screen: %q", r, l)
			}
		}
	}
}

// unstyled takes our own SGR sequences out of a line, and nothing else.
func unstyled(t testing.TB, line string) string {
	for _, p := range []palette{mono, sixteen} {
		v := reflect.ValueOf(p)
		for i := range v.NumField() {
			if f := v.Field(i).String(); f != "" {
				line = strings.ReplaceAll(line, f, "")
			}
		}
	}
	line = strings.ReplaceAll(line, sgrReset, "")
	if strings.Contains(line, "\x1b") {
		t.Fatalf("an escape sequence that is not ours: %q", line)
	}
	return line
}

// keys presses keys by name.
func (s *stage) keys(names ...string) {
	s.t.Helper()
	for _, n := range names {
		s.send(press(n))
	}
}

// types presses one key after the other for every character.
func (s *stage) types(text string) {
	s.t.Helper()
	for _, r := range text {
		s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func press(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"home": tea.KeyHome, "end": tea.KeyEnd, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
	}
	if c, ok := special[name]; ok {
		k := tea.KeyPressMsg{Code: c}
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// tick lets time pass and the timer fire.
func (s *stage) tick(d time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(d)
	s.send(tickMsg{s.m.wake.generation})
}

// frame returns what is on the screen, without spaces at the ends of lines.
func (s *stage) frame() string {
	lines := strings.Split(s.m.View().Content, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// line returns the first line of the screen that contains text.
func (s *stage) line(text string) string {
	for _, l := range strings.Split(s.frame(), "\n") {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

func (s *stage) wants(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.frame(), text) {
			s.t.Fatalf("%q is not on the screen:\n%s", text, s.frame())
		}
	}
}

// wantsProse is wants for sentences that may be wrapped anywhere.
func (s *stage) wantsProse(text string) {
	s.t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(s.frame()), " "), text) {
		s.t.Fatalf("%q is not on the screen:\n%s", text, s.frame())
	}
}

func (s *stage) lacks(text string) {
	s.t.Helper()
	if strings.Contains(s.frame(), text) {
		s.t.Fatalf("%q is on the screen:\n%s", text, s.frame())
	}
}

// retained is a replayed copy.
func retained(topic, payload string, i expiry.Interval) inventory.Publication {
	return inventory.Publication{Topic: []byte(topic), Payload: []byte(payload), Interval: i, Retain: true, Origin: inventory.Replay,
		ReceivedAt: at0.Add(-9 * time.Second).UnixMilli()}
}

// live is a publication seen while it happened, ago before the test begins.
func live(topic, payload string, i expiry.Interval, ago time.Duration) inventory.Publication {
	p := retained(topic, payload, i)
	p.Origin, p.ReceivedAt = inventory.Live, at0.Add(-ago).UnixMilli()
	return p
}

// house fills an inventory with the fixture house and a few things that happened while it was watched.
func house(t testing.TB) *inventory.Inventory {
	t.Helper()
	inv := inventory.New(inventory.Options{})
	f, err := os.Open("../demo/house.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	inv.BeginScan()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d struct {
			Topic, Payload, Encoding string
			Expiry                   *uint32
		}
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		p := retained(d.Topic, d.Payload, expiry.None())
		if d.Encoding == "base64" {
			if p.Payload, err = base64.StdEncoding.DecodeString(d.Payload); err != nil {
				t.Fatal(err)
			}
		}
		if d.Expiry != nil {
			p.Interval = expiry.Seconds(*d.Expiry)
		}
		inv.Apply([]inventory.Publication{p})
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	for _, ago := range []time.Duration{24 * time.Hour, 16 * time.Hour, 8 * time.Hour, 5 * time.Second} {
		inv.Apply([]inventory.Publication{live("gas2mqtt/counter/state", fmt.Sprintf(`{"count":%d,"trigger":"CLOSED"}`, 180240-int(ago/time.Hour)), expiry.Seconds(86400), ago)})
	}
	for _, ago := range []time.Duration{20 * time.Minute, 15 * time.Minute, 10 * time.Minute} {
		inv.Apply([]inventory.Publication{live("wallpanel2mqtt/panel/state", fmt.Sprintf(`{"brightness":%d}`, int(ago/time.Minute)), expiry.Seconds(900), ago)})
	}
	inv.Apply([]inventory.Publication{live("caldates2mqtt/garbage/state", `{"days":3}`, expiry.None(), 4*time.Second)})
	inv.Apply([]inventory.Publication{live("cmnd/gone/POWER", ``, expiry.None(), 3*time.Second)})
	return inv
}
