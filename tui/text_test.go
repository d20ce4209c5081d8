package tui

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a plain topic stays", "home/kitchen/temp 1", "home/kitchen/temp 1"},
		{"empty", "", ""},
		{"escape sequence", "a\x1b[31mred", `a\x1b[31mred`},
		{"bell, carriage return, tab, newline, NUL, DEL", "\a\r\t\n\x00\x7f", `\x07\r\t\n\x00\x7f`},
		{"C1 as a code point", "a\u009bb", `a\u009bb`},
		{"a bare C1 byte is not UTF-8", "a\x9bb", `a\x9bb`},
		{"invalid UTF-8", "a\xff\xc3b\xe2\x82", `a\xff\xc3b\xe2\x82`},
		{"backslash is doubled", `a\x1b`, `a\\x1b`},
		{"bidirectional override", "x\u202etxt.evil\u202c", `x\u202etxt.evil\u202c`},
		{"isolates", "\u2066a\u2069", `\u2066a\u2069`},
		{"zero width", "zero\u200bwidth\u200c\u200d\u200e\u200f", `zero\u200bwidth\u200c\u200d\u200e\u200f`},
		{"byte order mark, soft hyphen, word joiner", "\ufeffa\u00adb\u2060", `\ufeffa\u00adb\u2060`},
		{"line and paragraph separator", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"tags", "a\U000e0041\U000e007f", `a\U000e0041\U000e007f`},
		{"fillers", "\u115f\u3164\uffa0\u034f", `\u115f\u3164\uffa0\u034f`},
		{"private use", "\ue000", `\ue000`},
		{"no-break and other spaces", "a\u00a0b\u2003c\u3000d\u202fe", `a\u00a0b\u2003c\u3000d\u202fe`},
		{"space at the end of the name", "temp ", `temp\x20`},
		{"spaces at the ends of levels", " a/ b /c  /d", `\x20a/\x20b\x20/c\x20\x20/d`},
		{"a level of spaces", "a/  /b", `a/\x20\x20/b`},
		{"empty levels stay", "/a//b/", "/a//b/"},
		{"letters of other scripts stay", "müsli/温度/हिन्दी", "müsli/温度/हिन्दी"},
		{"a combining mark on a letter stays", "e\u0301", "e\u0301"},
		{"a combining mark at the beginning does not reach what is before", "\u0301a", `\u0301a`},
		{"a combining mark does not hide a level separator", "a/\u0338b", `a/\u0338b`},
		{"a combining mark does not stand on a space", "a \u0338b", `a \u0338b`},
		{"a heap of marks is bounded", "e" + strings.Repeat("\u0301", 8), "e" + strings.Repeat("\u0301", 6) + `\u0301\u0301`},
		{"emoji with its selector stays", "\u2764\ufe0f", "\u2764\ufe0f"},
		{"a selector elsewhere is shown", "a\ufe0f1\ufe0f\ufe0e", `a\ufe0f1\ufe0f\ufe0e`},
		{"an emoji family is taken apart", "👨\u200d👩", "👨\\u200d👩"},
		{"skin tone stays", "👍🏽", "👍🏽"},
		{"a skin tone does not join an escape before it", "\xf0\x92\x80🏽", `\xf0\x92\x80\U0001f3fd`},
		{"nor a space, nor a level separator, nor our frame", "🏽 🏽/🏽", `\U0001f3fd \U0001f3fd/\U0001f3fd`},
		{"Thai with its vowel stays, the vowel alone is shown", "น้ำ/ำ", `น้ำ/\u0e33`},
		{"a voicing mark stays on its letter only", "ｶﾞ\x01ﾞ", `ｶﾞ\x01\uff9e`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Printable([]byte(c.in)); got != c.want {
				t.Errorf("Printable(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// A character that the renderer joins to the one before it must not begin anything that we write.
func TestNothingShownLeansOnWhatIsBeforeIt(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		shown := Printable([]byte(string(r)))
		if c, _ := ansi.FirstGraphemeCluster("0"+shown, ansi.GraphemeWidth); len(c) > 1 {
			t.Errorf("%U is shown as %q, which joins a character before it", r, shown)
		}
		if c, _ := ansi.FirstGraphemeCluster(shown+"0", ansi.GraphemeWidth); len(c) > len(shown) {
			t.Errorf("%U is shown as %q, which joins a character after it", r, shown)
		}
	}
}

func TestOnlyTheLastSpacesOfManyAreMarked(t *testing.T) {
	got := Printable([]byte("a" + strings.Repeat(" ", 100)))
	if want := "a" + strings.Repeat(" ", 35) + strings.Repeat(`\x20`, 65); got != want {
		t.Errorf("got %q", got)
	}
}

func TestPrintableTextKeepsBackslashesAndInnerSpaces(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b\n"}`:   `{"a":"b\n"}`,
		" ":             `\x20`,
		"  indented":    "  indented",
		"end  \nnext  ": `end\x20\x20\nnext\x20\x20`,
		"a / b":         "a / b",
		"\x1b]52;c;x\a": `\x1b]52;c;x\x07`,
		"\x00":          `\x00`,
	} {
		if got := PrintableText([]byte(in)); got != want {
			t.Errorf("PrintableText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
		whole bool
	}{
		{"abc", 3, "abc", true},
		{"abcd", 3, "ab…", false},
		{"abcd", 1, "…", false},
		{"abcd", 0, "", false},
		{"", 0, "", true},
		{"温度計", 6, "温度計", true},
		{"温度計", 5, "温度…", false},
		{"温度計", 4, "温…", false},
		{"a\x1bb", 4, "a…", false},
		{"a\x1bb", 5, "a…", false},
		{"a\x1bb", 6, `a\x1bb`, true},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", false},
	} {
		got, whole := Cut([]byte(c.in), c.width)
		if got != c.want || whole != c.whole {
			t.Errorf("Cut(%q, %d) = %q, %v, want %q, %v", c.in, c.width, got, whole, c.want, c.whole)
		}
	}
}

func TestCutMiddleKeepsBothEnds(t *testing.T) {
	out, w, whole := measure{}.cutMiddle(nil, []byte("homeassistant/sensor/gas2mqtt/counter_count/config"), 25, asName)
	if string(out) != "homeassis…er_count/config" || w != 25 || whole {
		t.Errorf("got %q, %d, %v", out, w, whole)
	}
	long := []byte("first/" + strings.Repeat("温\u0301", 30000) + "/last")
	out, w, _ = measure{}.cutMiddle(nil, long, 40, asName)
	if w > 40 || !bytes.HasPrefix(out, []byte("first/")) || !bytes.HasSuffix(out, []byte("/last")) {
		t.Errorf("got %q of %d cells", out, w)
	}
}

func TestAsciiOnlyEscapesEverythingElse(t *testing.T) {
	out, w, whole := measure{ascii: true}.cut(nil, []byte("müsli/温度"), 60, asName)
	if want := `m\u00fcsli/\u6e29\u5ea6`; string(out) != want || w != len(want) || !whole {
		t.Errorf("got %q, %d, %v", out, w, whole)
	}
}

func TestWrapAndLine(t *testing.T) {
	m := measure{}
	b := []byte("first line\nsecond, longer than the column\n\nlast\x1b ")
	var got []string
	at := m.wrap(b, 12, 100, asText)
	for i, off := range at {
		end := len(b)
		if i+1 < len(at) {
			end = at[i+1]
		}
		line, w := m.line(nil, b, off, end, asText)
		if w > 12 {
			t.Errorf("line %d has %d cells", i, w)
		}
		got = append(got, string(line))
	}
	want := []string{"first line", "second, long", "er than the ", "column", "", `last\x1b\x20`}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(m.wrap(bytes.Repeat([]byte("x\n"), 1000), 10, 50, asText)); n > 51 {
		t.Errorf("wrap went on to %d lines", n)
	}
}

// unescape is the inverse of Printable, so that a test can see that nothing was lost or made alike.
func unescape(t *testing.T, s string) []byte {
	t.Helper()
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			t.Fatalf("a bare backslash at the end of %q", s)
		}
		digits := 0
		switch s[i] {
		case '\\':
			out = append(out, '\\')
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			t.Fatalf("an unknown escape in %q", s)
		}
		if digits > 0 {
			v, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			i += digits
			if digits == 2 {
				out = append(out, byte(v))
			} else {
				out = utf8.AppendRune(out, rune(v))
			}
		}
	}
	return out
}

// safe fails when s holds anything that a terminal would act on, or that would be invisible.
func safe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U reached the screen: %q", r, s)
		}
	}
}

