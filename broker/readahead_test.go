package broker

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

// put fills r as a reader would, in pieces of at most size bytes.
func put(r *readAhead, b []byte, size int, at int64) {
	for len(b) > 0 {
		room := r.room()
		n := copy(room[:min(len(room), size)], b)
		r.add(n, at)
		b = b[n:]
	}
}

func TestWhatIsReadComesOutInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReadAhead(1 << 20) // four chunks
		want := make([]byte, 5<<20)
		for i := range want {
			want[i] = byte(rand.Uint32())
		}
		go func() {
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+rand.IntN(200_000))
				put(r, rest[:n], 1+rand.IntN(100_000), 1)
				rest = rest[n:]
			}
			r.end(io.EOF)
		}()
		var got []byte
		for {
			b, _, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
			got = append(got, b...)
			if rand.IntN(3) == 0 {
				synctest.Wait() // the reader gets as far as it can
			}
			backlog, _, _ := r.figures()
			if backlog > 1<<20 {
				t.Fatalf("%d bytes are waiting", backlog)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatal("what came out is not what was read")
		}
		if r.allocated > 4 {
			t.Errorf("%d chunks allocated", r.allocated)
		}
		if backlog, stalled, _ := r.figures(); backlog != 0 || stalled == 0 {
			t.Errorf("backlog %d, stalled %d", backlog, stalled)
		}
	})
}

func TestReadsOfOneMillisecondShareASegmentAndOthersKeepTheirInstant(t *testing.T) {
	r := newReadAhead(1 << 20)
	put(r, []byte("abcd"), 1, 10)
	put(r, []byte("ef"), 1, 11)
	for _, want := range []struct {
		bytes string
		at    int64
	}{{"abcd", 10}, {"ef", 11}} {
		b, at, err := r.next()
		if err != nil || string(b) != want.bytes || at != want.at {
			t.Fatalf("%q at %d, %v; want %q at %d", b, at, err, want.bytes, want.at)
		}
	}
	// A segment that is being decoded does not grow.
	put(r, []byte("gh"), 2, 11)
	if b, at, _ := r.next(); string(b) != "gh" || at != 11 {
		t.Fatalf("%q at %d", b, at)
	}
}

func TestSmallReadsDoNotTakeAChunkEach(t *testing.T) {
	r := newReadAhead(2 * chunkSize)
	for i := range 100_000 { // one byte each, none decoded
		put(r, []byte{'x'}, 1, int64(i))
	}
	if _, stalled, _ := r.figures(); stalled != 0 || r.allocated != 1 {
		t.Errorf("%d chunks, stalled %d", r.allocated, stalled)
	}
	if n := len(r.queue); n > manySegments+2 {
		t.Errorf("%d segments for 100 kB", n)
	}
}

func TestChunksAreGivenBackWhenTheDecoderHasCaughtUp(t *testing.T) {
	r := newReadAhead(64 << 20)
	put(r, make([]byte, 32<<20), chunkSize, 1)
	if r.allocated < 100 {
		t.Fatalf("%d chunks for 32 MiB", r.allocated)
	}
	r.end(io.EOF)
	for {
		if _, _, err := r.next(); err != nil {
			break
		}
	}
	if r.allocated > idleChunks+2 || len(r.free) > idleChunks {
		t.Errorf("%d chunks kept", r.allocated)
	}
}

func TestDroppingEndsTheDecoderAndLetsTheReaderGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReadAhead(2 * chunkSize)
		put(r, []byte("abc"), 3, 1)
		gone := errors.New("gone")
		read := make(chan struct{})
		go func() {
			defer close(read)
			put(r, make([]byte, 10*chunkSize), chunkSize, 1) // far more than there is room for
		}()
		synctest.Wait()
		if !r.full() {
			t.Error("it is not full")
		}
		r.drop(gone)
		<-read
		if _, _, err := r.next(); !errors.Is(err, gone) {
			t.Errorf("next = %v", err)
		}
	})
}

func TestAFullReadAheadIsCountedAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		release := make(chan struct{})
		var s sink
		c := dialWire(t, func(c *Config) { c.ReadAhead = 2 * chunkSize; c.KeepAlive = 4 * time.Second },
			func(b []inventory.Publication) {
				<-release
				s.deliver(b)
			},
			func(w *wire) {
				w.connect()
				for range n { // 1.6 MB
					w.send(retained("t", strings.Repeat("x", 400)))
				}
			})
		<-time.After(60 * time.Second) // far beyond the keep-alive: it is we who do not listen
		synctest.Wait()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		st := c.Stats()
		if st.Stalled != 1 || st.StalledFor < 50*time.Second || st.Backlog == 0 || st.Backlog > 2*chunkSize || st.Discarded != 0 {
			t.Errorf("%+v", st)
		}
		close(release)
		<-time.After(time.Second)
		synctest.Wait()
		if got := len(s.all()); got != n {
			t.Errorf("%d of %d delivered", got, n)
		}
		if st := c.Stats(); st.Backlog != 0 || st.Publications != n {
			t.Errorf("%+v", st)
		}
	})
}
