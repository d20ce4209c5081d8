package broker

// Bytes between the goroutine that only reads the socket and the one that decodes: pooled chunks, bounded.
// A server that meets a full socket drops messages in silence, so reading never waits for storing until the bound.

import (
	"sync"
	"time"
)

const (
	chunkSize = 256 << 10
	// chunkRoom is the least room that a read is given; below it the next chunk is taken. It is what a read must fill
	// to count as part of a burst.
	chunkRoom = 64 << 10
	// idleChunks is how many chunks are kept when the decoder has caught up.
	idleChunks = 8
	// manySegments is how many reads may wait one by one; beyond it neighbours share the instant of the first.
	manySegments = 1 << 16
)

// chunk is a piece of memory that several reads fill one after another.
type chunk struct {
	buf     []byte
	waiting int  // segments of it that are not decoded
	retired bool // nothing is read into it any more
}

// segment is what one read brought, or several within one millisecond.
type segment struct {
	chunk    *chunk
	from, to int
	at       int64 // Unix milliseconds
}

// readAhead is a queue of segments over at most max chunks.
type readAhead struct {
	max int

	mu        sync.Mutex
	arrived   sync.Cond // the decoder waits for it
	freed     sync.Cond // the reader waits for it
	queue     []segment
	head      int
	taken     bool // the segment at head is being decoded
	tail      *chunk
	used      int // bytes of tail that are filled
	free      []*chunk
	allocated int
	backlog   int64
	err       error // why nothing comes any more
	dropping  bool
	drain     []byte

	stalled    int64
	stalledFor time.Duration
	stalling   time.Time // when the present stall began, zero when there is none
}

// newReadAhead returns a queue for about limit bytes, two chunks at least.
func newReadAhead(limit int) *readAhead {
	r := &readAhead{max: max(limit/chunkSize, 2)}
	r.arrived.L, r.freed.L = &r.mu, &r.mu
	return r
}

// room returns memory to read into, at least chunkRoom bytes. It waits while every chunk is full and not decoded.
func (r *readAhead) room() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.dropping {
			if r.drain == nil {
				r.drain = make([]byte, chunkRoom)
			}
			return r.drain
		}
		if t := r.tail; t != nil {
			if t.waiting == 0 {
				r.used = 0
			}
			if len(t.buf)-r.used >= chunkRoom {
				return t.buf[r.used:]
			}
			t.retired = true
			r.tail = nil
		}
		switch {
		case len(r.free) > 0:
			r.tail = r.free[len(r.free)-1]
			r.free = r.free[:len(r.free)-1]
			r.tail.retired = false
		case r.allocated < r.max:
			r.tail = &chunk{buf: make([]byte, chunkSize)}
			r.allocated++
		default:
			r.wait()
			continue
		}
		r.used = 0
	}
}

// wait waits for a chunk and counts the time.
func (r *readAhead) wait() {
	r.stalled++
	r.stalling = time.Now()
	for len(r.free) == 0 && !r.dropping {
		r.freed.Wait()
	}
	r.stalledFor += time.Since(r.stalling)
	r.stalling = time.Time{}
}

// add says that n bytes were read into what room returned, at the given Unix millisecond.
func (r *readAhead) add(n int, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dropping || n == 0 {
		return
	}
	r.backlog += int64(n)
	from := r.used
	r.used += n
	if last := len(r.queue) - 1; last > r.head || (last == r.head && !r.taken) {
		s := &r.queue[last]
		if s.chunk == r.tail && s.to == from && (s.at == at || len(r.queue)-r.head > manySegments) {
			s.to = r.used
			return
		}
	}
	r.tail.waiting++
	r.queue = append(r.queue, segment{chunk: r.tail, from: from, to: r.used, at: at})
	r.arrived.Signal()
}

// end says that nothing comes any more, and why. The decoder still gets what is there.
func (r *readAhead) end(err error) {
	r.mu.Lock()
	r.err = err
	r.arrived.Signal()
	r.mu.Unlock()
}

// drop gives up what is there and what will come: next fails at once, and room returns the same memory again and again.
func (r *readAhead) drop(err error) {
	r.mu.Lock()
	r.dropping = true
	if r.err == nil {
		r.err = err
	}
	r.arrived.Signal()
	r.freed.Signal()
	r.mu.Unlock()
}

// next returns the next bytes and when they were read. It gives back what it returned before, which must not be used
// any more, and waits for bytes; an error means that there are none left.
func (r *readAhead) next() ([]byte, int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giveBack()
	for r.head == len(r.queue) || r.dropping {
		if r.err != nil {
			return nil, 0, r.err
		}
		r.arrived.Wait()
	}
	r.taken = true
	s := r.queue[r.head]
	return s.chunk.buf[s.from:s.to:s.to], s.at, nil
}

// giveBack frees the segment that was taken, and its chunk with the last one of it.
func (r *readAhead) giveBack() {
	if !r.taken {
		return
	}
	s := r.queue[r.head]
	r.queue[r.head] = segment{}
	r.taken = false
	r.head++
	r.backlog -= int64(s.to - s.from)
	if r.head == len(r.queue) {
		r.head, r.queue = 0, r.queue[:0]
		if cap(r.queue) > 4096 {
			r.queue = nil
		}
	} else if r.head >= 4096 && r.head > len(r.queue)/2 {
		r.queue = append(r.queue[:0], r.queue[r.head:]...)
		r.head = 0
	}
	s.chunk.waiting--
	if s.chunk.waiting == 0 && s.chunk.retired {
		r.free = append(r.free, s.chunk)
		r.freed.Signal()
	}
	if len(r.queue) == 0 && len(r.free) > idleChunks {
		r.allocated -= len(r.free) - idleChunks
		r.free = append([]*chunk(nil), r.free[:idleChunks]...)
	}
}

// figures returns the bytes that wait, how often the queue was full and for how long in all.
func (r *readAhead) figures() (backlog, stalled int64, stalledFor time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stalledFor = r.stalledFor
	if !r.stalling.IsZero() {
		stalledFor += time.Since(r.stalling)
	}
	return r.backlog, r.stalled, stalledFor
}

// full reports whether the reader waits at this moment.
func (r *readAhead) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.stalling.IsZero()
}
