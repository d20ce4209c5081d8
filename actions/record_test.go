package actions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// memory is a Store in memory that can be full.
type memory struct {
	files  map[string][]byte
	locked bool
	room   int   // bytes that still fit, -1 = no bound
	sync   error // of Sync
	head   error // of Replace
}

func newMemory() *memory { return &memory{files: map[string][]byte{}, room: -1} }

func (m *memory) Names(prefix string) ([]string, error) {
	var names []string
	for n := range m.files {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n)
		}
	}
	return names, nil
}

type memoryFile struct {
	*bytes.Reader
}

func (f memoryFile) Close() error { return nil }

func (f memoryFile) Stat() (fs.FileInfo, error) {
	return fstest.MapFS{"f": {Data: make([]byte, f.Size())}}.Stat("f")
}

func (m *memory) Open(name string) (ReadFile, error) {
	b, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(slices.Clone(b))}, nil
}

type memoryAppend struct {
	m    *memory
	name string
}

func (m *memory) Append(name string) (AppendFile, error) {
	if _, ok := m.files[name]; !ok {
		m.files[name] = nil
	}
	return memoryAppend{m, name}, nil
}

var errFull = errors.New("no space left on device")

func (f memoryAppend) Write(b []byte) (int, error) {
	n := len(b)
	if f.m.room >= 0 && n > f.m.room {
		n = f.m.room
	}
	if f.m.room >= 0 {
		f.m.room -= n
	}
	f.m.files[f.name] = append(f.m.files[f.name], b[:n]...)
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func (f memoryAppend) Sync() error  { return f.m.sync }
func (f memoryAppend) Close() error { return nil }

func (m *memory) Replace(name string, content []byte) error {
	if m.head != nil {
		return m.head
	}
	m.files[name] = slices.Clone(content)
	return nil
}

func (m *memory) TryLock(string) (Lock, error) {
	if m.locked {
		return nil, ErrLocked
	}
	m.locked = true
	return memoryLock{m}, nil
}

func (m *memory) Holder(string) (string, bool, error) { return "", m.locked, nil }

type memoryLock struct{ m *memory }

func (l memoryLock) Sign(string) error { return nil }
func (l memoryLock) Release() error    { l.m.locked = false; return nil }

const recordFile = "home.record.jsonl"

// lines splits a segment.
func (m *memory) lines(name string) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(m.files[name], []byte("\n")), []byte("\n"))
}

func memoryBench(t testing.TB) (*bench, *memory) {
	m := newMemory()
	return newBenchOn(t, m), m
}

