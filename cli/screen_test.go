//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"retainscope/demo"
	"retainscope/testbroker"
)

const (
	enterAlternate = "\x1b[?1049h"
	leaveAlternate = "\x1b[?1049l"
)

// TestLeftBehindOnATerminal shows the whole way from the broker to the screen of what looks left behind.
func TestLeftBehindOnATerminal(t *testing.T) {
	t.Parallel()
	s := open(t, 120, 40, nil, "demo")
	s.until("what looks left behind in the header", func(v string) bool { return strings.Contains(v, "look left behind") })
	s.press("2")
	s.until("the groups, hazards first", func(v string) bool {
		return strings.Contains(v, "by owner and device") && strings.Contains(v, "hazard: retained command")
	})
	s.press("b")
	s.until("the first levels", func(v string) bool { return strings.Contains(v, "with expiry") && strings.Contains(v, "homeassistant") })
	s.press("1")
	s.press("/")
	s.press("is:left owner:caldates birthday/state\r")
	s.until("one topic", func(v string) bool { return strings.Contains(v, "left: not named") })
	s.press("G")
	s.until("the reading of the birthday calendar", func(v string) bool {
		return strings.Contains(v, "unknown-name") && strings.Contains(v, "guessed by")
	})
	s.press("q")
	s.left()
}

// left checks that the program ended well and gave the terminal back.
func (s *terminal) left() {
	s.t.Helper()
	code, raw := s.ends()
	if code != 0 {
		s.t.Errorf("exit %d", code)
	}
	if strings.Count(raw, enterAlternate) == 0 || strings.LastIndex(raw, leaveAlternate) < strings.LastIndex(raw, enterAlternate) {
		s.t.Error("the terminal was not given back")
	}
	if strings.LastIndex(raw, "\x1b[?25h") < strings.LastIndex(raw, "\x1b[?25l") {
		s.t.Error("the cursor stays hidden")
	}
}

func TestTheDemoOnATerminal(t *testing.T) {
	t.Parallel()
	s := open(t, 120, 40, nil, "demo")
	s.until("the end of the scan", func(v string) bool {
		return strings.Contains(v, "known to the broker") && (strings.Contains(v, "Verified") || strings.Contains(v, "No sign of loss"))
	})
	s.press("g")
	s.until("the house as a tree", func(v string) bool { return strings.Contains(v, "airthings") && strings.Contains(v, "gas2mqtt") })

	t.Log("filter")
	s.press("/")
	s.press("gas2mqtt counter")
	s.until("the filtered topics alone", func(v string) bool {
		return strings.Contains(v, "gas2mqtt") && !strings.Contains(v, "airthings")
	})
	s.press("\r")
	s.until("the keys of the list", func(v string) bool { return strings.Contains(v, "/ filter") && strings.Contains(v, "q leave") })
	s.press("\x1b") // a key of its own: with another one close behind it would be alt and that key
	s.until("no filter", func(v string) bool { return !strings.Contains(v, "/ gas2mqtt") })
	s.press("g")
	s.shows("airthings")

	t.Log("tree and flat")
	s.press("t")
	s.until("a flat list", func(v string) bool {
		return strings.Contains(v, "flat, by topic") && strings.Contains(v, "caldates2mqtt/status")
	})
	s.press("t")
	s.until("a tree", func(v string) bool { return strings.Contains(v, "▸ caldates2mqtt") })

	t.Log("resize")
	s.resize(80, 24)
	s.until("a narrow screen", func(v string) bool {
		rows := strings.Split(v, "\n")
		return len(rows) <= 24 && strings.Contains(v, "TOPIC") && strings.Contains(rows[len(rows)-1]+rows[len(rows)-2], "leave")
	})
	s.resize(120, 40)
	s.until("a wide screen", func(v string) bool { return len(strings.Split(v, "\n")) > 30 && strings.Contains(v, "TOPIC") })

	t.Log("leave")
	s.press("q")
	s.left()
}

