package tui

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"retainscope/actions"
)

// What is said on the ordinary screen when the program was left: how an act ended that nobody could read of any more, and
// which returns were not watched for to the end.

// farewell writes one sentence for each of them, in lines that fit, oldest first. It is called when the program has ended and what it had under
// way was waited for. A terminal that is gone hears nothing.
func (m *model) farewell(out io.Writer) {
	for _, a := range slices.Backward(m.acts) {
		if text := m.lastWord(a); text != "" {
			for _, line := range wrapProse(m.pen.m, text, cmp.Or(m.w, 80)) {
				_, _ = fmt.Fprintf(out, "%s\n", line)
			}
		}
	}
}

// lastWord returns what is left to say of an act, empty where everything was on the screen.
func (m *model) lastWord(a *act) string {
	what := "The clear of " + Printable(a.topic) + ": "
	if a.restore {
		what = "The undo of " + Printable(a.topic) + ": "
	}
	if m.running == a { // the screen ended before it heard
		msg := a.result.Load()
		switch {
		case msg != nil:
			a.take(*msg, m.o.Now())
		case a.sending():
			return what + "it may have been sent, and its answer was not waited for any longer; the next start tells what is known of it."
		default:
			return what + "nothing was sent: left before it had begun."
		}
	} else if !a.late {
		if a.watching.IsZero() {
			return ""
		}
		text, _ := verdictWords(a.op.Verdict())
		if len(a.op.Provisional()) > 0 {
			text += ", PROVISIONAL"
		}
		return what + text + "; the return was not watched to its end, " + a.watching.In(m.now.Location()).Format("15:04:05") + "."
	}
	text, _ := a.news()
	if o := a.op.Outcome; !a.restore && o != nil && o.Verdict == actions.NotSent {
		text, _ = withError(asSentence(o.Sentence), a.err, calm)
	}
	if a.returnPossible() {
		text += " A return was not watched for."
	}
	return what + lowered(text)
}

// returnPossible reports whether a return is to be watched for: the clear may have emptied the topic, and a watch is wanted.
func (a *act) returnPossible() bool {
	if a.restore || a.watch <= 0 || a.op.Outcome == nil {
		return false
	}
	switch a.op.Outcome.Verdict {
	case actions.ClearedVerified, actions.CouldNotVerify, actions.NoAnswer, actions.Collateral, actions.EmptyReplay:
		return true
	}
	return false
}

// lowered returns a sentence as it goes on after a colon. A word in capitals stays one.
func lowered(text string) string {
	if len(text) > 1 && 'A' <= text[0] && text[0] <= 'Z' && 'a' <= text[1] && text[1] <= 'z' {
		return string(text[0]+'a'-'A') + text[1:]
	}
	return text
}