func TestRecordNamesTheFirstLineThatWasChanged(t *testing.T) {
	join := func(ls [][]byte) []byte { return append(bytes.TrimSuffix(bytes.Join(ls, nil), []byte("\n")), '\n') }
	for _, c := range []struct {
		name string
		hurt func(m *memory, ls [][]byte) // ls are the 7 lines of two clears and their segment
		line int64
		why  string
	}{
		{"a byte in the middle", func(m *memory, ls [][]byte) {
			ls[2] = bytes.Replace(ls[2], []byte(`"size":20`), []byte(`"size":21`), 1)
			m.files[recordFile] = join(ls)
		}, 3, "it was changed"},
		{"the first line", func(m *memory, ls [][]byte) {
			ls[0] = bytes.Replace(ls[0], []byte("a new record"), []byte("an old record"), 1)
			m.files[recordFile] = join(ls)
		}, 1, "it was changed"},
		{"the last line", func(m *memory, ls [][]byte) {
			ls[6] = bytes.Replace(ls[6], []byte("cleared and verified"), []byte("cleared  and verified"), 1)
			m.files[recordFile] = join(ls)
		}, 7, "not the last line that the head digest names"},
		{"the line before the last", func(m *memory, ls [][]byte) {
			ls[5] = bytes.Replace(ls[5], []byte(`"size":20`), []byte(`"size":21`), 1)
			m.files[recordFile] = join(ls)
		}, 6, "it was changed"},
		{"the digest that a line carries", func(m *memory, ls [][]byte) {
			ls[3] = append([]byte(prefixStart+somePrint), ls[3][len(prefixStart)+64:]...)
			m.files[recordFile] = join(ls)
		}, 4, "it was changed"},
		{"a line taken away", func(m *memory, ls [][]byte) {
			m.files[recordFile] = join(slices.Delete(ls, 3, 4))
		}, 4, "has the number 5"},
		{"two lines changed places", func(m *memory, ls [][]byte) {
			ls[1], ls[2] = ls[2], ls[1]
			m.files[recordFile] = join(ls)
		}, 2, "has the number 3"},
		{"the last line taken away", func(m *memory, ls [][]byte) {
			m.files[recordFile] = join(ls[:6])
		}, 7, "taken away"},
		{"the last three lines taken away", func(m *memory, ls [][]byte) {
			m.files[recordFile] = join(ls[:4])
		}, 5, "taken away"},
		{"the file cut in the middle of a line", func(m *memory, ls [][]byte) {
			m.files[recordFile] = append(join(ls[:4]), ls[4][:80]...)
		}, 5, "taken away"},
		{"the last line made none", func(m *memory, ls [][]byte) {
			ls[6] = []byte("hello\n")
			m.files[recordFile] = join(ls)
		}, 7, "no line of a record"},
		{"a line that is none", func(m *memory, ls [][]byte) {
			ls[4] = []byte("hello\n")
			m.files[recordFile] = join(ls)
		}, 5, "no line of a record"},
		{"a line cut short", func(m *memory, ls [][]byte) {
			ls[4] = append(ls[4][:len(ls[4])-10], '\n')
			m.files[recordFile] = join(ls)
		}, 5, "no line of a record"},
		{"a line added at the end", func(m *memory, ls [][]byte) {
			l := Line{Prev: digest(bytes.TrimSuffix(ls[6], []byte("\n"))), Seq: 9, Kind: LineRecheck}
			b, _ := l.encode()
			ls[6] = append(ls[6], 10)
			m.files[recordFile] = join(append(ls, append(b, 10)))
		}, 8, "has the number 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, m := memoryBench(t)
			b.clear()
			b.publish(retained(own, ownPayload))
			b.clear()
			if v := mustVerify(t, b.desk); v.Lines != 7 {
				t.Fatalf("%d lines", v.Lines)
			}
			c.hurt(m, m.lines(recordFile))
			fresh := OpenDesk(m, "home.toml", b.clock)
			v, err := fresh.Verify(t.Context())
			if err != nil || v.OK() || v.Bad == nil || v.Bad.Line != c.line || !strings.Contains(v.Bad.Why, c.why) {
				t.Errorf("got %v (%v), want line %d: %s", v.Bad, err, c.line, c.why)
			}
			// It never stops the tool, and what came after is told apart.
			b.desk, b.clearer.Desk = fresh, fresh
			b.publish(retained(own, ownPayload))
			if op := b.clear(); op.Verdict() != ClearedVerified {
				t.Errorf("afterwards: %s", op.Sentence())
			}
			v, err = fresh.Verify(t.Context())
			if err != nil || v.OK() {
				t.Errorf("a later clear hid it: %v", v.Bad)
			}
			if h, _, err := fresh.Head(); err != nil || c.name == "the last line made none" && h.Lines != v.Lines {
				t.Errorf("the head counts %d lines, there are %d (%v)", h.Lines, v.Lines, err)
			}
			if l, err := fresh.List(t.Context()); err != nil || len(l.Operations) == 0 {
				t.Errorf("the list shows %v, %v", l, err)
			}
		})
	}
}

func TestRecordAChangedByteAnywhereIsFound(t *testing.T) {
	b, m := memoryBench(t)
	b.clear()
	whole := slices.Clone(m.files[recordFile])
	for i := 0; i < len(whole); i += 7 {
		m.files[recordFile] = slices.Clone(whole)
		m.files[recordFile][i] ^= 0x01
		if v, err := OpenDesk(m, "home.toml", b.clock).Verify(t.Context()); err != nil || v.OK() {
			t.Fatalf("byte %d (%q) changed and the record verifies", i, whole[max(0, i-10):i+1])
		}
	}
	for i := 0; i < len(whole); i += 7 {
		m.files[recordFile] = whole[:i]
		v, err := OpenDesk(m, "home.toml", b.clock).Verify(t.Context())
		if err != nil || v.OK() {
			t.Fatalf("cut at byte %d and the record verifies", i)
		}
	}
}

