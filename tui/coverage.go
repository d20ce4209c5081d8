package tui

import (
	"fmt"
	"time"

	"retainscope/inventory"
)

// What the list may claim, in full: the claim and its rule, the grants, what explains a gap, what can be done.

// emptyWords says why there is no row. That a store is empty is never claimed: silence has more than one reason.
func (m *model) emptyWords() []string {
	switch {
	case m.list.l == nil, m.list.partial:
		return []string{"Putting the topics in order."}
	case m.filter.filter != nil && m.filter.err != "" && m.sum.Topics > 0:
		return []string{"No topic passes " + PrintableText([]byte(m.filter.good)) + ", the last text that could be read; " + number(m.sum.Topics) + " are held. esc clears the filter."}
	case m.filter.filter != nil && m.sum.Topics > 0:
		return []string{"No topic passes the filter; " + number(m.sum.Topics) + " are held. esc clears the filter."}
	case m.link.State == inventory.Lost:
		return []string{"The connection is lost and nothing was held. The next attempt is made by itself; r scans again once it stands."}
	}
	refused, granted := 0, 0
	for _, g := range m.cov.Grants {
		if g.Refused() {
			refused++
		} else {
			granted++
		}
	}
	if refused > 0 && granted == 0 {
		out := []string{"The broker refused what was asked for, so nothing can be seen. That is not an empty store."}
		for _, g := range m.cov.Grants {
			out = append(out, Printable([]byte(g.Filter))+": "+grantWords(g.Code))
		}
		return append(out, "This login may be allowed to read parts: start with a filter it may read, such as --filter 'home/#', or with another user.")
	}
	if m.link.State == inventory.Connecting {
		return []string{"Connecting to the broker."}
	}
	if m.link.Scanning || m.cov.Claim == inventory.Scanning {
		out := []string{"Asking the broker for every retained message. Nothing came yet."}
		if m.link.Progress != "" {
			out = append(out, "Now: "+m.link.Progress+".")
		}
		return append(out, "Rows appear as they come; every key works meanwhile. q leaves.")
	}
	return append(m.nothingCame(), m.cov.Notes...)
}

// nothingCame says what it can mean that a scan brought nothing.
func (m *model) nothingCame() []string {
	const hidden = "- permissions hide what is in it: a broker does not say so;"
	const exact = "- this broker does not replay retained messages to wildcard filters; then rows appear once their topic is published."
	switch known := m.cov.Known; {
	case known == 0 && m.cov.Claim == inventory.Verified:
		return []string{"The broker replayed nothing, and its own count says that it holds no retained topic. Rows appear once something is published with RETAIN."}
	case known == 0:
		return []string{"The broker replayed nothing, and it counts none itself, which speaks for an empty store. What else it can mean:", hidden, exact}
	case known > 0:
		return []string{"The broker replayed nothing, though it counts " + counted(known, "retained message") + " itself: something is there that this login was not shown. What that can mean:", hidden, exact}
	}
	return []string{"The broker replayed nothing. That can mean more than one thing:", "- the store is empty;", hidden, exact}
}

// reasonCodes are the SUBACK reason codes by name.
//
// Source: MQTT 5, 3.9.3.
var reasonCodes = map[byte]string{
	0x00: "granted QoS 0", 0x01: "granted QoS 1", 0x02: "granted QoS 2", 0x80: "unspecified error", 0x83: "implementation specific error",
	0x87: "not authorized", 0x8F: "topic filter invalid", 0x91: "packet identifier in use", 0x97: "quota exceeded",
	0x9E: "shared subscriptions not supported", 0xA1: "subscription identifiers not supported", 0xA2: "wildcard subscriptions not supported",
}

func grantWords(code byte) string {
	name, ok := reasonCodes[code]
	if !ok {
		name = "a code the standard does not name"
	}
	if code >= 0x80 {
		name = "refused, " + name
	}
	return fmt.Sprintf("%s (0x%02X)", name, code)
}

