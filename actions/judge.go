package actions

import (
	"fmt"
	"slices"
	"time"

	"retainscope/inventory"
)

// judge turns evidence into a verdict. It is the only place that does.
func (s sent) judge(topic []byte) Outcome {
	out := Outcome{Receipt: receiptOf(s.receipt, s.sendErr), Controls: s.controls, Until: s.lookedAt.UTC()}
	after := s.afterTombstone(topic, &out)
	s.readBack(topic, after, &out)
	s.overrun(topic, &out)
	answered := s.receipt.Answered
	switch {
	case s.fault != "":
		out.Verdict, out.Why = Unknown, s.fault
	case !answered:
		out.Verdict, out.Why = NoAnswer, s.silence()
	case s.receipt.Code >= 0x80: // 3.4.2.1
		out.Verdict = Refused
	case lost(s.controls) > 0, out.Overrun != nil:
		out.Verdict = Collateral
	case out.Return != nil:
		out.Verdict = CameBack
	case s.blind != "":
		out.Verdict, out.Why = CouldNotVerify, s.blind
	case out.Found == EmptyCopy:
		out.Verdict = EmptyReplay
	case out.Found == Present:
		out.Verdict = StillPresent
	case seenAgain(s.controls) == 0:
		out.Verdict, out.Why = CouldNotVerify, "no control was seen again, so that the silence of the topic proves nothing"
	default:
		out.Verdict = ClearedVerified
	}
	return out
}

func (s sent) accepted() bool { return s.receipt.Answered && s.receipt.Code < 0x80 }

// silence says why no answer came.
func (s sent) silence() string {
	switch {
	case s.left:
		return "the program was left before an answer came"
	case s.receipt.Disconnected:
		return "the broker ended the connection with " + ReasonName(s.receipt.DisconnectCode)
	case s.sendErr != nil:
		return s.sendErr.Error()
	}
	return "no acknowledgement came in time"
}

// afterTombstone returns what the witness saw on the topic after the empty message, or, where that did not reach it,
// after the acknowledgement.
func (s sent) afterTombstone(topic []byte, out *Outcome) []inventory.Publication {
	var after []inventory.Publication
	for _, p := range s.witness {
		if string(p.Topic) != string(topic) {
			continue
		}
		if len(p.Payload) == 0 {
			if out.Echo && len(after) > 0 {
				out.Notes = append(out.Notes, "it was written after the clear and somebody emptied it again: a writer is alive")
			}
			out.Echo, after = true, nil
			continue
		}
		if out.Echo || s.receipt.Answered && p.ReceivedAt >= s.receipt.AnsweredAt.UnixMilli() {
			after = append(after, p)
		}
	}
	return after
}

// overrun finds a value that somebody wrote between the last comparison and the tombstone: nobody approved that one, and
// it went as well. The witness was served it before the first empty message, or at least before the acknowledgement: of
// several empty messages nobody can say which was ours, and where none came the topic must not have been observed since.
func (s sent) overrun(topic []byte, out *Outcome) {
	if s.receipt.Answered && !s.accepted() || out.Found == FoundNothingOut && !s.accepted() {
		return
	}
	var written, last *inventory.Publication // since the last empty message, and before it
	emptied := 0
	beforeAnswer := func(p *inventory.Publication) bool {
		return !s.receipt.Answered || p.ReceivedAt < s.receipt.AnsweredAt.UnixMilli()
	}
	for i, p := range s.witness {
		switch {
		case string(p.Topic) != string(topic) || !p.Retain:
		case len(p.Payload) > 0:
			written = &s.witness[i]
		default:
			if written != nil && (emptied == 0 || beforeAnswer(written)) {
				last = written
			}
			written = nil
			emptied++
		}
	}
	if emptied == 0 && written != nil && out.Found == NotObserved && beforeAnswer(written) {
		last = written
	}
	if emptied > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d empty messages were published on the topic: somebody else cleared it as well", emptied))
	}
	switch {
	case last == nil:
	case SameValue(s.approved, *last, s.stamps):
		out.Notes = append(out.Notes, "the approved value was published once more just before the clear: a writer is alive")
	default:
		c := copyOf(*last, s.stamps, s.limit)
		if out.Now == nil || out.Now.Fingerprint != c.Fingerprint { // what is still there did not go
			out.Overrun = &c
		}
	}
}

