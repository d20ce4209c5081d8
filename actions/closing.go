package actions

import "fmt"

// Closing is one of the four questions of a retirement, closed or left open, and why.
type Closing struct {
	Question string
	Closed   bool
	Why      string // safe for a terminal
}

// Closings returns ownership, writers, acknowledgement and read-back, each for itself: one never stands for another.
func (op Operation) Closings() [4]Closing {
	c := [4]Closing{{Question: "ownership"}, {Question: "writers"}, {Question: "acknowledgement"}, {Question: "read-back"}}
	if op.Intent == nil {
		for i := range c {
			c[i].Why = "nothing was begun"
		}
		return c
	}
	e := op.Intent.Entry
	c[0].Closed = e.Owner != "" && e.ApprovedBy != ""
	c[0].Why = fmt.Sprintf("owner %s, approved by %s at %s", Quote([]byte(e.Owner)), Quote([]byte(e.ApprovedBy)), at(e.ApprovedAt))
	if open := op.Provisional(); len(open) > 0 {
		c[1].Why = open[0]
		if len(open) > 1 {
			c[1].Why += fmt.Sprintf(" (and %d more)", len(open)-1)
		}
	} else {
		c[1].Closed, c[1].Why = true, fmt.Sprintf("%d established as stopped or fenced, wills included", len(e.Writers))
	}
	o := op.Outcome
	switch {
	case o == nil && op.Running != "":
		c[2].Why, c[3].Why = "it is running", "it is running"
		return c
	case o == nil:
		c[2].Why, c[3].Why = "no outcome was written", "no outcome was written"
		return c
	case o.Receipt == nil || !o.Verdict.Sent():
		c[2].Why, c[3].Why = "nothing was sent", "nothing was sent"
		return c
	case o.Receipt.Answered && o.Verdict != Unknown:
		c[2].Closed = o.Receipt.Code < 0x80
		c[2].Why = explainAnswer(o.Receipt.Code)
	default:
		c[2].Why = o.Why
	}
	c[3].Closed = o.Found == NotObserved && op.Verdict() == ClearedVerified
	c[3].Why = o.foundText(Quote(op.Topic)) + "; " + controlsText(o.Controls)
	if l, back := op.cameBackLater(); back {
		c[3].Why = l.Sentence
	}
	return c
}
