package actions

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

var (
	noon      = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
	home      = BrokerID{URL: "mqtt://broker.lan", User: "operator", Identity: "mosquitto version 2.0.11"}
	somePrint = strings.Repeat("ab", 32)
)

const handWritten = `# our house
version = 1   # the only one there is
protect = [
  "zigbee2mqtt/bridge/#", # never touch
  'homeassistant/status',
]

[broker]
url = "mqtt://Broker.lan:1883"
user = "operator"
identity = "mosquitto version 2.0.11"

# The sensor that moved to the cellar.
[[topic]] # first
topic = "airthings/state" # renamed
owner = "airthings bridge"
purpose = 'last reading'
disposition = "clear"
reason = """
renamed in spring
"twice" """
approved_by = "kim"
approved_at = 2026-03-07 13:00:00+01:00
fingerprint = "abababababababababababababababababababababababababababababababab"

[[topic.writer]]
name = "bridge"
kind = "gateway"
state = "stopped"
evidence = "unit is masked"
evidence_at = 2026-03-07T11:00:00Z
will = "discarded"
# still to be asked
[[topic.writer]]
name = "cloud"

# a name nobody can type
[[topic]]
topic_hex = "2f00ff1b" # "/\x00\xff\x1b"
`

func mustParse(t testing.TB, text string) *Manifest {
	t.Helper()
	m, err := ParseManifest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManifestIsReadAsAPersonWroteIt(t *testing.T) {
	m := mustParse(t, handWritten)
	es := m.Entries()
	if len(es) != 2 || len(m.Protect()) != 2 || m.Broker().User != "operator" {
		t.Fatalf("read %d entries, %v", len(es), m.Protect())
	}
	e := es[0]
	want := Entry{
		Topic: []byte("airthings/state"), Owner: "airthings bridge", Purpose: "last reading", Disposition: Clear,
		Reason: "renamed in spring\n\"twice\" ", ApprovedBy: "kim", ApprovedAt: noon, Fingerprint: somePrint, Line: 14,
		Writers: []Writer{
			{Name: "bridge", Kind: Gateway, State: Stopped, Evidence: "unit is masked", EvidenceAt: noon.Add(-time.Hour), Will: WillDiscarded},
			{Name: "cloud"},
		},
	}
	if !e.ApprovedAt.Equal(noon) {
		t.Errorf("approved at %v", e.ApprovedAt)
	}
	e.ApprovedAt = noon
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	if string(es[1].Topic) != "/\x00\xff\x1b" || es[1].Refusal == nil || es[1].Disposition != Hold {
		t.Errorf("the name nobody can type: %+v", es[1])
	}
	if string(m.Text()) != handWritten {
		t.Error("the text did not come back")
	}
	if err := m.Broker().Same(home); err != nil {
		t.Error(err)
	}
}

func TestManifestSavingKeepsCommentsAndOrder(t *testing.T) {
	m := mustParse(t, handWritten)
	e, _ := m.Find([]byte("airthings/state"))
	e.Reason, e.Disposition = "", Preserve
	e.Writers = []Writer{e.Writers[1], {Name: "new one", Kind: Service, Will: WillPending, WillDelay: 30}}
	e.Writers[0].State = Fenced
	if err := m.Put(e); err != nil {
		t.Fatal(err)
	}
	if err := m.Put(Entry{Topic: []byte("rtl\u202e/x"), Owner: "o\"w\\ner\n\u200b"}); err != nil {
		t.Fatal(err)
	}
	got := string(m.Text())
	want := strings.NewReplacer(
		`disposition = "clear"`, `disposition = "preserve"`,
		"reason = \"\"\"\nrenamed in spring\n\"twice\" \"\"\"\n", "",
		"[[topic.writer]]\nname = \"bridge\"\nkind = \"gateway\"\nstate = \"stopped\"\nevidence = \"unit is masked\"\n"+
			"evidence_at = 2026-03-07T11:00:00Z\nwill = \"discarded\"\n", "",
		"name = \"cloud\"\n\n", "name = \"cloud\"\nkind = \"not stated\"\nstate = \"fenced\"\nwill = \"unknown\"\n\n"+
			"[[topic.writer]]\nname = \"new one\"\nkind = \"service\"\nstate = \"unknown\"\nwill = \"pending\"\nwill_delay = 30\n\n",
	).Replace(handWritten) + `
[[topic]]
topic_hex = "72746ce280ae2f78" # "rtl\u202e/x"
owner = "o\"w\\ner\n\u200B"
disposition = "hold"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	back, _ := m.Find([]byte("rtl\u202e/x"))
	if back.Owner != "o\"w\\ner\n\u200b" {
		t.Errorf("owner came back as %q", back.Owner)
	}
}

func TestManifestWhatIsTakenAwayLeavesItsCommentsWhereTheyWere(t *testing.T) {
	m := mustParse(t, `[broker]
url = 'mqtt://broker.lan:1883'
user = 'operator'
[[topic]]
topic = 'n'
# stays with n
[[topic]]
topic = 'a'
reason = 'x' # ask kim first
[[topic.writer]] # the old one
name = 'w'

# about b
[[topic]]
topic = 'b'`)
	if err := m.Put(Entry{Topic: []byte("a"), Owner: "o", Writers: []Writer{{Name: "v"}}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Put(Entry{Topic: []byte("n"), Writers: []Writer{{Name: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Put(Entry{Topic: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	want := `[broker]
url = 'mqtt://broker.lan:1883'
user = 'operator'
[[topic]]
topic = 'n'
disposition = "hold"
# stays with n

[[topic.writer]]
name = "x"
kind = "not stated"
state = "unknown"
will = "unknown"

[[topic]]
topic = 'a'
# ask kim first
owner = "o"
disposition = "hold"
# the old one

[[topic.writer]]
name = "v"
kind = "not stated"
state = "unknown"
will = "unknown"

# about b
[[topic]]
topic = 'b'

[[topic]]
topic = "c"
disposition = "hold"
`
	if got := string(m.Text()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestManifestErrorsNameTheLine(t *testing.T) {
	head := "version = 1\n[broker]\nurl = 'mqtt://x'\n"
	for _, c := range []struct{ name, text, want string }{
		{"an unknown key at the top", "versio = 1\n", `line 1: key versio is not known at the top of the file`},
		{"an unknown key in a topic", head + "[[topic]]\ntopic='a'\nowners='x'\n", `line 6: key owners is not known in [topic]`},
		{"an unknown key of a writer", head + "[[topic]]\ntopic='a'\n[[topic.writer]]\nname='w'\nwil='none'\n", `line 8: key wil is not known in [topic.writer]`},
		{"an unknown table", head + "[[topics]]\n", `line 4: table topics is not known`},
		{"a table with the wrong brackets", head + "[topic]\n", `line 4: a manifest holds [broker], [[topic]] and [[topic.writer]]`},
		{"two entries for one topic", head + "[[topic]]\ntopic='a'\n[[topic]]\ntopic_hex='61'\n", `line 6: topic "a" has two entries, on lines 4 and 6`},
		{"a topic named twice", head + "[[topic]]\ntopic='a'\ntopic_hex='61'\n", `line 6: the entry names its topic twice, first on line 5`},
		{"an entry without a topic", head + "[[topic]]\nowner='a'\n", `line 4: the entry names no topic`},
		{"a key twice", head + "[[topic]]\ntopic='a'\ntopic='a'\n", `line 6: key topic is here again, first on line 5`},
		{"[broker] twice", head + "[broker]\n", `line 4: [broker] is here again, first on line 2`},
		{"no broker", "[[topic]]\ntopic='a'\n", `the manifest names no broker`},
		{"a writer above every topic", head + "[[topic.writer]]\nname='w'\n", `line 4: a writer stands below the [[topic]]`},
		{"a writer without a name", head + "[[topic]]\ntopic='a'\n[[topic.writer]]\n", `line 6: the writer has no name`},
		{"a disposition that is none", head + "[[topic]]\ntopic='a'\ndisposition='delete'\n", `line 6: key disposition is "delete"; it is one of: hold, clear, preserve`},
		{"a number for a text", head + "[[topic]]\ntopic=5\n", `line 5: key topic wants a text, not a number`},
		{"a time without a zone", head + "[[topic]]\ntopic='a'\napproved_at=2026-01-02T03:04:05\n", `line 6: "2026-01-02T03:04:05" is not a time with a zone`},
		{"a will delay that is too long", head + "[[topic]]\ntopic='a'\n[[topic.writer]]\nname='w'\nwill_delay=4294967296\n", `line 8: will_delay is 4294967296`},
		{"another version", "version = 2\n", `line 1: version is 2`},
		{"a protect pattern that is none", "protect = ['a/#/b']\n", `line 1: protect pattern "a/#/b" is no topic filter`},
		{"a fingerprint that is none", head + "[[topic]]\ntopic='a'\nfingerprint='AB'\n", `line 6: fingerprint is not 64`},
		{"an inline table", "broker = {url='x'}\n", `line 1: an inline table is not read here`},
		{"a dotted key", "broker.url = 'x'\n", `line 1: a key with a dot is not read here`},
		{"a text that is not closed", "version = 1\nprotect = ['a\n", `line 2: the text is not closed`},
		{"a list that is not closed", "protect = ['a',\n", `line 2: the list is not closed`},
		{"something after a value", "version = 1 1\n", `line 1: "1" does not belong here`},
		{"bytes that are not UTF-8", head + "[[topic]]\ntopic='\xff'\n", `line 5: the line is not UTF-8: write such a topic as topic_hex`},
		{"a raw escape sequence", "# \x1b[31m\n", `line 1: the comment holds a control character`},
		{"a surrogate", `protect=["\ud800"]`, `line 1: \ud800 is not the number of a character`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(c.text))
			var me *ManifestError
			if !errors.As(err, &me) {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(me.Problems[0].String(), c.want) {
				t.Errorf("got  %s\nwant %s", me.Problems[0], c.want)
			}
		})
	}
}

func TestManifestEveryProblemIsNamedInOrder(t *testing.T) {
	_, err := ParseManifest([]byte("nope = 1\n[broker]\nurl = 'mqtt://x'\nport = 1\n"))
	var me *ManifestError
	if !errors.As(err, &me) || len(me.Problems) != 2 || me.Problems[1].Line != 4 || !strings.Contains(err.Error(), "and 1 more") {
		t.Errorf("got %v", err)
	}
}

// G1: exact topics with owner, purpose, writers, disposition; wildcards refused; unknown topics on hold.
func TestG1TopicsThatCannotBeAnEntryAreRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct{ topic, want string }{
		{"", "is empty"},
		{"a/+", "wildcard '+'"},
		{"a/#", "wildcard '#'"},
		{"a\x00b", "NUL"},
		{"$share/g/t", "shared subscription"},
		{strings.Repeat("a", 65536), "65536 bytes"},
	} {
		m := NewManifest(home)
		err := m.Put(Entry{Topic: []byte(c.topic), Disposition: Clear})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: got %v, want %q", c.topic, err, c.want)
		}
		text := string(NewManifest(home).Text()) + fmt.Sprintf("[[topic]]\ntopic_hex='%x'\ndisposition='clear'\n", c.topic)
		e := mustParse(t, text).Entries()[0]
		if e.Refusal == nil || e.CheckApproval() == nil {
			t.Errorf("%.20q: a hand-written entry was not refused", c.topic)
		}
	}
	for _, ok := range []string{"/", "/x", "x/", " ", "$aws/x", "a//b", "\xff\xfe", "a\x1bb", strings.Repeat("a", 65535)} {
		if err := RefuseTopic([]byte(ok)); err != nil {
			t.Errorf("%.20q: %v", ok, err)
		}
	}
}

func TestG1TopicBytesComeBackExactly(t *testing.T) {
	m := NewManifest(home)
	topics := []string{"/x", "x", "x/", "x//y", "x/y", "temp", "temp ", "\xff", "a\x1b[31mb", "rtl\u202ex", "z\u200bw", "नमस्ते", "\"q\"\\", "a\tb", "e\u0301", "\u00e9"}
	for _, s := range topics {
		if err := m.Put(Entry{Topic: []byte(s), Owner: s + "x"}); err != nil && s != "\xff" {
			t.Fatal(err)
		} else if s == "\xff" {
			if err := m.Put(Entry{Topic: []byte(s), Owner: "bytes"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	back := mustParse(t, string(m.Text())).Entries()
	for i, s := range topics {
		if string(back[i].Topic) != s {
			t.Errorf("%q came back as %q", s, back[i].Topic)
		}
	}
}

func TestManifestApprovalNeedsEverythingAPersonMustSay(t *testing.T) {
	full := Entry{Topic: []byte("a/b"), Owner: "o", Purpose: "p", Fingerprint: somePrint}
	protect, err := Protect([]string{"p/#"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Entry)
		want   string
	}{
		{"no owner", func(e *Entry) { e.Owner = "" }, "has no owner"},
		{"no purpose", func(e *Entry) { e.Purpose = "" }, "has no purpose"},
		{"no fingerprint", func(e *Entry) { e.Fingerprint = "" }, "no fingerprint"},
		{"a wildcard", func(e *Entry) { e.Topic = []byte("a/#") }, "wildcard"},
		{"protected by the configuration", func(e *Entry) { e.Topic = []byte("p/q") }, `protected by "p/#"`},
		{"of the broker itself", func(e *Entry) { e.Topic = []byte("$SYS/x") }, `protected by "$SYS/#"`},
	} {
		e := full.clone()
		c.change(&e)
		m := NewManifest(home)
		before := string(m.Text())
		if err := m.Approve(e, protect, Person{Login: "root", SudoUser: "kim"}, noon); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if string(m.Text()) != before {
			t.Errorf("%s: the manifest changed", c.name)
		}
	}
	m := NewManifest(home)
	if err := m.Approve(full, protect, Person{Login: "root", SudoUser: "kim"}, noon); err != nil {
		t.Fatal(err)
	}
	e, _ := m.Find(full.Topic)
	if e.ApprovedBy != "kim" || !e.ApprovedAt.Equal(noon) || e.CheckApproval() != nil {
		t.Errorf("approved as %+v", e)
	}
	if ok, err := m.Withdraw(full.Topic); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if e, _ := m.Find(full.Topic); e.Disposition != Hold || e.Fingerprint != "" || e.Owner != "o" {
		t.Errorf("withdrawn to %+v", e)
	}
}

// G2: each writer is stopped or fenced with evidence, its will included; else the retirement is provisional.
func TestG2WritersAndWillsDecideWhetherARetirementIsProvisional(t *testing.T) {
	good := Writer{Name: "w", Kind: Device, State: Stopped, Evidence: "unplugged", EvidenceAt: noon, Will: WillDiscarded}
	for _, c := range []struct {
		name   string
		change func(*Writer)
		want   string // "" = established
	}{
		{"stopped, will discarded by a normal disconnect", func(*Writer) {}, ""},
		{"fenced, no will", func(w *Writer) { w.State, w.Will = Fenced, WillNone }, ""},
		{"stopped, will fired already", func(w *Writer) { w.Will = WillFired }, ""},
		{"stopped, will pending", func(w *Writer) { w.Will, w.WillDelay = WillPending, 30 }, "still pending, with a delay of 30 s"},
		{"stopped, will unknown", func(w *Writer) { w.Will = WillUnknown }, "will of writer \"w\" is not known"},
		{"state unknown", func(w *Writer) { w.State = StateUnknown }, "not known to be stopped or fenced"},
		{"no evidence", func(w *Writer) { w.Evidence = "" }, "without evidence"},
		{"evidence without a time", func(w *Writer) { w.EvidenceAt = time.Time{} }, "has no time"},
	} {
		w := good
		c.change(&w)
		why := Entry{Writers: []Writer{w}}.Provisional()
		switch {
		case c.want == "" && len(why) > 0:
			t.Errorf("%s: provisional: %v", c.name, why)
		case c.want != "" && (len(why) != 1 || !strings.Contains(why[0], c.want)):
			t.Errorf("%s: got %v", c.name, why)
		}
	}
	if len((Entry{}).Provisional()) == 0 {
		t.Error("an entry without writers is not provisional")
	}
}

func TestBindingRefusesAnotherBroker(t *testing.T) {
	for _, c := range []struct {
		name  string
		other BrokerID
		want  string
	}{
		{"the same", home, ""},
		{"the port written out", BrokerID{"mqtt://BROKER.lan:1883/", "operator", home.Identity}, ""},
		{"by its other scheme name", BrokerID{"tcp://broker.lan", "operator", home.Identity}, ""},
		{"after an upgrade", BrokerID{home.URL, "operator", "mosquitto version 2.1.2"}, ""},
		{"that tells nothing of itself", BrokerID{home.URL, "operator", ""}, ""},
		{"another host", BrokerID{"mqtt://other.lan", "operator", home.Identity}, "another broker"},
		{"another port", BrokerID{"mqtt://broker.lan:1884", "operator", home.Identity}, "another broker"},
		{"another scheme", BrokerID{"mqtts://broker.lan:1883", "operator", home.Identity}, "another broker"},
		{"another login", BrokerID{home.URL, "", home.Identity}, "another login"},
		{"another product", BrokerID{home.URL, "operator", "flashmq 1.2"}, "another broker at the same address"},
	} {
		err := home.Same(c.other)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	here := BrokerID{URL: "mqtt://localhost"}
	if err := here.Same(BrokerID{URL: "mqtt://127.0.0.1:1883/"}); err != nil {
		t.Errorf("this machine by its other name: %v", err)
	}
	for raw, want := range map[string]string{
		"WS://[::1]/Path/": "ws://[::1]:80/Path", "unix:///run/m.sock": "unix:///run/m.sock", "ssl://Me:secret@H": "mqtts://h:8883",
		"no address": "no address", "x://H": "x://h",
	} {
		if got := CanonicalAddress(raw); got != want {
			t.Errorf("%s is %s, want %s", raw, got, want)
		}
	}
	if home.Drift(BrokerID{home.URL, "operator", "mosquitto version 2.1.2"}) == "" || home.Drift(home) != "" {
		t.Error("a version that changed is to be said, and only that")
	}
	m := mustParse(t, handWritten)
	if err := m.Bind(BrokerID{URL: "mqtt://elsewhere"}); err == nil {
		t.Error("a manifest with entries was bound to another broker")
	}
	if err := m.Bind(BrokerID{"mqtt://broker.lan", "operator", "mosquitto version 2.1.2"}); err != nil || m.Broker().Identity != "mosquitto version 2.1.2" {
		t.Errorf("after an upgrade: %v", err)
	}
}

// comments returns every comment of a manifest, also those on the line of a pair or a header, in order.
func comments(m *Manifest) []string {
	var all []string
	add := func(s string) { all = append(all, strings.TrimSpace(s)) }
	for _, s := range m.doc.sections {
		for _, n := range s.lead {
			add(n.raw)
		}
		if i := strings.IndexByte(s.header, '#'); i >= 0 {
			add(s.header[i:])
		}
		for _, n := range s.nodes {
			switch n.kind {
			case commentNode:
				add(n.raw)
			case pairNode:
				if i := strings.IndexByte(n.raw[n.to:], '#'); i >= 0 {
					add(n.raw[n.to+i:])
				}
			}
		}
	}
	return all
}

func FuzzManifest(f *testing.F) {
	f.Add(handWritten, "airthings/state", "x")
	f.Add("version=1", "a", "")
	f.Add("\uFEFF# c\r\nprotect = [ # in\r\n 'a', ]\r\n[broker]\r\nurl=\"\\u0041\"", "b\xff", "y\ny")
	f.Add("[broker]\nurl='x'\n[[topic]]\ntopic='a'#\n[[topic.writer]]\nname='''\nq''''# t\n", "a", "\u202e")
	f.Fuzz(func(t *testing.T, text, topic, words string) {
		m, err := ParseManifest([]byte(text))
		if err != nil {
			return
		}
		if string(m.Text()) != text {
			t.Fatalf("the text did not come back: %q", m.Text())
		}
		again := mustParse(t, string(m.Text()))
		if !reflect.DeepEqual(again.Entries(), m.Entries()) {
			t.Fatal("a second reading differs")
		}
		var generic map[string]any
		if _, err := toml.Decode(text, &generic); err != nil {
			t.Fatalf("accepted what is not TOML: %v\n%q", err, text)
		}
		was := comments(m)
		e := Entry{Topic: []byte(topic), Owner: words, Reason: words, ApprovedAt: noon, Writers: []Writer{{Name: "w" + words, Evidence: words}}}
		if old, ok := m.Find(e.Topic); ok {
			old.Owner, old.Disposition, e.Line = words, Preserve, old.Line
			old.Writers = append(old.Writers, e.Writers...)
			e = old
		}
		if err := m.Put(e); err != nil {
			if string(m.Text()) != text {
				t.Fatal("a refused entry changed the text")
			}
			return
		}
		for i, now := 0, comments(m); i < len(was); i++ {
			j := slices.Index(now, was[i])
			if j < 0 {
				t.Fatalf("comment %q is gone", was[i])
			}
			now = now[j+1:]
		}
		back := mustParse(t, string(m.Text()))
		got, ok := back.Find(e.Topic)
		if !ok || got.Owner != words {
			t.Fatalf("the entry did not come back: %+v", got)
		}
		if _, err := toml.Decode(string(m.Text()), &generic); err != nil {
			t.Fatalf("wrote what is not TOML: %v\n%q", err, m.Text())
		}
		once := string(m.Text())
		if err := m.Put(got); err != nil || string(m.Text()) != once {
			t.Fatalf("saving twice differs: %v\n%q\n%q", err, once, m.Text())
		}
	})
}
