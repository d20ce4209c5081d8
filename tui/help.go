package tui

import (
	"strings"

	"retainscope/inventory"
)

// The help screen: the keys of the screen one came from, why one is off, and what the words mean.

func (m *model) writeHelp(w *writer) {
	p := w.begin()
	p.sayIn(p.pal.strong, "Keys")
	p.sayIn(p.pal.dim, "  retainscope "+m.o.Version)
	w.end()
	// What works is told for the screen that help was opened from, which the cursor and the focus still describe.
	was := m.screen
	m.screen = m.helpFrom
	here := m.scope()
	const label = 22
	for _, part := range []struct {
		title string
		where scope
	}{{"In the list", inList}, {"In the detail pane", inDetail}, {"In what looks left behind", inLeft}, {"In what is approved", inApproved}, {"In the record", inRecord}, {"In coverage, events and this help", inPage}} {
		if part.where != here {
			continue
		}
		w.text(w.p.pal.dim, part.title+":")
		for i := range m.commands {
			c := &m.commands[i]
			if c.where&here == 0 {
				continue
			}
			h := c.keys.Help()
			text, style := h.Desc, ""
			if why := m.why(c); why != "" {
				text, style = h.Desc+" (off: "+why+")", w.p.pal.dim
			}
			w.item(strings.ReplaceAll(h.Key, "ctrl+", "^"), label, style, text)
		}
	}
	m.screen = was
	w.title("Filter")
	for _, f := range [][2]string{
		{"kitchen", "the topic contains it"},
		{"a/+/state", "an MQTT topic filter; also a/#"},
		{"*temp*", "the whole topic, * stands for anything"},
		{"is:never", "also expiring, unknown, due, live, changed, fell, odd, cut, empty, served, differs, notseen, left, hazard, approved (to be cleared), marked (every row with a !)"},
		{"size>1k expiry<10m", "length (k is 1000, Ki is 1024) and remaining time (s, m, h, d, w)"},
		{"payload:text", "the payload contains it"},
		{"owner:NAME", "the owner's name contains it"},
		{"finding:NAME", "such as dangling, renamed, owner-offline, retained-command; the pane names them"},
		{"re:EXPR", "a regular expression on the topic"},
		{"-word", "not that; \"two words\" keeps the space"},
	} {
		w.item(f[0], label, "", f[1])
	}
	w.title("What the columns claim")
	for _, f := range [][2]string{
		{"EXPIRY", "never: no interval came with the copy. A countdown with a bar against the largest value seen. due: it reached zero here and the broker was not asked again yet. stopped: nobody watches. Brokers remove a copy up to one second early or two seconds late."},
		{"SEEN LIVE", "the last publication that was not a replay. A replay is never activity. \"not in 2h\" means in 2h of watching, by this screen or by the journal."},
		{"SIZE", "true length; \"cut\" or * when not all bytes are kept."},
		{"READING", "whose the topic is and whether the owner says that it lives, else what expiry tells. \"left behind\" names evidence, never a proof; a retained \"online\" proves only that nobody published \"offline\". A missed refresh is claimed only after two live refreshes. Nothing here says that a topic may be removed: that is what a person approves with a, and then it says so, and how a clear of it goes."},
		{"!", "worth a look: still served after its end, fell to never, an empty replay, a payload that looks empty, a name that is easily misread, a copy older than live traffic, left behind, or a hazard: a message that does something by itself. is:marked lists them."},
	} {
		w.item(f[0], label, "", f[1])
	}
	if m.link.Limited() {
		w.title("What MQTT 3.1.1 does not tell")
		w.text("", inventory.LimitedView)
		w.text("", inventory.LimitedClears)
	}
	w.title("What a scan does to others")
	w.text("", "Scanning reads every retained message. It makes a broker collect messages that had expired, and a single-threaded one serves nobody else for about 3 microseconds a topic.")
	w.title("What ending a session does not do")
	w.text("", "A retained message is not part of a session: ending a session or dropping a subscription removes none.")
}
