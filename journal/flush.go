package journal

// From memory to the file: one transaction every Options.Flush, or sooner when much waits.
// One goroutine and whoever calls Flush, one after the other.

import (
	"fmt"
	"time"
)

// idleFlush is how often an open span is written where nothing else is: a watcher of a silent broker does not wake the
// disk every few seconds.
const idleFlush = time.Minute

// leap is how far the clock may run ahead of the ticks. Beyond it the machine slept or its clock was set, and nobody
// was watching in between.
const leap = 30 * time.Second

func (j *Journal) run() {
	defer close(j.done)
	tick := time.NewTicker(j.opts.Flush)
	defer tick.Stop()
	for idle := time.Duration(0); ; {
		full := j.full
		if j.Stats().Err != nil {
			full = nil // what failed a moment ago is not tried again before its time
		}
		select {
		case <-j.stop:
			return
		case <-full:
		case <-tick.C:
			idle += j.opts.Flush
			j.mu.Lock()
			j.beat()
			quiet := j.pending.len() == 0 && !j.dirty
			j.mu.Unlock()
			if quiet && idle < idleFlush {
				continue
			}
		}
		idle = 0
		_ = j.flush(j.breathe) // kept in Stats
	}
}

// beat moves the end of the open span to now. mu is held.
func (j *Journal) beat() {
	if j.span.Start == 0 {
		return
	}
	now, filters := j.opts.Now(), j.span.Filters
	if late := now - j.span.Stop; late < 0 || late > j.late.Milliseconds() {
		j.opts.Logger.Info("the clock leapt: the span of watching ends before it", "milliseconds", late)
		j.end(j.span.Stop)
		j.span = Span{Start: now, Filters: filters}
	}
	j.span.Stop = now
}

const (
	// portion is how many rows are written in one go, breath how long the processor is left to others after each where
	// nobody waits for the end. A storm over very many topics must not make a key wait.
	portion = 128
	breath  = 5 * time.Millisecond
)

// breathe waits for a breath, and not at all once the journal is being closed.
func (j *Journal) breathe() {
	select {
	case <-time.After(breath):
	case <-j.stop:
	}
}

// flush writes what is pending, and calls pause after each portion of it. What could not be written goes back in front
// of what came since.
func (j *Journal) flush(pause func()) error {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	if j.w.shut {
		return ErrClosed
	}
	j.mu.Lock()
	j.beat()
	taken, spans, open := j.pending.take(), j.ended, j.span
	j.ended, j.dirty = nil, false
	j.mu.Unlock()

	begun := j.opts.Now()
	all := spans
	if open.Start != 0 {
		all = append(all[:len(all):len(all)], open)
	}
	dropped, err := j.w.write(taken, all, pause)
	if err != nil {
		err = fmt.Errorf("write journal: %w", err)
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	if first := j.stats.Err == nil; err != nil {
		if first {
			j.opts.Logger.Warn("the journal cannot be written; it is tried again", "error", err)
		}
		j.stats.Err = err
		j.pending.merge(taken)
		j.ended, j.dirty = append(spans, j.ended...), true
		return err
	} else if !first {
		j.opts.Logger.Info("the journal can be written again")
	}
	if dropped > 0 {
		j.opts.Logger.Warn("the journal was full: the least useful topics were dropped", "topics", dropped)
	}
	j.stats.Err, j.stats.Flushed = nil, j.opts.Now()
	j.stats.FlushTime = time.Duration(j.stats.Flushed-begun) * time.Millisecond
	j.pending.giveBack(taken, 4096)
	close(j.room)
	j.room = make(chan struct{})
	return nil
}
