package cli

// The log of a watcher that runs for weeks: a line where something is different, never one a message.

import (
	"log/slog"
	"time"

	"retainscope/inventory"
)

// diary writes down what became of the connection, of scans, and of what was found. One goroutine uses it.
type diary struct {
	log   *slog.Logger
	link  inventory.Link
	ended time.Time // of the scan that was told last
	claim inventory.Claim
	begun bool
	told  bool // what was found has been told
	left  int64
	hazes int64
}

// note takes the state of the connection and of the scan.
func (d *diary) note(link inventory.Link, cov inventory.Coverage) {
	was := d.link
	d.link = link
	switch {
	case link.State == inventory.Watching && (!d.begun || was.State == inventory.Lost):
		d.log.Info("watching", "broker", link.URL, "user", link.User)
		d.begun = true
	case link.State == inventory.Lost && was.State != inventory.Lost:
		d.log.Warn("the connection was lost", "error", link.Err)
	case link.State == inventory.Lost && link.Attempt != was.Attempt && link.Attempt%10 == 0:
		d.log.Warn("the broker cannot be reached", "attempts", link.Attempt, "error", link.Err)
	}
	if link.State == inventory.Watching && was.State == inventory.Watching && link.Err != was.Err {
		if link.Err != "" {
			d.log.Warn("the broker is silent", "error", link.Err)
		} else {
			d.log.Info("the broker answers again")
		}
	}
	if link.Scanning && !was.Scanning {
		d.log.Info("scanning")
	}
	scan := !cov.EndedAt.IsZero() && !cov.EndedAt.Equal(d.ended)
	if !link.Scanning && (scan || cov.Claim != d.claim) && cov.Claim != inventory.Scanning {
		args := []any{"claim", cov.Claim.String(), "seen", cov.Seen, "known_to_the_broker", cov.Known, "rule", cov.Rule}
		for _, g := range cov.Gaps {
			args = append(args, "gap", g.Text)
		}
		what := "the claim is another one"
		if scan {
			what = "the scan has ended"
			args = append(args, "took", cov.EndedAt.Sub(cov.StartedAt).Round(time.Millisecond))
		}
		d.log.Info(what, args...)
		d.ended, d.claim = cov.EndedAt, cov.Claim
	}
}

// found takes the figures, and tells when other topics look left behind or are a hazard.
func (d *diary) found(f figures) {
	if f.LeftBehind == nil || d.told && *f.LeftBehind == d.left && *f.Hazards == d.hazes {
		return
	}
	d.told, d.left, d.hazes = true, *f.LeftBehind, *f.Hazards
	args := []any{"retained", f.Retained, "without_expiry", f.WithoutExpiry, "left_behind", d.left, "hazards", d.hazes}
	if f.own > 0 {
		args = append(args, "own_topics_left_out", f.own) // the scan has seen them
	}
	d.log.Info("found", args...)
}