// readBack fills in what the read-back found, and a return where there was one: only what was accepted can return.
func (s sent) readBack(topic []byte, after []inventory.Publication, out *Outcome) {
	var first *inventory.Publication // the first that was stored for certain, else the first of all
	for i, p := range after {
		if p.Retain { // Retain As Published: the writer set it
			first = &after[i]
			break
		}
	}
	if s.blind == "" {
		p, there := s.look.replay(topic)
		switch {
		case !there:
			out.Found = NotObserved
		case len(p.Payload) == 0:
			out.Found = EmptyCopy
		default:
			out.Found = Present
			c := copyOf(p, s.stamps, -1)
			out.Now = &c
			if !s.accepted() {
				return
			}
			if first == nil && len(after) > 0 {
				first = &after[0] // a broker that does not keep RETAIN on live copies
			}
			if first == nil && (!SameValue(s.approved, p, s.stamps) || s.grew(c)) {
				out.Return = s.returned(time.Time{}, p)
				return
			}
		}
	}
	if first != nil && s.accepted() {
		out.Return = s.returned(time.UnixMilli(first.ReceivedAt).UTC(), *first)
	} else if len(after) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s without RETAIN came on the topic after the clear: a writer is alive", Counted(len(after), "message")))
	}
}

// returned makes the fact of a return of p; a zero at means that nobody saw it come.
func (s sent) returned(at time.Time, p inventory.Publication) *Return {
	from, to := s.receipt.AnsweredAt, at
	if at.IsZero() {
		to = s.lookedAt
	}
	if from.IsZero() {
		from = s.receipt.SentAt
	}
	return &Return{At: at, AfterMS: max(0, to.Sub(from).Milliseconds()), Same: SameValue(s.approved, p, s.stamps), Fingerprint: fingerprintOf(p, s.stamps)}
}

// grew reports whether the copy has more time left than the one before the clear had when it was read: only a new
// publication does that.
func (s sent) grew(now Copy) bool {
	return s.before.Expiry == now.Expiry && now.Seconds > s.before.Seconds+1
}

// compareControls says for every control how it came out.
func compareControls(before []Copy, look Observation, quiet time.Duration, lookErr error, seen []inventory.Publication, stamps bool) []ControlResult {
	live := slices.Clone(seen)
	for _, p := range look.Seen {
		if !p.Retain { // in a look RETAIN marks a replay
			live = append(live, p)
		}
	}
	results := make([]ControlResult, 0, len(before))
	for _, c := range before {
		r := ControlResult{Topic: c.Topic, Before: c.Fingerprint}
		written, emptied := false, false
		for _, p := range live {
			if string(p.Topic) == string(c.Topic) {
				written, emptied = true, len(p.Payload) == 0
			}
		}
		p, there := look.replay(c.Topic)
		switch {
		case look.blind(c.Topic, quiet, lookErr) != "":
			r.State = NotCompared
		case there:
			r.After = fingerprintOf(p, stamps)
			r.State = Intact
			if r.After != r.Before {
				r.State = ChangedSilently
				if written {
					r.State = ChangedLive
				}
			}
		case emptied:
			r.State = ClearedBySomeone
		case ranOut(c, look.To):
			r.State = RanOut
		default:
			r.State = Lost
		}
		results = append(results, r)
	}
	return results
}

// ranOut reports whether c was due at now, give or take the two seconds that brokers were seen to differ by.
func ranOut(c Copy, now time.Time) bool {
	left, counts := c.interval().Remaining(c.ReceivedAt.UnixMilli(), now.UnixMilli())
	return counts && left <= 2*time.Second
}

func lost(rs []ControlResult) int { return count(rs, Lost) }

func seenAgain(rs []ControlResult) int {
	return count(rs, Intact) + count(rs, ChangedLive) + count(rs, ChangedSilently)
}

func count(rs []ControlResult, s ControlState) int {
	n := 0
	for _, r := range rs {
		if r.State == s {
			n++
		}
	}
	return n
}
