package actions

import (
	"context"
	"fmt"
)

// Verification is what a check of the whole record found.
type Verification struct {
	Lines    int64
	Segments int
	Bad      *BadLine // the first line that was changed or is broken; nil when there is none
	// Reported are damages that the record tells of itself, for instance a line that was half written when the power
	// went. They are no sign of tampering.
	Reported []string
	Digest   string // SHA-256 of the last line, to be compared with a head digest kept elsewhere
	Head     string // what the head digest beside the record says of the end, one sentence
	HeadFits bool
	Limits   []string
}

// OK reports whether every line is as it was written and the end is the one that the head digest names.
func (v Verification) OK() bool { return v.Bad == nil && v.HeadFits }

// Wrong says what is not as it was written, in one sentence that is safe for a terminal; "" = nothing, so far as was read.
func (v Verification) Wrong() string {
	if v.Bad != nil {
		return v.Bad.String()
	}
	if !v.HeadFits {
		return v.Head
	}
	return ""
}

// BadLine names a line.
type BadLine struct {
	File string
	Line int64 // in that file, from 1
	Seq  int64 // in the record, from 1
	Why  string
}

// String returns one sentence.
func (b BadLine) String() string {
	return fmt.Sprintf("%s, line %d (line %d of the record): %s", b.File, b.Line, b.Seq, b.Why)
}

// verifier walks over the record. A line vouches for the one before it, so a doubt about a line is settled by the one
// after it.
type verifier struct {
	d    *Desk
	v    Verification
	head Head

	segment int
	line    int64 // in the segment
	seq     int64 // of the line
	hash    string
	named   bool     // the line that the head names is there, as it was
	prev    *BadLine // the line before, should it turn out to be the changed one
	doubted *BadLine // the line does not fit the one before it
	damage  Damage   // at the end of the segment before
	damaged string   // its file
}

// Verify checks every line of the record against the one after it, and the end against the head digest. The error is
// that of ctx, or what kept the record from being read; what is wrong with the record is in the result.
func (d *Desk) Verify(ctx context.Context) (Verification, error) {
	w := newVerifier(d)
	numbers, err := d.segments()
	if err != nil {
		return w.v, fmt.Errorf("read record: %w", err)
	}
	w.files(numbers)
	head, ok, err := d.Head()
	if err != nil {
		return w.v, err
	}
	w.head = head
	err = d.eachLine(ctx, func(segment int, line []byte, hurt *Damage) error {
		w.each(segment, line, hurt)
		return nil
	})
	if err != nil {
		return w.v, err
	}
	w.end(ok)
	return w.v, nil
}

func newVerifier(d *Desk) verifier {
	w := verifier{d: d, hash: noDigest}
	w.v.Limits = []string{
		"each line vouches for the one before it; that the last lines were taken away shows only against a head digest that was kept elsewhere",
		"whoever can write here can also write a whole new record: the digest printed after each clear, kept elsewhere, is what proves it",
	}
	return w
}

// files looks whether a segment is missing.
func (w *verifier) files(numbers []int) {
	w.v.Segments = len(numbers)
	for i, n := range numbers {
		if n != i+1 {
			w.bad(BadLine{File: w.d.segmentName(i + 1), Why: "the file is missing"})
			break
		}
	}
}

// LineOf returns the number of the line of the record whose SHA-256 is digest, which a clear once printed, and false when
// no line has it: then that line, or one before it, is not as it was. The error is as for Verify.
func (d *Desk) LineOf(ctx context.Context, sha256 string) (seq int64, found bool, err error) {
	err = d.eachLine(ctx, func(_ int, line []byte, hurt *Damage) error {
		if hurt != nil || found {
			return nil
		}
		seq++
		found = digest(line) == sha256
		return nil
	})
	return seq, found, err
}

func (w *verifier) bad(b BadLine) {
	if w.v.Bad == nil {
		w.v.Bad = &b
	}
}