var hostile = []string{
	"", "a/b", "\x1b[31m\x1b]0;t\a", "\u202e\u2066\u200d", "温度/हिन्दी/👨‍👩‍👧", "\xff\xfe\xc3\x28", " a / b ", "e\u0301\u0301", "a/\u0338",
	"\x01🏽/ำ ﾞ", "1\ufe0f\u20e3", "🇩🇪🇩", "\u1100\u1161\u11a8", "\u0d4e a", `\\x1b`, "\u0600\u06dd1", "क्ष्म्य्र्क्ष्म्य्र", "\r\n\u2028",
}

func FuzzPrintable(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := Printable(b)
		safe(t, s)
		if back := unescape(t, s); !bytes.Equal(back, b) {
			t.Fatalf("%q came out as %q, which reads back as %q", b, s, back)
		}
		safe(t, PrintableText(b))
	})
}

func FuzzCut(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s), uint8(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, width uint8) {
		for _, m := range []measure{{}, {method: ansi.GraphemeWidth}, {ascii: true}} {
			for _, as := range []textKind{asName, asText} {
				for i, cut := range []func([]byte, []byte, int, textKind) ([]byte, int, bool){m.cut, m.cutMiddle} {
					out, w, _ := cut(nil, b, int(width), as)
					safe(t, string(out))
					// The renderer counts the same text between our own: the sum must be the same.
					if got := m.method.StringWidth(" " + string(out) + " │"); got != w+3 || w > int(width) {
						t.Fatalf("%q cut (%d) to %d is %q: said %d cells, the renderer sees %d", b, i, width, out, w, got-3)
					}
				}
				lines := m.wrap(b, int(width), 1<<20, as)
				for i, off := range lines {
					end := len(b)
					if i+1 < len(lines) {
						end = lines[i+1]
					}
					out, w := m.line(nil, b, off, end, as)
					safe(t, string(out))
					if got := m.method.StringWidth(" " + string(out) + " │"); got != w+3 {
						t.Fatalf("line %q of %q: said %d cells, the renderer sees %d", out, b, w, got-3)
					}
				}
			}
		}
	})
}

func BenchmarkCutPlain(b *testing.B) {
	topic := []byte("homeassistant/sensor/gas2mqtt/counter_count/config")
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst, _, _ = measure{}.cut(dst[:0], topic, 40, asName)
	}
}
