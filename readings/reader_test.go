package readings

// The reader's own promises: what it imports, how much it reads at once, what expiry adds, what names look like.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"retainscope/expiry"
)

// TestThisRoomStaysPure fails when something but the standard library and the pure rooms is imported, a goroutine is
// started or a clock is read.
func TestThisRoomStaysPure(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	refused := []string{"os", "net", "io", "log", "log/slog", "context", "net/http", "os/exec"}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		test := strings.HasSuffix(name, "_test.go")
		for _, i := range file.Imports {
			switch path := strings.Trim(i.Path.Value, `"`); {
			case path == "retainscope/expiry", path == "retainscope/inventory":
			case strings.Contains(path, "."), strings.HasPrefix(path, "retainscope/"), !test && slices.Contains(refused, path):
				t.Errorf("%s imports %s", name, path)
			}
		}
		if test {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", name)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "After", "NewTimer", "Tick"}, n.Sel.Name) {
					t.Errorf("%s reads a clock: time.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestOneCallOfTouchedReadsAThousandTopics(t *testing.T) {
	r := store(t, []string{z2mOnline, "zigbee2mqtt/bridge/devices=[]"})
	for i := range 5000 {
		r.Put(fact(fmt.Sprintf("zigbee2mqtt/d%d", i), "1"))
	}
	drain(r, scanEnd)
	r.Put(fact("zigbee2mqtt/bridge/state", `{"state":"offline"}`))
	calls, told := 0, 0
	for more := true; more; calls++ {
		var topics [][]byte
		topics, more = r.Touched(nil, scanEnd)
		told += len(topics)
		if len(topics) > touchBudget {
			t.Fatalf("%d at once", len(topics))
		}
	}
	if told != 5002 || calls < 5 {
		t.Errorf("%d told in %d calls", told, calls)
	}
	if topics, more := r.Touched(nil, scanEnd); len(topics) != 0 || more {
		t.Errorf("told again of %d", len(topics))
	}
}

func TestWhatExpirySays(t *testing.T) {
	kept := Fact{Topic: []byte("a/b"), Payload: []byte("1"), Size: 1, Interval: expiry.Seconds(900), ReceivedAt: scanEnd, LastLive: scanEnd,
		History: expiry.History{Window: 900, Refreshes: 3, Gap: 300}}
	r := newReader(t)
	r.Put(kept)
	r.Watched(scanEnd, scanEnd)
	drain(r, scanEnd)
	for _, x := range []struct {
		after  int64
		phrase string
		finds  string
		told   bool
	}{
		{100, "kept alive", "", false}, {400, "one refresh missed", "refresh-missed medium", true}, {700, "two refreshes missed", "refresh-missed medium", false},
		{950, "due", "", true},
	} {
		told := drain(r, scanEnd+x.after*second)["a/b"]
		g, _ := r.Reading(kept.Topic, scanEnd+x.after*second)
		if have := strings.Join(findingNames(g), ", "); g.Phrase != x.phrase || have != x.finds || told != x.told || g.Left {
			t.Errorf("after %d s: %q %q told %v", x.after, g.Phrase, have, told)
		}
	}
	for _, x := range []struct {
		change func(*Fact)
		phrase string
		finds  string
	}{
		{func(f *Fact) { f.Interval, f.Fell = expiry.None(), true }, "fell back to never", "fell-back medium"},
		{func(f *Fact) { f.StillServed = true }, "past due, still served", "still-served medium"},
		{func(f *Fact) { f.Interval = expiry.NotKnown() }, "expiry not known", ""},
		{func(f *Fact) { f.Payload, f.Size, f.Interval = []byte("{}"), 2, expiry.None() }, "looks empty (2 bytes)", "looks-empty weak"},
		{func(f *Fact) { f.EmptyReplay, f.Payload, f.Size, f.Interval = true, nil, 0, expiry.None() }, "unknown owner", "empty-replay weak"},
	} {
		f := kept
		x.change(&f)
		r.Put(f)
		g, _ := r.Reading(f.Topic, scanEnd)
		if have := strings.Join(findingNames(g), ", "); g.Phrase != x.phrase || have != x.finds {
			t.Errorf("%q %q, want %q %q", g.Phrase, have, x.phrase, x.finds)
		}
	}
}

// TestAForeignWriteOnALivingTopicIsNotLeftBehind is a topic that an application keeps alive and somebody overwrote.
func TestAForeignWriteOnALivingTopicIsNotLeftBehind(t *testing.T) {
	r := newReader(t)
	app := fact("app/status", `{"status":"online","version":"1","devices":{"a":{"status":"ok"}}}`)
	app.Interval = expiry.Seconds(86400)
	r.Put(app)
	r.Put(fact("app/a/state", "1"))
	g, _ := r.Reading([]byte("app/a/state"), scanEnd)
	if g.Left || findingNames(g)[0] != "unstamped medium" {
		t.Errorf("%+v", g)
	}
}

func TestPrefixesShowWhoUsesExpiry(t *testing.T) {
	r := newReader(t)
	for i, x := range []struct {
		topic        string
		interval     expiry.Interval
		fell, gained bool
	}{
		{"a/1", expiry.Seconds(9), false, true}, {"a/2", expiry.None(), true, false}, {"a/3", expiry.None(), false, false}, {"b", expiry.NotKnown(), false, false}, {"/c/d", expiry.Seconds(1), false, false},
	} {
		f := fact(x.topic, "1")
		f.Interval, f.Fell, f.Gained, f.ReceivedAt = x.interval, x.fell, x.gained, scanEnd+int64(i)
		r.Put(f)
		r.Put(f)
	}
	want := []PrefixShare{{"a", 3, 1, 2, 1, 1}, {"/c", 1, 1, 0, 0, 0}, {"b", 1, 0, 0, 0, 0}}
	if got := r.Prefixes(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if s, ok := want[0].Share(); !ok || s != 1.0/3 {
		t.Error(s, ok)
	}
	if _, ok := want[2].Share(); ok {
		t.Error("a share of what is not known")
	}
}

func TestNamesThatLookAlike(t *testing.T) {
	for _, x := range []struct{ a, b string }{
		{"edge/zerowidth", "edge/zero\u200bwidth"}, {"caf\u00e9", "cafe\u0301"}, {"room", "r\u043eom"}, {"a b", "a\u00a0b"}, {"abc", "\uff41bc"}, {"a\u202eb", "ab"},
		{"\u1ec7", "\u1eb9\u0302"},
	} {
		r := store(t, []string{x.a + "=1", x.b + "=1"})
		for _, topic := range []string{x.a, x.b} {
			g, _ := r.Reading([]byte(topic), scanEnd)
			if !slices.Contains(findingNames(g), "look-alike medium") {
				t.Errorf("%+q of %+q: %q", topic, x, findingNames(g))
			}
		}
		r.Remove([]byte(x.a))
		if g, _ := r.Reading([]byte(x.b), scanEnd); slices.Contains(findingNames(g), "look-alike medium") {
			t.Errorf("%+q is alone and looks like another", x.b)
		}
	}
	r := store(t, []string{"café=1", "cafe=1", "naïve/\u200dx=1"})
	if g, _ := r.Reading([]byte("cafe"), scanEnd); len(g.Findings) != 0 {
		t.Errorf("an accent is seen: %q", findingNames(g))
	}
}

func TestKindsHaveNames(t *testing.T) {
	for _, name := range KindNames() {
		k, ok := ParseKind(name)
		if !ok || k.String() != name || name == "" {
			t.Errorf("%q", name)
		}
	}
	if _, ok := ParseKind(""); ok {
		t.Error("no name is no kind")
	}
}

// TestManyMayAskAtOnce is for the race detector.
func TestManyMayAskAtOnce(t *testing.T) {
	rows := house(t)
	r := newReader(t)
	var wait sync.WaitGroup
	for part := range 4 {
		wait.Go(func() {
			for i, x := range rows {
				if i%4 == part {
					r.Put(x.fact(scanEnd))
				} else {
					r.Brief([]byte(x.topic), scanEnd)
				}
				if i%50 == part {
					r.Groups(scanEnd)
					r.Touched(nil, scanEnd)
				}
			}
		})
	}
	wait.Wait()
	if n := r.Counts().Topics; n != len(rows) {
		t.Errorf("%d topics", n)
	}
}
