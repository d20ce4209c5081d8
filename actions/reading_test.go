package actions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// counting is a Dir that counts what is read of its files.
type counting struct {
	*Dir
	bytes int64
}

type countingFile struct {
	ReadFile
	c *counting
}

func (c *counting) Open(name string) (ReadFile, error) {
	f, err := c.Dir.Open(name)
	if err != nil {
		return nil, err
	}
	return countingFile{f, c}, nil
}

func (f countingFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.ReadFile.ReadAt(b, at)
	f.c.bytes += int64(n)
	return n, err
}

// folder returns where the files of a bench on disk lie.
func (b *bench) folder() string { return b.store.(*Dir).path }

// list reads on, and reports what a desk that has read nothing yet would read.
func (b *bench) list() (kept, fresh Listed) {
	b.t.Helper()
	kept, err := b.desk.List(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if fresh, err = OpenDesk(b.store, "home.toml", b.clock).List(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return kept, fresh
}

func TestAfterAnActTheWholeRecordWasReadAgain(t *testing.T) {
	b := newBench(t)
	for range 40 {
		b.publish(retained(own, ownPayload))
		b.clear()
	}
	c := &counting{Dir: b.store.(*Dir)}
	b.desk = OpenDesk(c, "home.toml", b.clock)
	b.clearer.Desk = b.desk
	if l, err := b.desk.List(t.Context()); err != nil || len(l.Operations) != 40 {
		t.Fatalf("%d operations, %v", len(l.Operations), err)
	}
	whole := c.bytes
	for i := range 3 {
		b.publish(retained(own, ownPayload))
		b.clear()
		c.bytes = 0
		l, err := b.desk.List(t.Context())
		if err != nil || len(l.Operations) != 41+i || l.Operations[40+i].Verdict != ClearedVerified || !l.Check.OK() {
			t.Fatalf("%d operations, %s, %v", len(l.Operations), l.Check.Wrong(), err)
		}
		if c.bytes > whole/3 {
			t.Errorf("%d bytes of %d were read again", c.bytes, whole)
		}
	}
}

// What is read on is what is read anew, after every kind of act and every damage that the record itself tells of.
func TestReadingOnSaysWhatReadingAnewSays(t *testing.T) {
	b := newBench(t)
	var op Operation
	same := func(what string) {
		t.Helper()
		kept, fresh := b.list()
		if !reflect.DeepEqual(kept, fresh) {
			t.Errorf("after %s:\nread on   %+v\nread anew %+v", what, kept, fresh)
		}
		if !kept.Check.OK() {
			t.Errorf("after %s: %s", what, kept.Check.Wrong())
		}
	}
	append1 := func(name, text string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(b.folder(), name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	same("nothing")
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"a clear", func() { op = b.clear() }},
		{"a restore", func() { _, _ = b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID}) }},
		{"a recheck", func() { _, _ = b.clearer.Recheck(t.Context(), op.ID, "again") }},
		{"a half-written line", func() { append1(recordFile, `{"prev":"0`) }},
		{"the segment after it", func() { op = b.clear() }},
		{"an empty segment", func() { append1("home.record.3.jsonl", "") }},
		{"a line of another desk", func() {
			if _, err := OpenDesk(b.store, "home.toml", b.clock).append(t.Context(), func(int64) Line { return Line{Kind: "note"} }); err != nil {
				t.Fatal(err)
			}
		}},
		{"a segment that holds no whole line", func() { append1("home.record.3.jsonl", `{"prev`) }},
		{"a clear after that", func() { b.publish(retained(own, ownPayload)); op = b.clear() }},
		{"a head that is behind", func() {
			path := filepath.Join(b.folder(), "home.record.head")
			head, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b.publish(retained(own, ownPayload))
			b.clear()
			if err := os.WriteFile(path, head, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"nothing more", func() {}},
		{"a copy in the place of the file", func() { b.rewrite(recordFile, func(text []byte) []byte { return text }) }},
		{"a clear at the end", func() { b.publish(retained(own, ownPayload)); b.clear() }},
	} {
		step.do()
		same(step.what)
	}
}

// rewrite puts another file with this content in the place of one.
func (b *bench) rewrite(name string, change func([]byte) []byte) {
	b.t.Helper()
	path := filepath.Join(b.folder(), name)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+".new", change(text), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// overwrite changes a file where it lies.
func (b *bench) overwrite(name string, change func([]byte) []byte) {
	b.t.Helper()
	path := filepath.Join(b.folder(), name)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(text), 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestWhatWasDoneToARecordThatWasReadIsNoticedWhenItIsReadOn(t *testing.T) {
	replace := func(old, with string, n int) func([]byte) []byte {
		return func(text []byte) []byte {
			parts := bytes.Split(text, []byte(old))
			at := len(parts) - n
			return append(append(bytes.Join(parts[:at], []byte(old)), with...), bytes.Join(parts[at:], []byte(old))...)
		}
	}
	lines := func(n int) func([]byte) []byte { // the first n
		return func(text []byte) []byte { return bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:n], nil) }
	}
	for _, c := range []struct {
		name string
		hurt func(b *bench) // the record has 7 lines: the first 4 were read, then 3 were appended
		seq  int64
		why  string
	}{
		{"a line of the appended part", func(b *bench) { b.overwrite(recordFile, replace(`"size":20`, `"size":21`, 1)) }, 6, "it was changed"},
		{"the last line of the appended part", func(b *bench) {
			b.overwrite(recordFile, replace("cleared and verified", "cleared  and verified", 1))
		}, 7, "not the last line that the head digest names"},
		{"a line added by somebody else", func(b *bench) {
			b.overwrite(recordFile, func(text []byte) []byte {
				l := Line{Prev: somePrint, Seq: 8, Kind: LineRecheck}
				line, _ := l.encode()
				return append(append(text, line...), '\n')
			})
		}, 8, "it was changed"},
		{"the appended part taken away", func(b *bench) { b.overwrite(recordFile, lines(4)) }, 5, "taken away"},
		{"one line taken away", func(b *bench) { b.overwrite(recordFile, lines(6)) }, 7, "taken away"},
		{"more taken away than was appended", func(b *bench) { b.overwrite(recordFile, lines(2)) }, 3, "taken away"},
		{"all of it taken away", func(b *bench) { b.overwrite(recordFile, lines(0)) }, 1, "taken away"},
		{"more taken away, and the head with it", func(b *bench) {
			b.overwrite(recordFile, lines(2))
			if err := os.Remove(filepath.Join(b.folder(), "home.record.head")); err != nil {
				b.t.Fatal(err)
			}
		}, 3, "was read here before"},
		{"the line that was read last", func(b *bench) {
			b.overwrite(recordFile, replace("cleared and verified", "cleared  and verified", 2))
		}, 4, "another line was read here before"},
		{"another record that fits itself and its head", func(b *bench) {
			other := newBench(b.t)
			other.clearer.Tool = "another"
			other.clear()
			other.publish(retained(own, ownPayload))
			other.clear()
			for _, name := range []string{recordFile, "home.record.head"} {
				text, err := os.ReadFile(filepath.Join(other.folder(), name))
				if err != nil {
					b.t.Fatal(err)
				}
				b.rewrite(name, func([]byte) []byte { return text })
			}
		}, 4, "another line was read here before"},
		{"a head that names a line before", func(b *bench) {
			b.overwrite("home.record.head", func([]byte) []byte {
				return fmt.Appendf(nil, `{"lines":2,"sha256":"%s","at":"2026-03-07T12:00:00Z"}`, somePrint)
			})
		}, 7, "not the last line that the head digest names"},
		{"the files away", func(b *bench) {
			for _, name := range []string{recordFile, "home.record.head"} {
				if err := os.Remove(filepath.Join(b.folder(), name)); err != nil {
					b.t.Fatal(err)
				}
			}
		}, 1, "was read here before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.clear()
			if kept, _ := b.list(); kept.Lines != 4 || !kept.Check.OK() {
				t.Fatalf("%d lines: %s", kept.Lines, kept.Check.Wrong())
			}
			other := OpenDesk(b.store, "home.toml", b.clock)
			b.publish(retained(own, ownPayload))
			b.renew()
			b.clearer.Desk = other
			if op, err := b.clearer.Clear(t.Context(), b.request); err != nil || op.Verdict() != ClearedVerified {
				t.Fatal(op.Sentence(), err)
			}
			c.hurt(b)
			kept, _ := b.list()
			if bad := kept.Check.Bad; bad == nil || bad.Seq != c.seq || !strings.Contains(bad.Why, c.why) {
				t.Errorf("got %v, want line %d: %s", kept.Check.Bad, c.seq, c.why)
			}
		})
	}
}

// Before the line that was read last only a look at everything finds a change: that is what a start makes, and verify.
func TestAnEarlierLineThatWasChangedIsToldByTheNextStartAndByVerify(t *testing.T) {
	b := newBench(t)
	b.clear()
	b.list()
	b.overwrite(recordFile, func(text []byte) []byte {
		return bytes.Replace(text, []byte(`"size":20`), []byte(`"size":21`), 1)
	})
	b.publish(retained(own, ownPayload))
	b.clear()
	_, fresh := b.list()
	if bad := fresh.Check.Bad; bad == nil || bad.Seq != 3 {
		t.Errorf("the next start says %v", bad)
	}
	if v, err := b.desk.Verify(t.Context()); err != nil || v.Bad == nil || v.Bad.Seq != 3 {
		t.Errorf("verify says %v, %v", v.Bad, err)
	}
}

func TestAReadingThatWasLeftIsGoneOnWith(t *testing.T) {
	d := hundredThousand(t)
	ctx, leave := context.WithCancel(t.Context())
	if _, err := d.ListCounting(ctx, func(n int64) {
		if n > 40_000 {
			leave()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("left, and got %v", err)
	}
	first := int64(0)
	l, err := d.ListCounting(t.Context(), func(n int64) {
		if first == 0 {
			first = n
		}
	})
	if err != nil || len(l.Operations) != 33333 || l.Lines != 100_000 || !l.Check.OK() || first < 40_000 {
		t.Errorf("%d operations, %d lines, first %d: %s, %v", len(l.Operations), l.Lines, first, l.Check.Wrong(), err)
	}
}

func TestTheRecordIsReadByManyWhileItIsWritten(t *testing.T) {
	b := newBench(t)
	b.clear()
	const readers, lines = 4, 50
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for seen := int64(0); seen < 4+lines; {
				l, err := b.desk.List(t.Context())
				if err != nil || l.Lines < seen || l.Check.Wrong() != "" || len(l.Operations) != 1 {
					t.Errorf("%d lines after %d, %d operations: %s, %v", l.Lines, seen, len(l.Operations), l.Check.Wrong(), err)
					return
				}
				seen = l.Lines
				slices.Reverse(l.Operations) // what was returned belongs to whoever asked
				l.Operations[0].Sentence = ""
			}
		})
	}
	for range lines {
		if _, err := b.desk.append(t.Context(), func(int64) Line { return Line{Kind: "note"} }); err != nil {
			t.Error(err)
			break
		}
	}
	wg.Wait()
}

// BenchmarkListAfterAnAct100000 is what follows an act: the lines of one clear more.
func BenchmarkListAfterAnAct100000(b *testing.B) {
	d := hundredThousand(b)
	if _, err := d.List(b.Context()); err != nil {
		b.Fatal(err)
	}
	n := 33333
	for b.Loop() {
		b.StopTimer()
		n++
		for _, l := range []Line{{Kind: LineIntent, Intent: &Intent{Topic: Name(own)}}, {Kind: LineBaseline, Baseline: &Baseline{}}, {Kind: LineOutcome, Outcome: &Outcome{Verdict: ClearedVerified}}} {
			l.Operation = operationID(noon, int64(3*n))
			if _, err := d.append(b.Context(), func(int64) Line { return l }); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if l, err := d.List(b.Context()); err != nil || len(l.Operations) != n || !l.Check.OK() {
			b.Fatal(len(l.Operations), l.Check.Wrong(), err)
		}
	}
}