func TestRecordAHalfWrittenLineBeginsANewSegmentAndIsTold(t *testing.T) {
	for _, cut := range []int{1, 50, 500} {
		b, m := memoryBench(t)
		b.clear()
		b.publish(retained(own, ownPayload))
		m.room = cut
		op := b.clear()
		if op.Outcome.Obstacle != RecordUnwritable || b.sends != 1 {
			t.Fatalf("%s, %d sends", op.Sentence(), b.sends)
		}
		m.room = -1
		b.desk = OpenDesk(m, "home.toml", b.clock)
		b.clearer.Desk = b.desk
		if op := b.clear(); op.Verdict() != ClearedVerified {
			t.Fatal(op.Sentence())
		}
		v := mustVerify(t, b.desk)
		if v.Segments != 2 || len(v.Reported) != 1 || !strings.Contains(v.Reported[0], "half written: "+Counted(cut, "byte")) {
			t.Errorf("%d segments, %v", v.Segments, v.Reported)
		}
		m.files[recordFile] = append(m.files[recordFile], 'x')
		if v, _ := b.desk.Verify(t.Context()); v.OK() {
			t.Error("the damage was changed and the record verifies")
		}
	}
}

// A full file system stops the clear before anything is sent, at whatever byte it is full; and the record verifies.
func TestRecordAFullFileSystemSendsNothing(t *testing.T) {
	b, m := memoryBench(t)
	b.clear()
	need := len(m.files[recordFile])
	for room := 0; room < need; room += 37 {
		b, m := memoryBench(t)
		m.room = room
		op, err := b.clearer.Clear(context.Background(), b.request)
		baseline := bytes.Contains(m.files[recordFile], []byte(`"kind":"baseline"`)) && bytes.Count(m.files[recordFile], []byte("\n")) >= 3
		switch {
		case baseline: // only the outcome did not fit
			if err == nil || op.Verdict() != ClearedVerified || b.sends != 1 {
				t.Errorf("room %d: %s, %d sends, %v", room, op.Sentence(), b.sends, err)
			}
		case op.Outcome.Obstacle != RecordUnwritable || b.sends != 0:
			t.Errorf("room %d: %s, %d sends, %v", room, op.Sentence(), b.sends, err)
		}
		m.room = -1
		after := OpenDesk(m, "home.toml", b.clock)
		l, err := after.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Operations {
			if !s.Open || s.Verdict != Unknown || s.SentNothing == baseline {
				t.Errorf("room %d: the record says %+v", room, s)
			}
		}
		if v, err := after.Verify(t.Context()); err != nil || v.Bad != nil {
			t.Errorf("room %d: %v %v", room, v.Bad, err)
		}
	}
}

func TestRecordWhatCannotBeSyncedIsNotWritten(t *testing.T) {
	for name, set := range map[string]func(*memory){
		"the line": func(m *memory) { m.sync = errors.New("input/output error") },
		"the head": func(m *memory) { m.head = errors.New("read-only file system") },
	} {
		b, m := memoryBench(t)
		set(m)
		op := b.clear()
		if op.Outcome.Obstacle != RecordUnwritable || b.sends != 0 {
			t.Errorf("%s: %s, %d sends", name, op.Sentence(), b.sends)
		}
		m.sync, m.head = nil, nil
		b.desk = OpenDesk(m, "home.toml", b.clock)
		b.clearer.Desk = b.desk
		if op := b.clear(); op.Verdict() != ClearedVerified {
			t.Errorf("%s: afterwards %s", name, op.Sentence())
		}
		mustVerify(t, b.desk)
	}
}

func TestRecordAnOutcomeThatStandsWasSaidToBeMissing(t *testing.T) {
	b, m := memoryBench(t)
	full := func() { m.head = errFull }
	b.onSend = full
	op, err := b.clearer.Clear(context.Background(), b.request)
	want := "the outcome of operation " + op.ID + " (cleared and verified) is in the record, but the head digest beside it could not be written"
	if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, errFull) {
		t.Errorf("the clear says %v", err)
	}
	m.head = nil
	if op, err = b.desk.Operation(t.Context(), op.ID); err != nil || op.Verdict() != ClearedVerified {
		t.Errorf("the record says %s (%v)", op.Sentence(), err)
	}
	_, err = b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "kim"})
	if err == nil || !strings.Contains(err.Error(), "(restored) is in the record, but the head digest") {
		t.Errorf("the restore says %v", err)
	}
}

