package inventory

import (
	"bytes"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
)

func TestAFilterMatchesWhatItSays(t *testing.T) {
	s := Slot{
		Topic: []byte("zigbee2mqtt/Kitchen Lamp/availability"), Size: 2048, Head: []byte("online"),
		Interval: expiry.Seconds(600), ReceivedAt: at, Flags: FlagExpiring | FlagLive | FlagLooksEmpty,
	}
	payload := []byte(`{"State":"ON"}`)
	for text, want := range map[string]bool{
		"": true, "   ": true,
		"kitchen": true, "KITCHEN": true, "kitchen lamp": true, "lamp kitchen": true, "kitchen door": false,
		`"kitchen lamp"`: true, `"lamp kitchen"`: false, `"Kitchen Lamp/"`: true, `kit"chen l"amp`: true,
		"-kitchen": false, "-door": true, `-"kitchen lamp"`: false, "--door": true,
		"zigbee*": true, "*availability": true, "*kitchen*avail*": true, "kitchen*": false, "*": true, "**": true,
		"zigbee*ability": true, "zigbee*ability*ability": false, "-*lamp*": false, "z*z": false,
		"zigbee2mqtt/+/availability": true, "zigbee2mqtt/#": true, "+/+/+": true, "+/+": false, "#": true,
		"Zigbee2mqtt/#": false, "zigbee2mqtt/+": false, "-zigbee2mqtt/#": false,
		"is:expiring": true, "is:never": false, "-is:never": true, "is:live": true, "is:empty": true, "is:odd": false,
		"is:live is:expiring": true, "is:live is:never": false,
		"size>1k": true, "size>2k": true, "size>=2Ki": true, "size>2Ki": false, "size=2048": true, "size=2048b": true, "size=2.048kB": true, "size=2KiB": true, "size<1m": true, "size<=1": false,
		"-size>1k":   false,
		"expiry<10m": true, "expiry<9m": false, "expiry>9m": true, "expiry<=1h": true, "expiry>1d": false,
		"payload:state": true, "payload:off": false, "-payload:off": true,
		`payload:"state":`: false, `"is:never"`: false, `-"is:never"`: true, `"payload:state"`: false,
		"re:^zigbee.*ity$": true, "re:[0-9]mqtt/[A-Z]": true, "re:^kitchen": false, "re:(?i)^ZIGBEE": true, "-re:lamp": true,
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := f.Match(s, payload, at+1000); got != want {
			t.Errorf("%q matches: %v", text, got)
		}
		if f.String() != text {
			t.Errorf("%q calls itself %q", text, f.String())
		}
	}
}

func TestARemainingTimeIsComparedOnlyWhereSomethingCountsDown(t *testing.T) {
	for _, i := range []expiry.Interval{expiry.None(), expiry.NotKnown()} {
		s := Slot{Topic: []byte("a"), Interval: i, ReceivedAt: at}
		if mustFilter("expiry<10w").Match(s, nil, at) || mustFilter("expiry>0s").Match(s, nil, at) || !mustFilter("-expiry<10w").Match(s, nil, at) {
			t.Errorf("%v was compared", i)
		}
	}
	s := Slot{Topic: []byte("a"), Interval: expiry.Seconds(10), ReceivedAt: at, StoppedAt: at + 2000}
	if !mustFilter("expiry>7s").Match(s, nil, at+9000) {
		t.Error("a stopped countdown went on")
	}
}

func TestAFilterThatCannotBeReadNamesTheWord(t *testing.T) {
	for text, word := range map[string]string{
		"a is:lost": "is:lost", "is:": "is:", "a -is:x b": "-is:x", "size>": "size>", "size>abc": "size>abc", "size<-1": "size<-1",
		"size>1x": "size>1x", "expiry<10y": "expiry<10y", "size>1e999": "size>1e999", "expiry=nan": "expiry=nan",
		"a/b+/c": "a/b+/c", "a/#/b": "a/#/b", "a#": "a#", "++": "++", "payload:": "payload:", "re:(": "re:(", `a "b c`: `"b c`,
		"-": "-", `""`: `""`, "a -": "-", "re:\x1b[": "re:\x1b[",
	} {
		f, err := ParseFilter(text)
		if err == nil {
			t.Errorf("%q was read as %v", text, f)
			continue
		}
		quoted := strings.ReplaceAll(strings.ReplaceAll(word, `"`, `\"`), "\x1b", `\x1b`)
		if !strings.Contains(err.Error(), quoted) {
			t.Errorf("%q: %v does not name %s", text, err, quoted)
		}
		if strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q: the error would reach a terminal raw", text)
		}
	}
}

