package cli

// What is known by now of the topics that clears left empty: what the broker shows, or the last look in the record.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"retainscope/actions"
)

// askedAbout bounds for how many topics the broker is asked; the newest clears come first.
const askedAbout = 500

// latest is what is known of the topic of one clear.
type latest struct {
	actions.Seen
	asked bool  // the broker showed it now; else it is from the record
	why   error // why the broker was not asked; nil where it was, or nobody wanted to
}

// latestOf returns what is known of the topics that clears left empty, by operation, of all that are listed or of only
// one. offline asks no broker. What keeps it from being asked is in the answers. It sends and writes nothing.
func (t *retiring) latestOf(ctx context.Context, line *progress, l actions.Listed, only string, offline bool) map[string]latest {
	past, all := actions.PastOf(l), map[string]latest{}
	var ask []actions.Summary
	for _, s := range slices.Backward(l.Operations) {
		if only != "" && s.ID != only || !past.LeftEmpty(s) {
			continue
		}
		k := latest{Seen: s.Seen}
		switch {
		case offline:
		case t.off != nil:
			k.why = t.off
		case s.Broker.Same(t.broker("")) != nil:
			k.why = s.Broker.Same(t.broker(""))
		case len(ask) == askedAbout:
			k.why = fmt.Errorf("only %d topics are asked about; `retainscope record show OPERATION` asks about one", askedAbout)
		default:
			ask = append(ask, s)
		}
		all[s.ID] = k
	}
	if len(ask) == 0 {
		return all
	}
	defer line.clear()
	c, err := t.connected(ctx, line)
	if err == nil {
		ask = slices.DeleteFunc(ask, func(s actions.Summary) bool {
			other := s.Broker.Same(c.Broker)
			if other != nil {
				all[s.ID] = latest{Seen: s.Seen, why: other}
			}
			return other != nil
		})
	}
	if err != nil {
		for _, s := range ask {
			all[s.ID] = latest{Seen: s.Seen, why: err}
		}
		return all
	}
	topics := make([][]byte, len(ask))
	for i, s := range ask {
		topics[i] = s.Topic
	}
	tell := func(n int) {
		line.show(fmt.Sprintf("asking what they hold now, %s of %s topics", thousands(int64(n)), thousands(int64(len(ask)))))
	}
	tell(0)
	for i, seen := range c.LookAt(ctx, topics, tell) {
		if seen.Why != "" {
			all[ask[i].ID] = latest{Seen: ask[i].Seen, why: errors.New(seen.Why)}
			continue
		}
		all[ask[i].ID] = latest{Seen: seen, asked: true}
	}
	return all
}

// words says it in a list, behind the verdict; "" where that says it already.
func (k latest) words(v actions.Verdict) string {
	switch {
	case k.Found == actions.Present:
		return ", there again " + instant(k.At)
	case k.Found == actions.NotObserved && v != actions.ClearedVerified:
		return ", not observed " + instant(k.At)
	}
	return ""
}

// sentence says it of one operation, with who saw it.
func (k latest) sentence(t *retiring) string {
	var text string
	by := "by a new subscription as " + loginName(t.reads.User)
	if !k.asked {
		by = "as the record has it"
	}
	switch {
	case k.At.IsZero():
		text = "not known: no look is in the record"
	case k.Found == actions.Present && k.Now != nil:
		text = fmt.Sprintf("there again: %s, fingerprint %s, seen at %s, %s; somebody still writes it, or put it back", actions.Counted(k.Now.Size, "byte"), k.Now.Fingerprint, instant(k.At), by)
	case k.Found == actions.Present:
		text = fmt.Sprintf("there again, seen at %s, %s; somebody still writes it, or put it back", instant(k.At), by)
	case k.Found == actions.EmptyCopy:
		text = fmt.Sprintf("replayed without payload at %s, %s", instant(k.At), by)
	default:
		text = fmt.Sprintf("not observed at %s, %s", instant(k.At), by)
	}
	if k.why != nil {
		text += fmt.Sprintf("; the broker was not asked: %s", k.why)
	}
	return text
}

// latestJSON is the same for a script.
type latestJSON struct {
	Found       actions.Found `json:"found"`
	At          time.Time     `json:"at"`
	By          string        `json:"by"` // broker or record
	Size        *int          `json:"size"`
	Fingerprint *string       `json:"fingerprint"`
	NotAsked    *string       `json:"not_asked"` // why the broker was not asked
}

func (k latest) json() *latestJSON {
	out := &latestJSON{Found: k.Found, At: k.At, By: "record"}
	if k.asked {
		out.By = "broker"
	}
	if k.Now != nil {
		out.Size, out.Fingerprint = &k.Now.Size, &k.Now.Fingerprint
	}
	if k.why != nil {
		why := k.why.Error()
		out.NotAsked = &why
	}
	return out
}

// tellNotAsked says on stderr, in one line, why the broker was not asked about some of what is listed.
func (p *program) tellNotAsked(all map[string]latest) {
	n, why := 0, ""
	for _, k := range all {
		if k.why != nil {
			if n++; why == "" || k.why.Error() < why {
				why = k.why.Error()
			}
		}
	}
	switch {
	case n == 1:
		p.say("the broker was not asked whether 1 topic, once cleared, holds something again: %s", oneLine(why))
	case n > 1:
		p.say("the broker was not asked whether %s topics, once cleared, hold something again: %s", thousands(int64(n)), oneLine(why))
	}
}