// endless is a store whose record ends with a quarter of a gigabyte without a line end.
type endless struct{ *memory }

type endlessFile struct {
	ReadFile
	lines int64
}

const endlessTail = 256 << 20

func (e endless) Open(name string) (ReadFile, error) {
	f, err := e.memory.Open(name)
	if err != nil || name != recordFile {
		return f, err
	}
	lines, err := sizeOf(f)
	return endlessFile{f, lines}, err
}

type endlessInfo struct {
	fs.FileInfo
	size int64
}

func (i endlessInfo) Size() int64 { return i.size }

func (f endlessFile) Stat() (fs.FileInfo, error) {
	info, err := f.ReadFile.Stat()
	return endlessInfo{info, f.lines + endlessTail}, err
}

func (f endlessFile) ReadAt(b []byte, offset int64) (int, error) {
	n := 0
	if offset < f.lines {
		n, _ = f.ReadFile.ReadAt(b[:min(int64(len(b)), f.lines-offset)], offset)
	}
	clear(b[n:])
	if over := offset + int64(len(b)) - f.lines - endlessTail; over > 0 {
		return len(b) - int(over), io.EOF
	}
	return len(b), nil
}

func TestRecordATailWithoutAnEndWasTakenIntoMemory(t *testing.T) {
	b, m := memoryBench(t)
	b.clear()
	desk := OpenDesk(endless{m}, "home.toml", b.clock)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := desk.List(t.Context())
	if err != nil || len(l.Operations) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	v, err := desk.Verify(t.Context())
	if err != nil || !strings.Contains(strings.Join(v.Reported, ""), fmt.Sprint(endlessTail)) {
		t.Errorf("%+v, %v", v, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d MiB were allocated", took>>20)
	}
}

func TestRecordAHeadThatIsBehindIsNoSignOfTampering(t *testing.T) {
	for behind := 1; behind <= 3; behind++ {
		b, m := memoryBench(t)
		b.clear()
		head := slices.Clone(m.files["home.record.head"])
		for range behind {
			if _, err := b.desk.append(t.Context(), func(int64) Line { return Line{Kind: "note"} }); err != nil {
				t.Fatal(err)
			}
		}
		m.files["home.record.head"] = head
		fresh := OpenDesk(m, "home.toml", b.clock)
		if v := mustVerify(t, fresh); !strings.Contains(v.Head, Counted(behind, "line")+" behind") {
			t.Error(v.Head)
		}
		if _, err := fresh.append(t.Context(), func(int64) Line { return Line{Kind: "note"} }); err != nil {
			t.Fatal(err)
		}
		if v := mustVerify(t, fresh); v.Segments != 1 {
			t.Errorf("%d segments: %v", v.Segments, v.Reported)
		}
	}
}

func TestRecordWithoutAHeadSaysWhatCannotBeTold(t *testing.T) {
	b, m := memoryBench(t)
	b.clear()
	delete(m.files, "home.record.head")
	v, err := OpenDesk(m, "home.toml", b.clock).Verify(t.Context())
	if err != nil || v.OK() || v.Bad != nil || !strings.Contains(v.Head, "cannot be told") {
		t.Errorf("%+v %v", v, err)
	}
}

func TestRecordAMissingOrEmptySegment(t *testing.T) {
	b, m := memoryBench(t)
	b.clear()
	m.files["home.record.2.jsonl"] = nil // the power went right after the file was made
	b.desk = OpenDesk(m, "home.toml", b.clock)
	b.clearer.Desk = b.desk
	b.publish(retained(own, ownPayload))
	b.clear()
	if v := mustVerify(t, b.desk); v.Segments != 2 || v.Lines != 8 {
		t.Errorf("%d segments, %d lines", v.Segments, v.Lines)
	}
	delete(m.files, recordFile)
	if v, err := b.desk.Verify(t.Context()); err != nil || v.Bad == nil || !strings.Contains(v.Bad.Why, "missing") {
		t.Errorf("%v %v", v.Bad, err)
	}
}

func TestRecordTwoProcessesContinueOneChain(t *testing.T) {
	b := newBench(t)
	other := OpenDesk(b.store, "home.toml", b.clock)
	for i := range 6 {
		d := []*Desk{b.desk, other}[i%2]
		if _, err := d.append(t.Context(), func(int64) Line { return Line{Kind: "note"} }); err != nil {
			t.Fatal(err)
		}
	}
	if v := mustVerify(t, b.desk); v.Lines != 7 || v.Segments != 1 {
		t.Errorf("%d lines, %d segments", v.Lines, v.Segments)
	}
}

func TestRecordIsForTheOwnerAlone(t *testing.T) {
	b := newBench(t)
	b.clear()
	dir := b.store.(*Dir).path
	for _, name := range []string{recordFile, "home.record.head", "home.toml", "home.lock"} {
		i, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if i.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, i.Mode())
		}
	}
}