func TestJoiningWordsWereLookedForAndFoundNothing(t *testing.T) {
	for text, want := range map[string]string{
		"is:odd OR is:empty": "re:ONE|OTHER", "a AND b": "leave it out", "NOT a": "write - in front", "a -OR": "re:ONE|OTHER",
	} {
		if _, err := ParseFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{`"OR"`, "or", "and", "ORDER"} {
		if _, err := ParseFilter(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhatIsCountedAsWorthALookCouldNotBeListed(t *testing.T) {
	f := mustFilter("is:marked")
	for flags, want := range map[Flags]bool{
		FlagStillServed: true, FlagFell: true, FlagEmptyReplay: true, FlagLooksEmpty: true, FlagOddName: true, FlagHazard: true,
		FlagNever: false, FlagLive | FlagChanged: false,
	} {
		if got := f.Match(Slot{Flags: flags}, nil, 0); got != want {
			t.Errorf("%v: %v", flags.Names(), got)
		}
	}
}

func TestAThousandIsAThousandAndKiIsNot(t *testing.T) {
	for text, want := range map[string]int64{
		"1k": 1000, "1kB": 1000, "1K": 1000, "1Ki": 1024, "1KiB": 1024, "1m": 1e6, "1Mi": 1 << 20, "1.5g": 1.5e9, "1GiB": 1 << 30, "7": 7, "7b": 7,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "i", "1i", "1ib", "ki", "1kk", "1bb", "1xi"} {
		if n, err := parseSize(text); err == nil {
			t.Errorf("%q was read as %d", text, n)
		}
	}
}

func TestSortKeysAreReadByName(t *testing.T) {
	for text, want := range map[string]struct {
		key  SortKey
		desc bool
	}{
		"": {ByTopic, false}, "topic": {ByTopic, false}, "-topic": {ByTopic, true}, "expiry": {ByExpiry, false},
		"size": {BySize, false}, "-live": {ByLive, true}, "received": {ByReceived, false},
	} {
		key, desc, err := ParseSort(text)
		if err != nil || key != want.key || desc != want.desc {
			t.Errorf("%q is %v, %v, %v", text, key, desc, err)
		}
	}
	for _, text := range []string{"x", "-", "Topic", "\xff", "sizes"} {
		if _, _, err := ParseSort(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if ByReceived.String() != "received" || SortKey(99).String() != "topic" {
		t.Error("sort keys have other names")
	}
}

func TestTopicFiltersOfMQTT(t *testing.T) {
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"sport/#", "sport", true}, {"sport/#", "sport/tennis/x", true}, {"sport/#", "sports", false},
		{"#", "a", true}, {"#", "/", true}, {"#", "$SYS/x", false}, {"+/x", "$SYS/x", false}, {"$SYS/#", "$SYS/x", true}, {"$SYS/#", "$SYS", true},
		{"+", "a", true}, {"+", "a/b", false}, {"+", "/", false}, {"+/+", "/", true}, {"/+", "/a", true}, {"+/+", "/a", true},
		{"a/+/c", "a/b/c", true}, {"a/+/c", "a//c", true}, {"a/+", "a", false}, {"a/+", "a/", true}, {"a/+/#", "a/b", true}, {"a/+/#", "a", false},
		{"a/#", "a/", true}, {"a/+", "A/b", false},
	} {
		f, err := parseTopicFilter([]byte(c.filter))
		if err != nil || f.match([]byte(c.topic)) != c.want {
			t.Errorf("%q on %q: %v, %v", c.filter, c.topic, !c.want, err)
		}
		if c.want && !bytes.Contains([]byte(c.topic), f.literal()) {
			t.Errorf("%q does not contain %q, which %q needs", c.topic, f.literal(), c.filter)
		}
	}
}

func TestTheLiteralOfAnExpressionIsInEveryMatch(t *testing.T) {
	for expr, want := range map[string]string{
		"welding.*temp": "welding", "^a/b$": "a/b", "(abc)+x": "abc", "(abc)*x": "x", "(abc)?": "", "abc|abd": "ab", "[0-9]+": "",
		"(?i)kitchen": "", "(?i)room": "room", "a{2}b": "a", "": "", "é": "", "(foo|bar)baz": "baz", "x(y(zzz))": "zzz",
	} {
		got := requiredLiteral(expr)
		if got != want && !(strings.EqualFold(got, want)) {
			t.Errorf("%q needs %q, want %q", expr, got, want)
		}
	}
}

// naive says again, in the plainest way, whether one word of a filter matches a topic.
func naive(word, topic string) (match, ok bool) {
	switch {
	case strings.ContainsAny(word, "+#"):
		levels, names := strings.Split(word, "/"), strings.Split(topic, "/")
		for i, l := range levels {
			if strings.ContainsAny(l, "+#") && len(l) > 1 || l == "#" && i < len(levels)-1 {
				return false, false
			}
		}
		if strings.HasPrefix(topic, "$") && (levels[0] == "+" || levels[0] == "#") {
			return false, true
		}
		for i, l := range levels {
			if l == "#" {
				return len(names) >= i, true
			}
			if i >= len(names) || l != "+" && l != names[i] {
				return false, true
			}
		}
		return len(levels) == len(names), true
	case strings.Contains(word, "*"):
		return naiveGlob(lower(word), lower(topic)), true
	default:
		return strings.Contains(lower(topic), lower(word)), true
	}
}

func naiveGlob(glob, text string) bool {
	switch {
	case glob == "":
		return text == ""
	case glob[0] == '*':
		return naiveGlob(glob[1:], text) || text != "" && naiveGlob(glob, text[1:])
	default:
		return text != "" && glob[0] == text[0] && naiveGlob(glob[1:], text[1:])
	}
}

// lower makes small letters of A to Z only.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

func FuzzFilterMatch(f *testing.F) {
	for _, s := range [][2]string{
		{"kitchen", "house/Kitchen/lamp"}, {"a/+/c", "a/b/c"}, {"#", "$SYS/x"}, {"*weld*temp*", "acme/welding/temp"}, {"a*a", "a"},
		{"z", "zzz"}, {"ab*", "abab"}, {"+", ""}, {"é", "É"}, {"K", "\u212a"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, word, topic string) {
		if len(word) > 12 || word == "" || topic == "" || len(topic) > 40 || strings.ContainsAny(word, " \t\r\n\"-:<>=") {
			return
		}
		want, ok := naive(word, topic)
		flt, err := ParseFilter(word)
		if (err == nil) != ok {
			t.Fatalf("%q: %v, readable %v", word, err, ok)
		}
		if err != nil {
			return
		}
		if got := flt.Match(Slot{Topic: []byte(topic)}, nil, 0); got != want {
			t.Fatalf("%q on %q: %v, want %v", word, topic, got, want)
		}
		// The same through a store, where it is looked for in the bytes of all topics.
		inv := New(Options{})
		others := []string{"aaa/bbb", topic, "zz" + topic, path.Join("q", "r"), topic + "/x"}
		for _, o := range others {
			inv.Apply([]Publication{{Topic: []byte(o), Payload: []byte("x"), Retain: true}})
		}
		n := 0
		seen := map[string]bool{}
		for _, o := range others {
			if m, _ := naive(word, o); m && !seen[o] {
				n++
			}
			seen[o] = true
		}
		if l := mustList(t, inv, Spec{Filter: flt}); l.Len() != n {
			t.Fatalf("%q finds %d of %q, want %d", word, l.Len(), others, n)
		}
	})
}

func TestTheFinderIsQuickOnRareBytesAndRightOnAll(t *testing.T) {
	topics := strings.Repeat("Acme/Lund/Assembly/Line-4/", 5)
	for _, text := range []string{"acme", "line-4/a", "4/", "/", "LUND/ASSEMBLY/LINE", "y/l", "nothing", "e-4/Acme/l"} {
		f := newFinder([]byte(text))
		if got, want := f.index([]byte(topics)), strings.Index(strings.ToLower(topics), strings.ToLower(text)); got != want {
			t.Errorf("%q is at %d, want %d", text, got, want)
		}
	}
	r := rand.New(rand.NewPCG(3, 9))
	alphabet := []byte("aAbBe/-@`\x00\x1f\x3f_\x7f\xc3\xa4")
	for range 200_000 {
		b := make([]byte, r.IntN(100))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		text := make([]byte, 1+r.IntN(4))
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		f, from := newFinder(text), r.IntN(len(b)+1)
		want := -1
		for i := from; i+len(text) <= len(b) && want < 0; i++ {
			if foldHasPrefix(b[i:], foldCopy(text)) {
				want = i
			}
		}
		if got := f.from(b, from); got != want {
			t.Fatalf("%q in %q from %d: %d, want %d", text, b, from, got, want)
		}
	}
	start := time.Now()
	if f := newFinder([]byte("temperature")); f.in(bytes.Repeat([]byte("abc/"), 1<<18)) || time.Since(start) > time.Minute {
		t.Error("slow or wrong")
	}
}
