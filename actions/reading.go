package actions

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// What was read of the record stays with its desk: after an act only what was appended since is read, as long as the
// files are the same and the last line that was read stands where it stood. What was changed before that line is found
// by Verify, and by the next start.

// reading is the record up to a line: what it says, and whether its lines fit each other.
type reading struct {
	says  lister
	chain verifier
	at    place
	files map[int]fs.FileInfo // of the segments, when they were read last
	tail  *Damage             // what stands behind the last line and is none; nil = nothing
	torn  int                 // the segment that ends with it
	// before is the last line of an earlier reading that could not be gone on with: it must still be there.
	before place
}

// place is one line in the files.
type place struct {
	segment    int // 0 = no line
	start, end int64
	seq        int64
	hash       string
}

// List reads the record and returns every operation in it. The first time, with a large record, it takes a while, so it
// is not for the goroutine that reads keys; ctx ends it. Later it reads what was appended, and everything only where the
// record is not as it was left. Damaged lines never stop it. It may be called from any goroutine, and waits for one that
// reads already.
func (d *Desk) List(ctx context.Context) (Listed, error) {
	return d.ListCounting(ctx, func(int64) {})
}

// ListCounting is List, and calls read now and then with the number of lines read so far, on the goroutine of the caller.
func (d *Desk) ListCounting(ctx context.Context, read func(lines int64)) (Listed, error) {
	select {
	case d.reads <- struct{}{}:
		defer func() { <-d.reads }()
	case <-ctx.Done():
		return Listed{}, ctx.Err()
	}
	before := d.holder()          // one that ends while the record is read ran when it was begun
	head, ok, headErr := d.Head() // before the lines: a line is written before it is named
	numbers, err := d.segments()
	if err != nil {
		return Listed{}, fmt.Errorf("read record: %w", err)
	}
	if d.read == nil || !d.read.goesOn(numbers, head) {
		d.read = d.readAnew()
	}
	g := d.read
	g.expect(head, numbers)
	if err := g.readOn(ctx, numbers, read); err != nil {
		return Listed{Lines: g.says.lines, Skipped: g.says.skipped}, err
	}
	l := g.listed(ok, before, d.holder())
	if headErr != nil {
		l.Check.Head = "the head digest cannot be read: whether last lines were taken away cannot be told"
	}
	return l, nil
}

// readAnew begins with the first line, and remembers only the last one that was read.
func (d *Desk) readAnew() *reading {
	g := &reading{says: newLister(), chain: newVerifier(d), files: map[int]fs.FileInfo{}}
	if old := d.read; old != nil {
		if g.before = old.at; old.at.seq < old.before.seq {
			g.before = old.before // it was left before it came so far
		}
	}
	return g
}

// goesOn reports whether the files are those that were read, the last line that was read stands where it stood, and the
// head names it or one that came after it.
func (g *reading) goesOn(numbers []int, head Head) bool {
	if g.at.segment == 0 || head.Lines < g.at.seq && head.SHA256 != g.chain.head.SHA256 {
		return false
	}
	for n, was := range g.files {
		if n <= g.at.segment && !g.sameFile(n, was) {
			return false
		}
	}
	return !slices.ContainsFunc(numbers, func(n int) bool {
		_, read := g.files[n]
		return n <= g.at.segment && !read
	})
}

// sameFile reports whether a segment is the file that was read, with what was read in it.
func (g *reading) sameFile(n int, was fs.FileInfo) bool {
	f, err := g.chain.d.store.Open(g.chain.d.segmentName(n))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only looked at
	is, err := f.Stat()
	switch {
	case err != nil || !os.SameFile(was, is):
		return false
	case n < g.at.segment:
		return is.Size() == was.Size()
	case is.Size() < g.at.end:
		return false
	}
	line := make([]byte, g.at.end-g.at.start)
	if readAt(f, line, g.at.start) != nil {
		return false
	}
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	return ended && digest(line) == g.at.hash
}

// expect takes in what the lines will be compared with.
func (g *reading) expect(head Head, numbers []int) {
	w := &g.chain
	stays := w.named && head.SHA256 == w.head.SHA256
	w.named = stays || g.at.segment > 0 && head.Lines == g.at.seq && head.SHA256 == g.at.hash
	w.head = head
	w.files(numbers)
	g.tail = nil // it is read again
}

// readOn takes in every line behind the place. It may be left and gone on with.
func (g *reading) readOn(ctx context.Context, numbers []int, read func(lines int64)) error {
	const between = 256
	take := func(segment int, line []byte, hurt *Damage) error {
		g.take(segment, line, hurt)
		if n := g.says.lines + g.says.skipped; n%between == 0 {
			read(n)
		}
		return nil
	}
	for _, n := range numbers[max(0, slices.Index(numbers, g.at.segment)):] {
		from := int64(0)
		if n == g.at.segment {
			from = g.at.end
		}
		if err := g.chain.d.eachLineOf(ctx, n, from, func(is fs.FileInfo) { g.files[n] = is }, take); err != nil {
			return err
		}
	}
	return nil
}

// take takes in one line, or what is none: that only when something comes after it, since it may become a line.
func (g *reading) take(segment int, line []byte, hurt *Damage) {
	if g.tail != nil {
		g.chain.each(g.torn, nil, g.tail)
		g.says.skipped++
		g.tail = nil
	}
	if hurt != nil {
		g.tail, g.torn = hurt, segment
		return
	}
	if segment != g.at.segment {
		g.at = place{segment: segment}
	}
	w := &g.chain
	w.each(segment, line, nil)
	if g.says.take(line) {
		g.says.lines++
	} else {
		g.says.skipped++
	}
	g.at = place{segment: segment, start: g.at.end, end: g.at.end + int64(len(line)) + 1, seq: w.seq, hash: w.hash}
	if w.seq == g.before.seq && w.hash != g.before.hash {
		w.bad(BadLine{File: w.d.segmentName(segment), Line: w.line, Seq: w.seq, Why: "another line was read here before: the file was changed or replaced"})
	}
}

// listed returns what was read and how it stands; ok = there is a head, now is who runs something. The end is judged anew
// each time.
func (g *reading) listed(ok bool, now ...holder) Listed {
	w := g.chain
	w.v.Reported = slices.Clip(w.v.Reported)
	l := Listed{Lines: g.says.lines, Skipped: g.says.skipped, Operations: make([]Summary, len(g.says.order))}
	if g.tail != nil {
		w.each(g.torn, nil, g.tail)
		l.Skipped++
	}
	if w.seq < g.before.seq {
		w.bad(BadLine{File: w.d.segmentName(max(1, w.segment)), Line: w.line + 1, Seq: w.seq + 1, Why: "it was read here before, and it and what came after it were taken away"})
	}
	w.end(ok)
	l.Check = w.v
	for i, o := range g.says.order {
		o.op.runs(now...)
		l.Operations[i] = o.summary()
	}
	return l
}