func TestManifestKeepsItsModeAndItsLink(t *testing.T) {
	b := newBench(t)
	dir := b.store.(*Dir).path
	file := filepath.Join(dir, "real.toml")
	if err := os.Rename(filepath.Join(dir, "home.toml"), file); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(file, 0o640), os.Symlink("real.toml", filepath.Join(dir, "home.toml"))); err != nil {
		t.Fatal(err)
	}
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	b.approve(m, neighbour)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	link, err := os.Lstat(filepath.Join(dir, "home.toml"))
	if err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v (%v)", link, err)
	}
	if i, err := os.Stat(file); err != nil || i.Mode().Perm() != 0o640 {
		t.Errorf("the file has mode %v (%v)", i.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".real*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRecordLinesLongerThanAnyBuffer(t *testing.T) {
	b := newBench(t)
	big := strings.Repeat("x", 3<<20)
	b.clearer.Bounds.Payload = 4 << 20
	b.publish(retained(own, big))
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	b.approve(m, own, silent)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	op := b.clear()
	b.desk = OpenDesk(b.store, "home.toml", b.clock)
	kept, err := b.desk.Operation(t.Context(), op.ID)
	if err != nil || string(kept.Baseline.Topic.Payload) != big {
		t.Errorf("%v, %d bytes", err, len(kept.Baseline.Topic.Payload))
	}
	if _, err := b.desk.append(t.Context(), func(int64) Line { return Line{Kind: "note"} }); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, b.desk)
}

func TestManifestSavingNeverLosesWhatAPersonTyped(t *testing.T) {
	b := newBench(t)
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	typed := append(m.Text(), "# by hand\n"...)
	if err := b.store.Replace("home.toml", typed); err != nil {
		t.Fatal(err)
	}
	b.approve(m, neighbour)
	if err := b.desk.Save(t.Context(), m); !errors.Is(err, ErrChangedOnDisk) {
		t.Fatalf("got %v", err)
	}
	if m, err = b.desk.Manifest(); err != nil {
		t.Fatal(err)
	}
	b.approve(m, neighbour)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	text, _ := readAll(b.store, "home.toml")
	if !bytes.Contains(text, []byte("# by hand\n")) || !bytes.Contains(text, []byte(neighbour)) {
		t.Errorf("saved\n%s", text)
	}
	if err := b.desk.Save(t.Context(), NewManifest(home)); !errors.Is(err, ErrChangedOnDisk) {
		t.Errorf("a new manifest over an old one: %v", err)
	}
}

func TestManifestSavingWaitsForTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		m, err := b.desk.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		b.approve(m, neighbour)
		lock, err := b.store.TryLock("home.lock")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.desk.Save(ctx, m); !errors.Is(err, ErrLocked) {
			t.Fatalf("got %v", err)
		}
		time.AfterFunc(time.Second, func() { _ = lock.Release() })
		if err := b.desk.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	})
}

// TestARecordOfAHundredThousandLinesIsReadWhole: how long it takes is what the benchmarks say.
func TestARecordOfAHundredThousandLinesIsReadWhole(t *testing.T) {
	d := hundredThousand(t)
	if v := mustVerify(t, d); v.Lines < 100_000 {
		t.Errorf("%d lines are verified", v.Lines)
	}
	l, err := d.List(t.Context())
	if err != nil || len(l.Operations) != 33333 || l.Operations[7].Verdict != ClearedVerified || l.Skipped != 0 {
		t.Errorf("%d operations, %d lines skipped, %v", len(l.Operations), l.Skipped, err)
	}
	last := l.Operations[len(l.Operations)-1].ID
	op, err := d.Operation(t.Context(), last)
	if err != nil || op.Baseline == nil || op.Outcome == nil {
		t.Errorf("operation %s: %v", last, err)
	}
	// A list that is left stops at once.
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := d.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("left, and got %v", err)
	}
}