// each takes in the next line, or what stands at the end of a segment and is none.
func (w *verifier) each(segment int, line []byte, hurt *Damage) {
	file := w.d.segmentName(segment)
	if segment != w.segment {
		w.segment, w.line = segment, 0
	}
	if hurt != nil {
		w.damage, w.damaged = *hurt, file
		return
	}
	prev, seq, ok := readPrefix(line)
	w.settle(ok && prev == w.hash)
	w.line++
	w.seq++
	w.v.Lines++
	here := &BadLine{File: file, Line: w.line, Seq: w.seq}
	switch {
	case !ok || line[len(line)-1] != '}': // what is between is vouched for by the next line, and by the head
		here.Why = "it is no line of a record"
		w.bad(*here)
	case seq != w.seq:
		here.Why = fmt.Sprintf("it has the number %d: lines before it were taken away or added", seq)
		w.bad(*here)
		w.seq = seq // so that one gap is one fault
	case prev != w.hash:
		w.doubted = here
	}
	if w.line == 1 && ok {
		w.segmentStart(file, line)
	}
	w.hash = digest(line)
	if w.seq == w.head.Lines && w.hash == w.head.SHA256 {
		w.named = true
	}
	if w.doubted == nil {
		w.prev = here
	}
}

// settle decides a doubt: where what comes after fits the doubted line, that line is as it was written, and the one
// before it was changed.
func (w *verifier) settle(fits bool) {
	if w.doubted == nil {
		return
	}
	changed := *w.doubted
	if fits && w.prev != nil {
		changed = *w.prev
	}
	changed.Why = "it was changed after it was written"
	w.bad(changed)
	w.prev, w.doubted = w.doubted, nil
}

// segmentStart compares what a segment says of the end of the one before it with what is there.
func (w *verifier) segmentStart(file string, line []byte) {
	l, err := decodeLine(line)
	if err != nil || l.Segment == nil {
		w.bad(BadLine{File: file, Line: 1, Seq: w.seq, Why: "the file does not begin with the line that says why it was begun"})
		return
	}
	told := Damage{}
	if l.Segment.Damage != nil {
		told = *l.Segment.Damage
	}
	if told != w.damage {
		w.bad(BadLine{File: file, Line: 1, Seq: w.seq, Why: "the end of the file before it is not the one it tells of"})
	}
	if l.Segment.Moved {
		w.bad(BadLine{File: file, Line: 1, Seq: w.seq, Why: "lines before it were taken away or changed: " + l.Segment.Why})
	} else if w.segment > 1 {
		w.v.Reported = append(w.v.Reported, fmt.Sprintf("%s begins because %s", file, l.Segment.Why))
	}
	w.damage, w.damaged = Damage{}, ""
}

// end looks at the last line and the head digest; ok = there is one.
func (w *verifier) end(ok bool) {
	h := w.head
	w.v.Digest = w.hash
	if w.damage.Bytes > 0 {
		w.v.Reported = append(w.v.Reported, fmt.Sprintf(
			"%s ends with %d bytes that are no whole line: it was half written, or is being written now", w.damaged, w.damage.Bytes))
	}
	w.settle(ok && h.SHA256 == w.hash)
	last := BadLine{File: w.d.segmentName(max(1, w.segment)), Line: w.line, Seq: w.seq}
	switch {
	case !ok && w.v.Lines == 0:
		w.v.HeadFits, w.v.Head = true, "there is no record yet"
	case !ok:
		w.v.Head = "there is no head digest: whether last lines were taken away cannot be told"
	case h.SHA256 == w.hash:
		w.v.HeadFits, w.v.Head = true, fmt.Sprintf("the record ends as the head digest of %s says", at(h.At))
	case w.named:
		w.v.HeadFits = true
		w.v.Head = fmt.Sprintf("the head digest is %s behind: it could not be written, or the program was stopped before", Counted(int(w.seq-h.Lines), "line"))
	case h.Lines > w.seq:
		w.v.Head = fmt.Sprintf("the head digest names %s and there are %d: lines at the end were taken away", Counted(int(h.Lines), "line"), w.seq)
		last.Line, last.Seq, last.Why = last.Line+1, last.Seq+1, "it and what came after it were taken away"
		w.bad(last)
	default:
		w.v.Head = fmt.Sprintf("the head digest names another last line: %s", h.SHA256)
		last.Why = "it is not the last line that the head digest names: it was changed, or lines were added by somebody else"
		w.bad(last)
	}
}
