package actions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// noDigest stands where a line has no line before it.
var noDigest = strings.Repeat("0", 64)

// tail is where the next line of a record goes.
type tail struct {
	known   bool
	segment int    // number of the last segment, 0 when there is none
	size    int64  // of its file
	seq     int64  // of the last line, 0 when there is none
	hash    string // of the last line, noDigest when there is none
	// fresh says why the next line must begin a new segment; empty when it goes on in this one.
	fresh string
	hurt  Damage
	moved bool // the end is not the one that the head names
}

// Damage is what stood at the end of a segment and is no whole line.
type Damage struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Head names the end of the record. It is kept beside it and printed after each clear: a chain of digests cannot show
// by itself that its last lines were taken away.
type Head struct {
	Lines  int64     `json:"lines"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
}

func (d *Desk) segmentName(n int) string {
	if n == 1 {
		return d.base + ".record.jsonl"
	}
	return fmt.Sprintf("%s.record.%d.jsonl", d.base, n)
}

func (d *Desk) headName() string { return d.base + ".record.head" }

// segments returns the numbers of the segments there are, in order.
func (d *Desk) segments() ([]int, error) {
	prefix := d.base + ".record"
	names, err := d.store.Names(prefix)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, n := range names {
		rest, ok := strings.CutSuffix(n[len(prefix):], ".jsonl")
		if !ok {
			continue
		}
		if rest == "" {
			numbers = append(numbers, 1)
		} else if i, err := strconv.Atoi(strings.TrimPrefix(rest, ".")); err == nil && i > 1 && rest == "."+strconv.Itoa(i) {
			numbers = append(numbers, i)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Head returns the end of the record as it was last written down, and false when there is none.
func (d *Desk) Head() (Head, bool, error) {
	b, err := readAll(d.store, d.headName())
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, false, nil
	}
	if err != nil {
		return Head{}, false, fmt.Errorf("read head digest: %w", err)
	}
	var h Head
	if err := json.Unmarshal(b, &h); err != nil {
		return Head{}, false, nil //nolint:nilerr // a broken head is as good as none, and verify says so
	}
	return h, true, nil
}

// readTail finds out where the next line goes, and what is wrong with the end of the record.
func (d *Desk) readTail() (tail, error) {
	t := tail{known: true, hash: noDigest}
	numbers, err := d.segments()
	if err != nil {
		return t, fmt.Errorf("read record: %w", err)
	}
	if len(numbers) == 0 {
		t.fresh = "a new record"
		return t, d.compareHead(&t)
	}
	for i := len(numbers) - 1; i >= 0; i-- {
		found, err := d.readEnd(numbers[i], &t)
		if err != nil {
			return t, fmt.Errorf("read record: %w", err)
		}
		if found {
			break
		}
	}
	return t, d.compareHead(&t)
}

// readEnd looks at the end of one segment and reports whether a line was found there. Segments that hold nothing are
// passed over: the place of such a one is taken by the next.
func (d *Desk) readEnd(number int, t *tail) (found bool, err error) {
	f, err := d.store.Open(d.segmentName(number))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := sizeOf(f)
	if err != nil {
		return false, err
	}
	if size == 0 {
		t.fresh = "the last segment was empty"
		return false, nil
	}
	last := t.segment == 0
	if last {
		t.segment, t.size = number, size
	}
	end, err := lastLineEnd(f, size)
	if err != nil {
		return false, err
	}
	if last && end < size {
		if t.hurt, err = damageOf(f, end, size); err != nil {
			return false, err
		}
		t.fresh = fmt.Sprintf("the last line was half written: %s without an end", Counted(int(size-end), "byte"))
	}
	// Normally one round. A last line that is no line of ours is passed over to learn the number of the one before it.
	for skipped := int64(0); end > 0; skipped++ {
		start, err := lastLineEnd(f, end-1)
		if err != nil {
			return false, err
		}
		line := make([]byte, end-1-start)
		if err := readAt(f, line, start); err != nil {
			return false, err
		}
		if t.hash == noDigest {
			t.hash = digest(line)
		}
		if _, seq, ok := readPrefix(line); ok && (skipped > 0 || json.Valid(line)) {
			t.seq = seq + skipped
			return true, nil
		}
		t.fresh = "the last line was damaged"
		end = start
	}
	return t.hash != noDigest, nil
}

// compareHead looks whether the record ends where the head says. A head that is some lines behind is what a stop
// between a line and its digest leaves, or a head that could not be written, and no sign of anything.
func (d *Desk) compareHead(t *tail) error {
	h, ok, err := d.Head()
	if err != nil || !ok || h.SHA256 == t.hash {
		return err
	}
	behind := false
	if t.fresh == "" && h.Lines < t.seq {
		if behind, err = d.holdsLine(*t, h); err != nil {
			return err
		}
	}
	if t.seq < h.Lines || !behind && t.fresh == "" {
		t.fresh, t.moved = fmt.Sprintf("the record does not end as the head digest says: %s, the last with %s", Counted(int(h.Lines), "line"), h.SHA256), true
	}
	return nil
}

// holdsLine looks in the last segment for the line that the head names.
func (d *Desk) holdsLine(t tail, h Head) (yes bool, err error) {
	const far = 200
	f, err := d.store.Open(d.segmentName(t.segment))
	if err != nil {
		return false, fmt.Errorf("read record: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end := t.size
	for n := t.seq; end > 0 && n >= h.Lines && t.seq-n < far; n-- {
		start, err := lastLineEnd(f, end-1)
		if err != nil {
			return false, fmt.Errorf("read record: %w", err)
		}
		if n == h.Lines {
			line := make([]byte, end-1-start)
			if err := readAt(f, line, start); err != nil {
				return false, fmt.Errorf("read record: %w", err)
			}
			return digest(line) == h.SHA256, nil
		}
		end = start
	}
	return false, nil
}

// damageOf tells of what stands from one offset to another, whatever its size.
func damageOf(f ReadFile, from, to int64) (Damage, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, from, to-from))
	if err == nil && n != to-from {
		err = io.ErrUnexpectedEOF
	}
	return Damage{Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// lastLineEnd returns the offset right after the last line end before offset end, 0 when there is none.
func lastLineEnd(f ReadFile, end int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end > 0 {
		n := min(int64(len(buf)), end)
		if err := readAt(f, buf[:n], end-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

const (
	prefixStart  = `{"prev":"`
	prefixMiddle = `","seq":`
)

// readPrefix reads the digest and the number that every line begins with.
func readPrefix(line []byte) (prev string, seq int64, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(prefixStart))
	if !ok || len(rest) < 64 {
		return "", 0, false
	}
	prev, rest = string(rest[:64]), rest[64:]
	rest, ok = bytes.CutPrefix(rest, []byte(prefixMiddle))
	if !ok || !isFingerprint(prev) {
		return "", 0, false
	}
	for i, c := range rest {
		if !isDigit(c) {
			return prev, seq, i > 0 && i < 19 && c == ','
		}
		seq = seq*10 + int64(c-'0')
	}
	return "", 0, false
}
