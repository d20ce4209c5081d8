package tui

import (
	"bytes"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// The detail pane: everything that is held of the topic under the cursor, or what is below a branch.

// detail is the pane. Its lines are three parts: facts, the payload of which only the lines in sight are made, and what
// follows the payload.
type detail struct {
	topic  []byte           // what is shown
	d      inventory.Detail // of a held topic
	have   bool             // d is of topic
	asked  inventory.Ref    // being read on another goroutine
	laying bool             // the payload is being laid out on another goroutine
	view   view             // how the payload is to be shown

	head, tail []pageLine
	body       payload
	scroll     int
}

type detailMsg struct {
	topic  []byte
	detail inventory.Detail
	found  bool
}

// mostInline is the size of a payload from which it is read and laid out off the goroutine that hears keys.
const mostInline = 64 << 10

// forget drops what was laid out, because cells are counted in another way now.
func (d *detail) forget() { d.body = payload{} }

// gatherDetail reads what the pane shows, where it is shown and not read already.
func (m *model) gatherDetail() tea.Cmd {
	d := &m.detail
	if !m.lay.wide && !m.focus {
		return nil
	}
	r, ok := m.row()
	if !ok {
		d.topic, d.have = nil, false
		return nil
	}
	if !bytes.Equal(d.topic, r.Prefix) {
		d.topic = append([]byte(nil), r.Prefix...)
		d.have, d.scroll = false, 0
		d.asked = inventory.Ref{}
		d.d = inventory.Detail{}
		d.view = viewBest
	}
	if !r.Held {
		d.have = false
		return nil
	}
	if !m.paused.IsZero() {
		m.detailStill(r)
		return m.layOut()
	}
	if d.have && sameContent(&d.d.Slot, &r.Slot) {
		d.d.Slot = r.Slot
		return m.layOut()
	}
	if r.Slot.Size <= mostInline {
		found, ok := m.inv.Detail(r.Slot.Ref)
		d.d, d.have = found, ok
		return m.layOut()
	}
	if d.asked == r.Slot.Ref {
		return nil
	}
	d.asked = r.Slot.Ref
	ref, inv, topic := r.Slot.Ref, m.inv, d.topic
	return m.task(func() tea.Msg {
		found, ok := inv.Detail(ref)
		return detailMsg{topic, found, ok}
	})
}

// layOut lays the payload out for the pane where that was not done yet: a small one at once, a large one on another
// goroutine.
func (m *model) layOut() tea.Cmd {
	d := &m.detail
	width := m.lay.pane - 2
	if !d.have || d.body.fits(&d.d, d.view, width) {
		return nil
	}
	if d.d.Kept <= mostInline {
		d.body = layOut(m.pen.m, &d.d, d.view, width)
		return nil
	}
	if d.laying {
		return nil
	}
	d.laying = true
	measure, of, view := m.pen.m, d.d, d.view
	return m.task(func() tea.Msg { return laidMsg{layOut(measure, &of, view, width)} })
}

type laidMsg struct{ body payload }

// sameContent reports whether nothing but time has moved between two copies of a slot.
func sameContent(a, b *inventory.Slot) bool {
	return a.Ref == b.Ref && a.ReceivedAt == b.ReceivedAt && a.Size == b.Size && a.Interval == b.Interval &&
		bytes.Equal(a.Head, b.Head)
}

// take puts a detail read elsewhere into the pane, if it is still of the topic shown.
func (d *detail) take(msg detailMsg) {
	if !bytes.Equal(msg.topic, d.topic) {
		return
	}
	d.asked = inventory.Ref{}
	d.d, d.have = msg.detail, msg.found
}

// build makes the lines for a pane of width cells.
func (d *detail) build(m *model, width int) {
	w := newWriter(&m.pen, width)
	d.tail = nil
	switch r, ok := m.row(); {
	case !ok:
		w.text(w.p.pal.dim, "Nothing is under the cursor.")
		d.body = payload{}
	case staying(r) && !r.Held:
		m.writeStaying(w, r.Prefix)
		d.body = payload{}
	case !r.Held:
		m.writeBranch(w, r)
		d.body = payload{}
	case !d.have && !m.paused.IsZero():
		m.writeTopic(w, r.Prefix)
		w.text(w.p.pal.dim, "It changed since the picture is held still; p moves on.")
		d.body = payload{}
	case !d.have:
		m.writeTopic(w, r.Prefix)
		w.text(w.p.pal.dim, "Reading "+size(int64(r.Slot.Size))+".")
		d.body = payload{}
	default:
		m.writeFacts(w)
		if !d.body.fits(&d.d, d.view, width-2) {
			d.body = payload{}
			w.blank()
			w.text(w.p.pal.dim, "Laying out a payload of "+size(int64(d.d.Kept))+".")
			break
		}
		m.writeValueTitle(w)
		d.head = w.lines
		t := newWriter(&m.pen, width)
		m.writeProperties(t)
		m.writeChanges(t)
		d.tail = t.lines
		return
	}
	d.head = w.lines
}

// lines is how many lines there are.
func (d *detail) lines() int { return len(d.head) + d.body.lines() + len(d.tail) }

// drawLine writes the y-th line in sight.
func (d *detail) drawLine(p *pen, y int) {
	start := p.x
	i := d.scroll + y
	switch n := d.body.lines(); {
	case i < len(d.head):
		p.ready(d.head[i])
	case i < len(d.head)+n:
		p.to(start + 1)
		d.body.draw(p, i-len(d.head))
	case i < len(d.head)+n+len(d.tail):
		p.ready(d.tail[i-len(d.head)-n])
	}
}

func (d *detail) draw(p *pen, body, width int) {
	p.right = width
	d.clamp(body)
	for y := range body {
		if y == body-1 && d.scroll+body < d.lines() {
			p.to(1)
			p.sayIn(p.pal.dim, p.m.more()+" "+number(int64(d.lines()-d.scroll-body+1))+" more lines")
		} else {
			d.drawLine(p, y)
		}
		p.nl()
	}
}

func (d *detail) clamp(body int) { d.scroll = max(0, min(d.scroll, d.lines()-body)) }