func BenchmarkVerify100000(b *testing.B) {
	d := hundredThousand(b)
	for b.Loop() {
		if v, err := d.Verify(context.Background()); err != nil || !v.OK() {
			b.Fatal(v.Bad, err)
		}
	}
}

func BenchmarkList100000(b *testing.B) {
	d := hundredThousand(b)
	for b.Loop() {
		d := OpenDesk(d.store, d.name, d.now) // that has read nothing yet
		if l, err := d.List(context.Background()); err != nil || len(l.Operations) == 0 {
			b.Fatal(err)
		}
	}
}

// hundredThousand makes a record of 100 000 lines out of real ones, without a sync for each.
func hundredThousand(t testing.TB) *Desk {
	t.Helper()
	s := newBench(t)
	s.request.Controls = s.request.Controls[:2]
	op := s.clear()
	raw, err := readAll(s.store, recordFile)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.SplitAfter(raw, []byte("\n"))[0]
	const name = "operation-name"
	bodies := make([][]byte, 3)
	for i, l := range []Line{{Kind: LineIntent, Intent: op.Intent}, {Kind: LineBaseline, Baseline: op.Baseline}, {Kind: LineOutcome, Outcome: op.Outcome}} {
		l.Operation, l.At = name, noon
		line, err := l.encode()
		if err != nil {
			t.Fatal(err)
		}
		_, bodies[i], _ = bytes.Cut(line, []byte(`"seq":0`))
	}
	var b bytes.Buffer
	b.Write(first)
	hash := digest(bytes.TrimSuffix(first, []byte("\n")))
	seq, id := int64(1), ""
	for seq < 100_000 {
		seq++
		if seq%3 == 2 {
			id = operationID(noon, seq)
		}
		line := fmt.Appendf(nil, `%s%s%s%d`, prefixStart, hash, prefixMiddle, seq)
		line = append(line, bytes.Replace(bodies[(seq-2)%3], []byte(name), []byte(id), 1)...)
		hash = digest(line)
		b.Write(append(line, '\n'))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, recordFile), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf(`{"lines":%d,"sha256":"%s","at":"2026-03-07T12:00:00Z"}`, seq, hash)
	if err := os.WriteFile(filepath.Join(dir, "home.record.head"), []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d lines, %.1f MB", seq, float64(b.Len())/1e6)
	return OpenDesk(store, "home.toml", s.clock)
}

func TestAFolderThatIsNotThereIsMadeOnlyToWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "desk")
	store, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	d := OpenDesk(store, "home.toml", time.Now)
	if _, err := d.Manifest(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a manifest that is not there: %v", err)
	}
	if l, err := d.List(t.Context()); err != nil || len(l.Operations) != 0 {
		t.Errorf("%+v %v", l, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking made the folder")
	}
	if err := d.Save(t.Context(), NewManifest(home)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := OpenDir(filepath.Join(path, "home.toml")); err == nil {
		t.Error("a file is taken for a folder")
	}
}

func TestADigestThatWasPrintedIsFoundAgainUntilItsLineChanges(t *testing.T) {
	b := newBench(t)
	if op := b.clear(); op.Verdict() != ClearedVerified {
		t.Fatal(op.Sentence())
	}
	head, _, err := b.desk.Head()
	if err != nil {
		t.Fatal(err)
	}
	if op := b.clear(); op.Verdict() != Vanished {
		t.Fatal(op.Sentence())
	}
	if n, ok, err := b.desk.LineOf(t.Context(), head.SHA256); !ok || n != head.Lines || err != nil {
		t.Errorf("line %d of %d, %v %v", n, head.Lines, ok, err)
	}
	path := filepath.Join(b.store.(*Dir).path, "home.record.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("cleared and verified"), []byte("cleared and  verified"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := b.desk.LineOf(t.Context(), head.SHA256); ok || err != nil {
		t.Errorf("a line that was changed is found: %v", err)
	}
}