func TestTheDetailOfATopicOnARealBroker(t *testing.T) {
	t.Parallel()
	b := quick(t)
	fill(t, b.URL(), []demo.Message{
		{Topic: "lonely", Payload: []byte("{\"answer\":42}")},
		{Topic: "evil/\u202ename", Payload: []byte("\x1b[2J\x1b]0;owned\x07\rgone")},
	})
	dir := t.TempDir()
	s := open(t, 80, 24, nil, "--broker", b.URL(), "--export-dir", dir)
	s.shows("lonely")
	s.press("/lonely\r")
	s.until("one topic", func(v string) bool { return strings.Contains(v, "lonely") && !strings.Contains(v, "evil") })

	t.Log("detail")
	s.press("\r")
	s.until("its payload", func(v string) bool { return strings.Contains(v, "42") && strings.Contains(v, "SHA-256") })

	t.Log("export")
	s.press("e")
	s.shows("Export as JSON lines")
	s.press("\r")
	s.shows("Wrote 1 topic")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	if topics, _ := lines(t, outcome{out: string(raw)}); topics["lonely"].Payload == nil || *topics["lonely"].Payload != `{"answer":42}` {
		t.Errorf("the export holds %s", raw)
	}

	t.Log("leave")
	s.press("q")
	s.left()
	if strings.Contains(string(s.raw), "\x1b]0;owned") || strings.Contains(string(s.raw), "\x1b[2J\x1b]") {
		t.Error("a payload reached the terminal raw")
	}
}

func TestASignalLeavesTheTerminalInOrder(t *testing.T) {
	b := quick(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			s := open(t, 80, 24, nil, "--broker", b.URL())
			s.shows("MQTT 5")
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.left()
		})
	}
	t.Run("ctrl+c as a key", func(t *testing.T) {
		s := open(t, 80, 24, nil, "--broker", b.URL())
		s.shows("MQTT 5")
		s.press("\x03")
		s.left()
	})
}

// TestOnePasteDoesNotKillTheKeyboard: the built program, a real terminal, and what once made every later key unheard.
func TestOnePasteDoesNotKillTheKeyboard(t *testing.T) {
	b := quick(t)
	for what, parts := range map[string][]string{
		"a lone 0x90":              {"\x1b[200~abc\x90def\x1b[201~"},
		"a string that never ends": {"\x1b[200~abc\x1bPdef\x1b[201~"},
		"a letter in two reads":    {"\x1b[200~abc\xd0", "\x90def\x1b[201~"},
		"more numbers than fit":    {"\x1b[" + strings.Repeat(";", 40) + "u", "abcdef"},
		"a paste that never ends":  {"\x1b[200~abcdef"},
		"a paste that never ends, and behind ctrl+c an answer": {"\x1b[200~abcdef"},
		"an unfinished DCS as keys":                            {"abcdef", "\x1bP1$r"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := open(t, 80, 24, nil, "--broker", b.URL())
			s.shows("q leave")
			s.press("/")
			for _, part := range parts {
				s.press(part)
			}
			if !strings.HasPrefix(what, "a paste that never ends") {
				s.until("the pasted text", func(v string) bool {
					return strings.Contains(v, "abcdef") || strings.Contains(v, "abcPdef") || strings.Contains(v, "abcАdef")
				})
			}
			end := "\x03"
			if strings.HasSuffix(what, "an answer") {
				end += "\x1b[?2026;2$y"
			}
			s.press(end)
			s.left()
		})
	}
}

func TestAScreenEndsWhenItsTerminalIsGone(t *testing.T) {
	b := quick(t)
	s := open(t, 80, 24, nil, "--broker", b.URL())
	s.shows("MQTT 5")
	if err := s.pty.Close(); err != nil {
		t.Fatal(err)
	}
	s.ends()
}

func TestCtrlCWhileConnectingEndsAtOnceWithoutAScreen(t *testing.T) {
	s := open(t, 80, 24, nil, "--broker", scripted(t, nil), "--connect-timeout", "10m")
	s.shows("connecting to")
	s.press("\x03")
	code, raw := s.ends()
	if code != ExitInterrupted || strings.Contains(raw, enterAlternate) || !strings.Contains(raw, "interrupted") {
		t.Errorf("exit %d: %q", code, raw)
	}
}

