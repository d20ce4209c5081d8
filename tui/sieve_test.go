package tui

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// listener is a program that only hears.
type listener struct {
	mu    *sync.Mutex
	heard *[]string
}

func (l listener) Init() tea.Cmd  { return nil }
func (l listener) View() tea.View { return tea.NewView("") }
func (l listener) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		*l.heard = append(*l.heard, msg.String())
	case tea.PasteMsg:
		*l.heard = append(*l.heard, "paste "+msg.Content)
	case tea.ModeReportMsg:
		*l.heard = append(*l.heard, "mode")
	case tea.KeyboardEnhancementsMsg:
		*l.heard = append(*l.heard, "kitty")
	case tea.BackgroundColorMsg:
		*l.heard = append(*l.heard, "background "+msg.String())
	case tea.TerminalVersionMsg:
		*l.heard = append(*l.heard, "version "+msg.Name)
	case tea.CapabilityMsg:
		*l.heard = append(*l.heard, "capability "+msg.Content)
	}
	return l, nil
}

// typing is a terminal in invented time: every chunk is there pause after the one before.
type typing struct {
	s      sieve
	chunks chan string
}

func (k *typing) Read(b []byte) (int, error) {
	c, ok := <-k.chunks
	if !ok {
		return 0, io.EOF
	}
	out := k.s.pass(nil, []byte(c), time.Now())
	for k.s.asks {
		select {
		case c, ok = <-k.chunks:
			if !ok {
				return 0, io.EOF
			}
			out = k.s.pass(out, []byte(c), time.Now())
			continue
		case <-time.After(patience):
			out = k.s.silence(out)
		}
	}
	return copy(b, out), nil
}

