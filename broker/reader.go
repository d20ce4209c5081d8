package broker

// The goroutine that only reads: socket to read-ahead, with a nap where the stream is thin.

import "time"

const (
	// burstRead is the size from which on a read of a snapshot counts as part of a burst: then nothing is waited for.
	burstRead = 64 << 10
	// liveBurst is the same of a live stream, of which a long nap gathers more.
	liveBurst = 192 << 10
	// shortNap after a small read lets a few packets gather: one wake-up and one acknowledgement for many.
	shortNap = time.Millisecond
	// longNap is reached where a live stream comes steadily.
	longNap = 5 * time.Millisecond
)

// pace decides how long to wait after a read.
type pace struct {
	limit time.Duration // longest nap
	burst int           // size of a read that is part of a burst
	nap   time.Duration // the last one
	reads int64         // reads of the socket when it was last asked
}

// after returns how long to wait after a read that took waited. Layers above the socket may read many times from what
// one read of the socket brought: there is at most one nap for each of those.
func (p *pace) after(s *socket, room int, waited time.Duration) time.Duration {
	reads := s.reads.Load()
	if reads == p.reads {
		return 0
	}
	p.reads = reads
	switch {
	case s.size >= p.burst:
		p.nap = 0
		return 0
	case s.size >= room: // there may be more; the nap goes on growing after it
		return 0
	}
	switch {
	case p.nap == 0 || waited > shortNap: // the first after a burst, or a stream with pauses
		p.nap = shortNap
	default:
		p.nap = min(2*p.nap, p.limit)
	}
	return p.nap
}

// readLoop fills the read-ahead until the connection ends.
func (c *Conn) readLoop() {
	defer close(c.readEnded)
	for {
		room := c.ahead.room()
		before := time.Now()
		n, err := c.t.Read(room)
		if n > 0 {
			c.ahead.add(n, c.cfg.Clock().UnixMilli())
		}
		if err != nil {
			c.ahead.end(err)
			return
		}
		if nap := c.pace.after(c.t.socket, len(room), time.Since(before)); nap > 0 {
			time.Sleep(nap) //nolint:forbidigo // there is no condition to wait for: it lets packets gather
		}
	}
}
