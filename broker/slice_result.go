package broker

// What slicing brought, and what it could not do. Pure.

import (
	"fmt"

	"retainscope/inventory"
)

// sliceResult is what slicing brought.
type sliceResult struct {
	asked, planned int
	found          int64 // topics that came with slices and were not held before
	refused        int   // slices that the broker refused
	whole          int64 // copies in slices that were too large and that no narrower filter divides
	dear           bool  // a way to divide was left out because of what it costs the broker
	skipped        int   // names that no topic filter can carry
	flat           bool  // the names that are left do not repeat, so that they say nothing about the missing ones
	passes         int   // how often the whole was asked for once more
	sample         bool  // nothing pointed at a loss, and those that were asked for brought nothing
	ended          string
}

// what names what was asked for after the whole.
func (r *sliceResult) what() string {
	again := "a second time"
	if r.passes > 1 {
		again = fmt.Sprintf("%d times more", r.passes)
	}
	switch {
	case r.asked == 0:
		return again
	case r.passes > 0:
		return fmt.Sprintf("%d slices and %s", r.asked, again)
	default:
		return fmt.Sprintf("%d slices", r.asked)
	}
}

// gaps says what slices could not do.
func (r *sliceResult) gaps(claim inventory.Claim) (gaps []inventory.Gap) {
	if claim != inventory.Incomplete && claim != inventory.Unverified {
		return nil
	}
	add := func(format string, args ...any) {
		gaps = append(gaps, inventory.Gap{Count: -1, Text: fmt.Sprintf(format, args...)})
	}
	if r.whole > 0 {
		add("A part of %s topics cannot be asked for in smaller pieces: its names lie side by side in one level, and no topic filter names a part of a level.", grouped(r.whole))
	}
	if r.flat && r.whole == 0 {
		add("What is missing has names that were never seen: they lie side by side in one level, and no topic filter names a part of a level.")
	}
	if r.refused > 0 {
		add("The broker refused %s of the narrower filters.", grouped(r.refused))
	}
	if r.skipped > 0 {
		add("%s names cannot stand in a topic filter.", grouped(r.skipped))
	}
	if r.dear {
		add("Not every way to divide the store was tried: some would hold up the broker's other clients for too long.")
	}
	if r.sample {
		add("%d of %d parts of the store were asked for once more, as a sample, and brought nothing new; the others were not asked for.", r.asked, r.planned)
	}
	if r.ended != "" {
		add("Asking for parts ended early: %s.", r.ended)
	}
	return gaps
}
