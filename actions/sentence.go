package actions

import (
	"fmt"
	"strings"
	"time"
)

// clock is how a time stands in a sentence.
const clock = "2006-01-02 15:04:05Z"

func at(t time.Time) string { return t.UTC().Format(clock) }

// ago writes milliseconds as a person says them.
func ago(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ms)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// sentence says how the clear ended. It names what was not observed, by whom and until when, and claims no absence.
func (o Outcome) sentence(topic []byte) string {
	name := Quote(topic)
	answer := ""
	if o.Receipt != nil && o.Receipt.Answered {
		answer = explainAnswer(o.Receipt.Code)
		if o.Receipt.Reason != "" {
			answer += fmt.Sprintf(" (the broker says %s)", Quote([]byte(o.Receipt.Reason)))
		}
	}
	var s string
	switch o.Verdict {
	case ClearedVerified:
		s = fmt.Sprintf("%s; %s; %s", answer, o.foundText(name), controlsText(o.Controls))
	case StillPresent:
		s = fmt.Sprintf("%s; yet %s: the broker keeps it", answer, o.foundText(name))
	case CameBack:
		s = fmt.Sprintf("%s; %s", answer, o.Return.text(name))
	case Refused:
		s = fmt.Sprintf("%s; %s", answer, o.foundText(name))
	case CouldNotVerify:
		s = fmt.Sprintf("%s; whether it took effect could not be verified: %s", answer, o.Why)
	case NoAnswer:
		s = fmt.Sprintf("sent, and no answer: %s. This is neither success nor failure; %s%s", o.Why, o.overrunText(), o.foundText(name))
	case NotSent:
		s = fmt.Sprintf("nothing was sent (%s): %s", o.Obstacle, o.Why)
	case Changed:
		s = fmt.Sprintf("nothing was sent: %s does not hold the value that was approved", name)
		if o.Now != nil {
			s += fmt.Sprintf("; it holds %s with the fingerprint %.12s", Counted(o.Now.Size, "byte"), o.Now.Fingerprint)
		}
	case Vanished:
		why := "it may be gone already, or this login may not read it"
		if o.Why != "" {
			why = o.Why
		}
		s = fmt.Sprintf("nothing was sent: %s was not observed; %s", name, why)
	case Collateral:
		s = fmt.Sprintf("alarm: %s%s; %s; %s", o.overrunText(), controlsText(o.Controls), answer, o.foundText(name))
	case EmptyReplay:
		s = fmt.Sprintf("%s; but the broker replays a retained message without payload for %s, which the standard does not allow", answer, name)
	default:
		s = "what was written to the broker is in doubt: " + o.Why
		if answer != "" {
			s += "; " + answer
		}
		s += "; " + o.foundText(name)
	}
	return s
}

// overrunText names a value that went without an approval, or returns "".
func (o Outcome) overrunText() string {
	if o.Overrun == nil {
		return ""
	}
	kept := "it is saved and can be put back"
	if !o.Overrun.Saved {
		kept = "it was too large to be saved"
	}
	return fmt.Sprintf("somebody wrote another value, %d bytes, fingerprint %.12s, between the last look and the empty message, and it went unapproved (%s); ",
		o.Overrun.Size, o.Overrun.Fingerprint, kept)
}

func (o Outcome) foundText(name string) string {
	by, until := "the observer", ""
	if n := len(o.Looks); n > 0 {
		l := o.Looks[n-1]
		by = fmt.Sprintf("observer %s (%s)", Quote([]byte(l.ClientID)), userName(l.User))
	}
	if !o.Until.IsZero() {
		until = ", up to " + at(o.Until)
	}
	switch o.Found {
	case NotObserved:
		return fmt.Sprintf("%s with a new subscription did not observe %s%s", by, name, until)
	case Present:
		what := "it"
		if o.Now != nil {
			what = fmt.Sprintf("%s, fingerprint %.12s", Counted(o.Now.Size, "byte"), o.Now.Fingerprint)
		}
		return fmt.Sprintf("%s with a new subscription was served %s (%s)", by, name, what)
	case EmptyCopy:
		return fmt.Sprintf("%s was served a retained message without payload for %s", by, name)
	default:
		return fmt.Sprintf("what %s holds could not be read back", name)
	}
}

func (r *Return) text(name string) string {
	what := "with another value"
	if r.Same {
		what = "with the same value"
	}
	if r.At.IsZero() {
		return fmt.Sprintf("%s came back %s within %s: somebody still writes it", name, what, ago(r.AfterMS))
	}
	return fmt.Sprintf("%s came back after %s %s: somebody still writes it", name, ago(r.AfterMS), what)
}

func controlsText(rs []ControlResult) string {
	if len(rs) == 0 {
		return "no controls"
	}
	var parts []string
	for s := Intact; s <= Lost; s++ {
		if n := count(rs, s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if n := count(rs, NotCompared); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, NotCompared))
	}
	text := fmt.Sprintf("of %s %s", Counted(len(rs), "control"), strings.Join(parts, ", "))
	if l := lost(rs); l > 0 {
		var names []string
		for _, r := range rs {
			if r.State == Lost && len(names) < 5 {
				names = append(names, Quote(r.Topic))
			}
		}
		text += " (" + strings.Join(names, ", ") + ")"
		if l == len(rs) {
			text += "; nothing at all was observed, so the observer may have lost its right to read"
		}
	}
	return text
}

// limitsOf returns what evidence of this kind cannot tell.
func limitsOf(user string, quiet time.Duration) []string {
	return []string{
		"a subscription that stays quiet is bounded evidence, not proof: rights, packet limits or a stopped observer can hide data",
		fmt.Sprintf("seen with the login %s, which may not be allowed to read everything", userName(user)),
		fmt.Sprintf("the look ended after the broker answered PINGREQ and sent no copy for %v", quiet),
		"ending a session or a subscription removes nothing, and neither does this observation",
	}
}

func join(parts []string) string { return strings.Join(parts, "; ") }