func TestAScreenThatCannotConnectIsOneLineAndNoScreen(t *testing.T) {
	s := open(t, 80, 24, nil, "--broker", fmt.Sprintf("mqtt://127.0.0.1:%d", testbroker.FreePort(t)))
	code, raw := s.ends()
	if code != ExitFailed || strings.Contains(raw, enterAlternate) || !strings.Contains(raw, "retainscope: ") {
		t.Errorf("exit %d: %q", code, raw)
	}
}

func TestATerminalThatCannotShowAScreenIsToldOfList(t *testing.T) {
	for _, args := range [][]string{nil, {"demo"}} {
		s := open(t, 80, 24, []string{"TERM=dumb"}, args...)
		code, raw := s.ends()
		if code != ExitFailed || !strings.Contains(raw, "retainscope list") || strings.Contains(raw, "\x1b") {
			t.Errorf("%v: exit %d: %q", args, code, raw)
		}
		o := run(t, []string{"TERM=xterm"}, args...)
		if o.code != ExitFailed || !strings.Contains(o.errout, "retainscope list") || strings.Count(o.errout, "\n") != 1 {
			t.Errorf("%v without a terminal: exit %d: %q", args, o.code, o.errout)
		}
	}
}

func TestAListOnATerminalShowsProgressAndFits(t *testing.T) {
	t.Parallel()
	b := quick(t)
	fill(t, b.URL(), lastingHouse(t))
	s := open(t, 80, 24, []string{"TERM=dumb"}, "list", "--broker", b.URL(), "--payload")
	code, raw := s.ends()
	if code != 0 || !strings.Contains(raw, "scanning") {
		t.Errorf("exit %d, progress seen: %v", code, strings.Contains(raw, "scanning"))
	}
	if strings.Contains(raw, "\x1b") {
		t.Error("an escape sequence on a dumb terminal")
	}
	_, table, _ := strings.Cut(raw, "TOPIC")
	table, _, _ = strings.Cut(table, " retained, ") // sentences follow, which the terminal may wrap
	for _, line := range strings.Split(table, "\r\n") {
		if textWidth(line) > 80 {
			t.Errorf("a row of %d cells: %q", textWidth(line), line)
		}
	}
}

func TestThePasswordIsAskedForWithoutEcho(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1", "password_file " + passwords(t, "me", "right")}, ListenerLines: []string{"allow_anonymous false"}, NoAnonymous: true})
	retain(t, b, "me", "right")
	s := open(t, 80, 24, nil, "list", "--broker", b.URL(), "--user", "me", "--ask-password", "--quiet-time", "300ms")
	s.shows("password of me for mqtt://127.0.0.1")
	s.press("right\n")
	code, raw := s.ends()
	if code != 0 || strings.Contains(raw, "right") {
		t.Errorf("exit %d: %q", code, raw)
	}

	s = open(t, 80, 24, nil, "list", "--broker", b.URL(), "--user", "me", "--ask-password")
	s.shows("password of me")
	s.press("\x03")
	if code, raw := s.ends(); code != ExitInterrupted {
		t.Errorf("ctrl+c at the prompt: exit %d: %q", code, raw)
	}
}

func TestTheServedDemoIsEmptyWhenAskedTo(t *testing.T) {
	t.Parallel()
	address := serveDemo(t, "--empty")
	o := run(t, nil, "list", "--json", "--broker", address, "--quiet-time", "300ms")
	if topics, _ := lines(t, o); len(topics) != 0 {
		t.Errorf("%d topics", len(topics))
	}
	taken := strings.TrimPrefix(address, "mqtt://")
	if o := run(t, nil, "demo", "--serve", "--listen", taken); o.code != ExitFailed || strings.Count(o.errout, "\n") != 1 {
		t.Errorf("a taken port: exit %d: %q", o.code, o.errout)
	}
}

func TestTheHouseGoesIntoABrokerOnThisMachine(t *testing.T) {
	b := quick(t)
	o := run(t, nil, "demo", "--into", strings.Replace(b.URL(), "127.0.0.1", "localhost", 1))
	if o.code != ExitOK || !strings.HasPrefix(o.out, "330 topics") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if _, err := os.Stat(b.Dir); err != nil {
		t.Fatal(err)
	}
}
