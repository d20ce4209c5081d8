package cli

// What the commands that clear, restore and look again have in common: how they begin, what they say on the way, and
// with which code they end.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"retainscope/actions"
	"retainscope/journal"
)

// Exit codes of clear, restore and recheck beside the common ones. Only 0 means cleared and verified.
const (
	ExitRefused      = 10 // by the broker
	ExitCameBack     = 11
	ExitStillPresent = 12
	ExitNotVerified  = 13
	ExitNoAnswer     = 14 // neither success nor failure
	ExitNotSent      = 15
	ExitOtherValue   = 16 // or no value: nothing was sent
	ExitCollateral   = 17
	ExitDiffers      = 18 // what was put back reads otherwise
	ExitBadRecord    = 19
	ExitHeldBack     = 20 // check: not everything that is marked clear would be cleared
)

// clearExit returns the exit code of a verdict.
func clearExit(v actions.Verdict) int {
	switch v {
	case actions.ClearedVerified:
		return ExitOK
	case actions.Refused:
		return ExitRefused
	case actions.CameBack:
		return ExitCameBack
	case actions.StillPresent, actions.EmptyReplay:
		return ExitStillPresent
	case actions.CouldNotVerify:
		return ExitNotVerified
	case actions.NotSent:
		return ExitNotSent
	case actions.Changed, actions.Vanished:
		return ExitOtherValue
	case actions.Collateral:
		return ExitCollateral
	}
	return ExitNoAnswer // no answer, and whatever is in doubt
}

// restoreExit returns the exit code of a restore.
func restoreExit(o actions.UndoOutcome) int {
	switch o.Result {
	case actions.Restored:
		return ExitOK
	case actions.RestoreRefused:
		return ExitRefused
	case actions.RestoredOtherwise:
		return ExitDiffers
	case actions.RestoreUnverified:
		return ExitNotVerified
	case actions.RestoreNotSent:
		if o.Obstacle == actions.Occupied {
			return ExitOtherValue
		}
		return ExitNotSent
	}
	return ExitNoAnswer
}

// recheckExit returns the exit code of a later look.
func recheckExit(l actions.Later) int {
	for _, c := range l.Controls {
		if c.State == actions.Lost {
			return ExitCollateral
		}
	}
	switch {
	case l.Return != nil:
		return ExitCameBack
	case l.Found == actions.NotObserved:
		return ExitOK
	case l.Found == actions.FoundNothingOut:
		return ExitNotVerified
	}
	return ExitStillPresent
}

// retire loads the settings and calls do with the composition; line is where progress goes.
func (p *program) retire(ctx context.Context, do func(t *retiring, line *progress) error) error {
	r, log, closeLog, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer closeLog()
	t, err := p.retiring(r, log)
	if err != nil {
		return usage(err)
	}
	p.warns(t.past)
	line := newProgress(p.stderr)
	defer line.clear()
	return do(t, line)
}

// act is retire for what needs a broker that tells of refusals. What it does goes on when the reader of its output goes
// away: it is recorded all the same.
func (p *program) act(ctx context.Context, do func(t *retiring, line *progress) error) error {
	return p.retire(ctx, func(t *retiring, line *progress) error {
		if t.off != nil {
			return usage(t.off)
		}
		defer p.stdout.outlast()()
		return do(t, line)
	})
}

// connected asks the broker what it is and returns what acts on it. The error is that of the connection.
func (t *retiring) connected(ctx context.Context, line *progress) (*actions.Clearer, error) {
	line.show("asking " + t.sends.URL + " what it is")
	id, err := t.identify(ctx)
	if err != nil {
		return nil, err
	}
	return t.clearer(id, false, func(s actions.Progress) { line.show(s.Text) }), nil
}

// ends says on stderr why a command ends with another code than 0, and returns what makes it end so. The text is safe
// for a terminal and may have several lines. With 0 it is said where the output could not be written.
func (p *program) ends(code int, text string) error {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "; ")
	if code == ExitOK && p.stdout.lost == nil {
		return nil
	}
	if code == ExitOK {
		return &exit{ExitFailed, fmt.Errorf("%w; %s", p.stdout.lost, text)} // it was to be read there
	}
	p.say("%s", text)
	return &exit{code: code}
}

// list reads the record with its progress shown: a large one takes seconds.
func (t *retiring) list(ctx context.Context, line *progress) (actions.Listed, error) {
	defer line.clear()
	return t.desk.ListCounting(ctx, func(n int64) { line.show("reading the record, " + thousands(n) + " lines so far") })
}

// tellRecord says on stderr whether the record is as it was written, which clear is running now, and which have an intent
// and no outcome and were not looked at since: somebody stopped the program, or the power went.
func (p *program) tellRecord(l actions.Listed) {
	if wrong := l.Check.Wrong(); wrong != "" {
		p.say("warning: the record is not as it was written: %s; `%s` says more", wrong, p.again("record verify"))
	}
	if s, yes := l.Running(); yes {
		p.say("the clear %s of %s was begun at %s and is running now, by %s: there is no outcome yet", s.ID, actions.Quote(s.Topic), instant(s.Begun), s.Running)
	}
	for _, s := range l.Open() {
		if s.LastAt.After(s.Begun) {
			continue // rechecked
		}
		p.say("%s", p.openText(s))
	}
}

// openText is one sentence about a clear without an outcome.
func (p *program) openText(s actions.Summary) string {
	what := "what became of it is not known"
	if s.SentNothing {
		what = "as far as the record goes nothing was sent"
	}
	return fmt.Sprintf("the clear %s of %s was begun at %s and has no outcome: it was stopped, and nobody is running it; %s; `%s` looks what the topic holds now",
		s.ID, actions.Quote(s.Topic), instant(s.Begun), what, p.again("record recheck", s.ID))
}

// headOf returns the end of the record, nil where there is none or it cannot be read.
func headOf(t *retiring) *actions.Head {
	h, ok, err := t.desk.Head()
	if err != nil || !ok {
		return nil
	}
	return &h
}

// headText is the end of the record, to be kept elsewhere.
func headText(t *retiring) string {
	h := headOf(t)
	if h == nil {
		return "record: there is no head digest, or it cannot be read"
	}
	return fmt.Sprintf("record: %s, digest of the last %s", actions.Counted(int(h.Lines), "line"), h.SHA256)
}

// expects says, where the journal knows how often a topic is published, until when a return must be expected should its
// owner still run; empty where it does not.
func (t *retiring) expects(ctx context.Context, topic []byte) (text string) {
	if t.past == nil {
		return ""
	}
	t.past.read(ctx, func(r *journal.Reader) error {
		rec, known, err := r.Topic(ctx, topic)
		if err != nil || !known {
			return err
		}
		if _, text = actions.Forecast(rec.History()); text != "" {
			return nil
		}
		if every, ok := rec.Cadence(); ok {
			every = every.Round(time.Second)
			text = fmt.Sprintf("it was published every %s while watched: if its owner still runs, expect it back within that", showDuration(every))
		}
		return nil
	})
	return text
}