func (m *model) writeCoverage(w *writer) {
	p := &w.p
	c := m.cov
	words, style := m.claimWords()
	line := w.begin()
	line.sayIn(p.pal.strong, "What this list may claim: ")
	line.sayIn(style, words)
	w.end()
	if c.Rule != "" {
		w.text("", asSentence(c.Rule))
	}
	w.text(p.pal.dim, claimMeaning(c))
	w.blank()
	const label = 20
	heldThen := func() string {
		if at := countedAt(&c); !at.IsZero() {
			return counted(c.Seen, "retained topic") + " at " + instant(at, m.now)
		}
		return counted(c.Seen, "retained topic")
	}
	seen := heldThen()
	switch {
	case c.Claim == inventory.Scanning:
		seen = counted(m.sum.Topics, "retained topic") + " so far"
		if m.link.ScanOf > 0 {
			seen += ", of " + number(m.link.ScanOf) + " expected"
		}
	case c.Known < 0:
		seen += "; the broker does not tell how many it holds"
	default:
		seen += ", of " + number(c.Known) + " known to the broker"
		if c.Known < c.Seen {
			seen = heldThen() + "; the broker counted " + number(c.Known) + " before"
		}
		if c.KnownFrom != "" {
			seen += " (" + c.KnownFrom + ")"
		}
	}
	w.item("seen", label, "", seen)
	if since := m.since(); since != "" {
		w.item("now", label, p.pal.warn, counted(m.sum.Topics, "retained topic")+", "+since+": the claim is of"+m.checkedAt())
	}
	if n := c.Missing(); n > 0 {
		more := number(n)
		if notShown(c) > 0 {
			more += ": this list is verified for this login only"
		}
		w.item("not seen", label, p.pal.bad, more)
	}
	if c.Dropped >= 0 {
		w.item("dropped by broker", label, "", number(c.Dropped)+" messages during the scan, by its own counter")
	}
	if c.Discarded > 0 {
		w.item("dropped by us", label, p.pal.bad, number(c.Discarded)+" messages, because the read-ahead was full")
	}
	if c.WireBytes > 0 {
		w.item("on the wire", label, "", size(c.WireBytes)+" for the scan")
	}
	if c.Slices > 0 {
		w.item("slices", label, "", number(int64(c.Slices))+" parts were asked for one by one")
	}
	if !c.StartedAt.IsZero() {
		scan := "began " + instant(c.StartedAt, m.now)
		if !c.EndedAt.IsZero() {
			scan += ", ended " + instant(c.EndedAt, m.now) + ", took " + exact(c.EndedAt.Sub(c.StartedAt))
		}
		w.item("scan", label, "", scan)
	}
	m.writeStore(w, label)
	w.title("Asked for")
	for _, g := range c.Grants {
		style := ""
		if g.Refused() {
			style = p.pal.bad
		}
		w.item(Printable([]byte(g.Filter)), label, style, grantWords(g.Code))
	}
	if len(c.Grants) == 0 {
		w.text(p.pal.dim, "Nothing was answered yet.")
	}
	m.writeReasons(w)
}

// writeStore says what is held of what was seen.
func (m *model) writeStore(w *writer, label int) {
	s := m.sum
	w.item("payload bytes", label, "", size(s.Bytes)+", of which "+size(s.KeptBytes)+" are kept")
	if s.Cut > 0 {
		w.item("payloads cut", label, w.p.pal.warn, number(s.Cut)+"; their length and digest are whole")
	}
}

func (m *model) writeReasons(w *writer) {
	c := m.cov
	p := &w.p
	if c.Missing() > 0 || len(c.Gaps) > 0 {
		w.title("What explains the difference")
		for _, g := range c.Gaps {
			count := "some"
			if g.Count >= 0 {
				count = number(g.Count)
			}
			w.item(count, 8, "", asSentence(g.Text))
		}
		if len(c.Gaps) == 0 {
			w.text(p.pal.bad, "Unexplained.")
		}
	}
	if len(c.Away) > 0 {
		w.title("Not watched")
		for _, s := range c.Away {
			text := instant(s.From, m.now) + " until now"
			if !s.To.IsZero() {
				text = instant(s.From, m.now) + " to " + instant(s.To, m.now) + ", " + exact(s.To.Sub(s.From).Round(time.Second))
			}
			w.text("", text)
		}
		w.text(p.pal.dim, "What was published and cleared in between was not seen.")
	}
	if len(c.Remedies) > 0 {
		w.title("What can be done")
		for _, r := range c.Remedies {
			w.item("-", 2, "", r)
		}
	}
	if len(c.Notes) > 0 {
		w.title("About this broker")
		for _, n := range c.Notes {
			w.item("-", 2, "", n)
		}
	}
	w.title("What no scan can show")
	w.text(p.pal.dim, "A quiet subscriber is bounded evidence, not proof of absence: permissions, names that begin with $, refused filters and the broker's own queue limits can hide topics. A stored QoS is not visible at QoS 0.")
}

// asSentence gives a phrase its capital and its full stop.
func asSentence(s string) string {
	if s == "" {
		return s
	}
	if s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	if last := s[len(s)-1]; last != '.' && last != '!' && last != '?' {
		s += "."
	}
	return s
}

// claimMeaning says what the claim is worth.
func claimMeaning(c inventory.Coverage) string {
	switch c.Claim {
	case inventory.Verified:
		if n := notShown(c); n > 0 {
			return "What the broker sends to this login is all here: it dropped nothing. " + asSentence(moreCounted(n)) + " What they are is below."
		}
		return "A count that is not ours agrees, or the broker's dropped counter did not move over a full interval after the burst."
	case inventory.NoSignOfLoss:
		return "The burst ended by the rule and was smaller than what any broker was seen to lose from. There was no independent count."
	case inventory.Unverified:
		if c.Seen == 0 {
			return "Nothing came, and silence alone does not tell why."
		}
		return "Nothing that is not ours says that this list is whole; why is said above."
	case inventory.Incomplete:
		return "There is evidence that topics are missing from this list."
	}
	return "The scan has not ended; the list is what came so far."
}
