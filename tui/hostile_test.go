package tui

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"retainscope/expiry"
	"retainscope/inventory"
)

// pieces are what hostile texts are made of.
var pieces = []string{
	"a", "/", " ", "\\", "\x1b[31m", "\x1b]0;title\a", "\x1b]52;c;YQ==\x1b\\", "\x1bP", "\x1b_", "\x1bc", "\x9b31m", "\u009b2J", "\r", "\n", "\t", "\b",
	"\x00", "\x7f", "\x07", "\u202e", "\u2066", "\u2069", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2028", "\u00a0", "\u3000", "\ufe0f", "\u0301",
	"\u0338", "温", "👨‍👩‍👧", "🇩🇪", "हिन्दी", "\u1100", "\u0d4e", "\u0600", "\xff", "\xc3", "\xed\xa0\x80", "\U000e0041", "\U0010ffff", "+", "#", "$", `"`, "{", "}", "│", "…",
}

func hostileText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// property writes one PUBLISH property as it is on the wire.
func property(id byte, texts ...string) []byte {
	out := []byte{id}
	for _, s := range texts {
		out = binary.BigEndian.AppendUint16(out, uint16(len(s)))
		out = append(out, s...)
	}
	return out
}

// TestNothingFromTheWireReachesTheTerminalRaw puts hostile bytes into every place that the wire can reach and looks at
// every frame on the way through the screens: stage.check fails on any control, format or invalid character.
func TestNothingFromTheWireReachesTheTerminalRaw(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		src := seenAll(watching())
		src.link.URL, src.link.User, src.link.Broker = "mqtt://"+hostileText(r, 6), hostileText(r, 6), hostileText(r, 9)
		src.link.Err, src.link.Progress, src.link.Protocol = hostileText(r, 9), hostileText(r, 9), hostileText(r, 3)
		src.cov.Rule, src.cov.KnownFrom = hostileText(r, 12), hostileText(r, 9)
		src.cov.Grants = []inventory.Grant{{Filter: hostileText(r, 9), Code: byte(r.IntN(256))}}
		src.cov.Gaps = []inventory.Gap{{Count: -1, Text: hostileText(r, 20)}}
		src.cov.Notes = []string{hostileText(r, 20), hostileText(r, 20)}
		src.cov.Remedies = []string{hostileText(r, 40)}
		src.cov.Claim = inventory.Claim(r.IntN(5))
		if seed%3 == 1 {
			src.link.State = inventory.Lost
		}
		src.link.Scanning = seed%4 == 2
		inv := inventory.New(inventory.Options{})
		for range 60 {
			p := retained(hostileText(r, 8), hostileText(r, 60), expiry.None())
			if r.IntN(2) == 0 {
				p.Interval = expiry.Seconds(r.Uint32N(200_000))
			}
			p.Properties = append(p.Properties, property(3, hostileText(r, 5))...)
			p.Properties = append(p.Properties, property(8, hostileText(r, 5))...)
			p.Properties = append(p.Properties, property(9, hostileText(r, 5))...)
			p.Properties = append(p.Properties, property(38, hostileText(r, 5), hostileText(r, 5))...)
			inv.Apply([]inventory.Publication{p})
			p.Origin, p.Payload = inventory.Live, []byte(hostileText(r, 60))
			p.ReceivedAt = at0.UnixMilli()
			if r.IntN(6) > 0 {
				inv.Apply([]inventory.Publication{p})
			}
		}
		width := []int{40, 80, 120, 160}[seed%4]
		s := newStage(t, src, inv, width, 30, func(o *Options) {
			if seed%5 == 4 {
				o.ASCII = true
			}
		})
		if seed%2 == 1 {
			s.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
		}
		if seed%3 == 0 {
			s.m.pen.pal = sixteen
		}
		s.keys("*")
		for range 30 {
			s.keys("down", "enter", "v", "v", "v", "down", "end", "n", "y", "e", "esc", "esc")
		}
		s.keys("t", "home", "pgdown", "pgdown", "s", "c", "pgdown", "5", "pgdown", "?", "pgdown", "1", "/")
		s.send(tea.PasteMsg{Content: hostileText(r, 30)})
		s.keys("home", "end", "enter", "o")
		s.tick(time.Second)
	}
}

func TestAPayloadOfEscapesIsShownAsText(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{retained("x", "a\x1b[31mred\a\r\nb\u202ec\x1b]0;t\a", expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("t", "enter", "v")
	s.wants(`a\x1b[31mred\x07\r`, `b\u202ec\x1b]0;t\x07`)
}

func TestPayloadsThatLookEmptyAreMarkedAsWhatTheyAre(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for topic, payload := range map[string]string{"a": `""`, "b": " ", "c": "null", "d": "{}", "e": "\x00"} {
		inv.Apply([]inventory.Publication{retained(topic, payload, expiry.None())})
	}
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("t")
	s.wants("looks empty (2 B)", "looks empty (1 B)", "looks empty (4 B)", "5 worth a look", " ! ")
	s.keys("down", "enter")
	s.wants(`\x20`)
	s.wantsProse("Looks empty: the payload of 1 B is a value like any other")
	s.keys("end", "n", "n", "n", "home")
	s.wants("00000000  00")
}

func TestAnEmptyReplayIsItsOwnState(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{retained("a", "", expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.wants("empty replay", "0 B")
	s.keys("enter")
	s.wantsProse("no proof that anybody cleared the topic")
}

func TestTopicsThatDifferNeverLookTheSame(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	names := []string{"/x", "x", "x/", "x//y", "x/y", "temp", "temp ", "te\u200bmp", "temp\t", `temp\t`}
	for _, n := range names {
		inv.Apply([]inventory.Publication{retained(n, "1", expiry.None())})
	}
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("t")
	seen := map[string]bool{}
	for _, l := range strings.Split(s.frame(), "\n") {
		if strings.Contains(l, "never expires") {
			seen[strings.TrimLeft(l[:30], "›! ")] = true
		}
	}
	if len(seen) != len(names) {
		t.Fatalf("%d rows look different, want %d:\n%s", len(seen), len(names), s.frame())
	}
}