// hears runs the library behind the sieve and returns what a program hears of the chunks, each sent pause after the
// one before.
func hears(t *testing.T, pause time.Duration, chunks ...string) (all []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var heard []string
		k := &typing{chunks: make(chan string)}
		p := tea.NewProgram(listener{&mu, &heard}, tea.WithInput(k), tea.WithOutput(io.Discard), tea.WithoutSignalHandler(),
			tea.WithoutRenderer(), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		for _, c := range chunks {
			for len(c) > 600 { // more than a terminal hands over at once
				k.chunks <- c[:600]
				c = c[600:]
			}
			k.chunks <- c
			<-time.After(pause)
		}
		<-time.After(time.Second)
		mu.Lock()
		all = append([]string(nil), heard...)
		mu.Unlock()
		close(k.chunks)
		p.Quit()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	return all
}

func TestOnePasteDoesNotKillTheKeyboard(t *testing.T) {
	for what, paste := range map[string]string{
		"a lone 0x90": "abc\x90def", "a lone 0x98": "abc\x98def", "a lone 0x9b": "abc\x9bdef", "a lone 0x9d": "abc\x9ddef",
		"a lone 0x9f": "abc\x9fdef", "0x90 in UTF-8": "abc\u0090def", "escape": "abc\x1bdef", "nul and ctrl+c": "ab\x00c\x03def",
	} {
		got := strings.Join(hears(t, 20*time.Millisecond, "\x1b[200~"+paste+"\x1b[201~", "z", "\x03"), ",")
		if got != "paste abcdef,z,ctrl+c" {
			t.Errorf("%s: %q", what, got)
		}
	}
	for intro := range strings.SplitSeq("P ] _ ^ X [", " ") {
		got := strings.Join(hears(t, 20*time.Millisecond, "\x1b[200~abc\x1b"+intro+"def\x1b[201~", "z", "\x03"), ",")
		if got != "paste abc"+intro+"def,z,ctrl+c" {
			t.Errorf("escape %s: %q", intro, got)
		}
	}
}

func TestACyrillicLetterInTwoReadsIsOneLetter(t *testing.T) {
	for _, pause := range []time.Duration{time.Millisecond, 80 * time.Millisecond, 400 * time.Millisecond} {
		if got := strings.Join(hears(t, pause, "\xd0", "\x90", "\x03"), ","); got != "А,ctrl+c" {
			t.Errorf("typed, after %v: %q", pause, got)
		}
		if got := strings.Join(hears(t, pause, "\x1b[20", "0~abc\xd0", "\x90def\x1b", "[201~", "\x03"), ","); got != "paste abcАdef,ctrl+c" {
			t.Errorf("pasted, after %v: %q", pause, got)
		}
	}
}

func TestAnUnfinishedSequenceSwallowsNoLaterKey(t *testing.T) {
	for _, begun := range []string{"\x90", "\x9b", "\x9d", "\x9f", "\x98", "\x9e", "\x1bP", "\x1bP1$r", "\x1b]", "\x1b]11;rgb:", "\x1b_", "\x1b_G",
		"\x1b^", "\x1bX", "\x1b[", "\x1b[1;", "\x1b[M", "\x1b[_", "\x1b[0;0;113_", "\x1bO", "\x1bO1", "\xd0", "\xf0\x9f", "\x1b\xd0", "\x1b]95;x\x1b\\", "\x1bP_\x1b\\"} {
		got := hears(t, 600*time.Millisecond, begun, "z", "\x03")
		if s := strings.Join(got, ","); !strings.HasSuffix(","+s, ",z,ctrl+c") {
			t.Errorf("%q and a pause: %q", begun, s)
		}
		got = hears(t, 0, begun, "\x03")
		if len(got) == 0 || got[len(got)-1] != "ctrl+c" {
			t.Errorf("%q and ctrl+c at once: %q", begun, got)
		}
		got = hears(t, 0, begun+"\x1b[99;5u")
		if len(got) == 0 || got[len(got)-1] != "ctrl+c" {
			t.Errorf("%q and ctrl+c as kitty sends it: %q", begun, got)
		}
	}
}

func TestAPasteWithoutAnEndEndsByItself(t *testing.T) {
	const begun = "\x1b[200~abc"
	for _, c := range []struct {
		pause time.Duration
		keys  []string
		want  string
	}{
		{stalePaste, []string{"z", "\x1b", "\x03"}, "paste abc,z,esc,ctrl+c"},
		{time.Millisecond, []string{"\x03"}, "paste abc,ctrl+c"},
		{time.Millisecond, []string{"\x1b[99;5u"}, "paste abc,ctrl+c"},
		{time.Millisecond, []string{"\x1b[99;133u"}, "paste abc,ctrl+c"},
		{time.Millisecond, []string{"\x03def\x1b[201~", "z"}, "paste abcdef,z"},
		{time.Millisecond, []string{"\x03\x1b[201~", "z"}, "paste abc,z"},
		{time.Millisecond, []string{"\x03\x1b[?20", "26;2$yd", "ef\x1b[201~", "z"}, "paste abc[?2026;2$ydef,z"},
	} {
		if got := strings.Join(hears(t, c.pause, append([]string{begun}, c.keys...)...), ","); got != c.want {
			t.Errorf("%q: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestAnAnswerOfTheTerminalAfterCtrlCDoesNotTakeItForText(t *testing.T) {
	const answers = "\x1b[?2026;2$y\x1b]11;rgb:1111/2222/3333\x1b\\\x1bP>|XTerm(390)\x1b\\"
	for _, end := range []string{"\x03", "\x1b[99;5u", "\x03\x03"} {
		want := "paste abc," + strings.Repeat("ctrl+c,", max(1, strings.Count(end, "\x03"))) + "mode,background #112233,version XTerm(390)"
		for _, c := range []struct {
			pause  time.Duration
			chunks []string
		}{
			{time.Millisecond, []string{"\x1b[200~abc" + end + answers}},
			{time.Millisecond, []string{"\x1b[200~abc", end, answers}},
			{patience / 2, []string{"\x1b[200~abc", end + answers[:4], answers[4:20], answers[20:]}},
			{2 * patience, []string{"\x1b[200~abc", end, answers}},
		} {
			if got := strings.Join(hears(t, c.pause, c.chunks...), ","); got != want {
				t.Errorf("%q: %q, want %q", c.chunks, got, want)
			}
		}
	}
}

func TestKeysAndAnswersPassTheSieve(t *testing.T) {
	for in, want := range map[string]string{
		"q": "q", "\x03": "ctrl+c", "\x1a": "ctrl+z", "\x1b": "esc", "\x1b\x1b": "esc,esc", "\x1b[27u": "esc", "\r": "enter", "\t": "tab", " ": "space",
		"\x7f": "backspace", "\x1b[A": "up", "\x1bOA": "up", "\x1b[1;5C": "ctrl+right", "\x1b[5~": "pgup", "\x1b[H": "home", "\x1bOF": "end",
		"\x1b[99;5u": "ctrl+c", "\x1b[113;1:1u": "q", "é": "é", "漢": "漢", "\x1bf": "alt+f", "\x1b\x7f": "alt+backspace",
		"\x1b[?2026;2$y": "mode", "\x1b[?1u": "kitty", "\x1b]11;rgb:1111/2222/3333\x07": "background #112233",
		"\x1b]11;rgb:1111/2222/3333\x1b\\": "background #112233", "\x1bP>|XTerm(390)\x1b\\": "version XTerm(390)",
		"\x1bP1+r524742\x1b\\": "capability RGB", "\x1b[?62;22c": "",
	} {
		if got := strings.Join(hears(t, 100*time.Millisecond, in), ","); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
		var bytes []string
		for _, b := range []byte(in) {
			bytes = append(bytes, string([]byte{b}))
		}
		if got := strings.Join(hears(t, 10*time.Millisecond, bytes...), ","); got != want {
			t.Errorf("%q byte by byte is %q, want %q", in, got, want)
		}
	}
}

// FuzzCtrlCAlwaysArrives: after any bytes, in any chunks, ctrl+c is heard: at once, and after a pause, in both forms.
func FuzzCtrlCAlwaysArrives(f *testing.F) {
	for _, s := range []string{"", "abc", "\x1b[200~abc\x90def\x1b[201~", "\x1b[200~\x1bP", "\x1bP1$r", "\x1b]11;", "\x90\x9b", "\x1b[M  ", "\x1b[0;0;3_", "\x1b[4294967496~x",
		"\x1b[2147483848~", "\x1b[2?00~x", "\xf0\x9f\x98", "\x1b\x1b[", "\x1b[200~\x1b[20", "\x1bO5", "\x1b[1$", "\x1b[27;5;", "\x1b[200~\x03\x03a", "\x1b[;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;u"} {
		f.Add([]byte(s), uint8(3), true)
		f.Add([]byte(s), uint8(200), false)
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8, kitty bool) {
		if len(stream) > 2048 {
			return
		}
		var chunks []string
		for s := string(stream); len(s) > 0; {
			n := min(len(s), 1+int(size))
			chunks = append(chunks, s[:n])
			s = s[n:]
		}
		end := "\x03"
		if kitty {
			end = "\x1b[99;5u"
		}
		for _, pause := range []time.Duration{0, patience / 2, stalePaste} {
			got := hears(t, pause, append(chunks, end)...)
			if len(got) == 0 || got[len(got)-1] != "ctrl+c" {
				t.Fatalf("%q in chunks of %d, pause %v: heard %q", stream, 1+int(size), pause, got)
			}
		}
	})
}

func TestASequenceOfManyNumbersDoesNotEndTheProgram(t *testing.T) {
	for _, in := range []string{"\x1b[" + strings.Repeat(";", 33) + "u", "\x1b[" + strings.Repeat("1:", 33) + "1u", "\x1bP1" + strings.Repeat(";", 33) + "+r\x1b\\"} {
		if got := strings.Join(hears(t, 100*time.Millisecond, in, "z"), ","); got != "z" {
			t.Errorf("%q: %q", in, got)
		}
	}
}
