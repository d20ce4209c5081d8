package tui

// Where things stand for a size of the terminal. Nothing here draws.

const (
	wideFrom   = 120 // columns from which the detail pane stands beside the list
	fullList   = 81  // cells in which a tree shows all its columns but the bar, and the wall
	leastWidth = 32  // below these a single line says so
	leastRows  = 7
	mostWidth  = 500 // what a terminal claims beyond these is not believed
	mostRows   = 300
	tallFrom   = 16 // rows from which the header has all its lines
	noteFrom   = 20 // rows from which a note about the broker has a line of its own
)

// layout says which lines of the screen hold what.
type layout struct {
	w, h  int
	tiny  bool // too small for anything
	tall  bool // all header lines, headings and rules
	note  bool // a line for what is true of this broker
	wide  bool // list and detail side by side
	head  int  // header lines
	body  int  // lines between header and footer
	list  int  // cells of the list
	pane  int  // cells of the detail pane where it stands beside, else of the whole width
	lines int  // rows of topics in the list
}

// layoutFor divides a terminal of w times h cells; note says that the header has a note to show.
func layoutFor(w, h int, note bool) layout {
	l := layout{w: min(w, mostWidth), h: min(h, mostRows)}
	if l.w < leastWidth || l.h < leastRows {
		l.tiny = true
		return l
	}
	l.tall = l.h >= tallFrom
	l.wide = l.w >= wideFrom
	l.head = 2
	foot := 1
	if l.tall {
		l.head, foot = 4, 2
		if note && l.h >= noteFrom {
			l.note = true
			l.head++
		}
	}
	l.body = l.h - l.head - foot
	l.list, l.pane = l.w, l.w
	if l.wide {
		l.list = max(l.w*3/5, fullList)
		if l.list > 110 {
			l.list = 110 + (l.list-110)/2
		}
		l.pane = l.w - l.list - 1
	}
	l.lines = l.body
	if l.tall {
		l.lines-- // the column headings
	}
	return l
}

// closed returns the layout without the detail pane beside the list.
func (l layout) closed() layout {
	if l.wide {
		l.wide, l.list, l.pane = false, l.w, l.w
	}
	return l
}

// columns are the places of the list's columns, from the first cell; a width of 0 is a column that is not shown.
type columns struct {
	topic, topicW     int
	expiry, expiryW   int
	bar, barW         int
	live, liveW       int
	size, sizeW       int
	reading, readingW int
}

// markWidth is the cursor sign and the sign for a row that wants to be looked at.
const markWidth = 3

// The least cells of the topic column: a flat list shows whole topics, a tree one level a row.
const (
	leastLevel = 24
	leastTopic = 33
)

// gap is what stands between two columns.
const gap = 2

// columnsFor divides w cells. The topic gets what is left, at least so many as asked for where there is any choice: the
// bar goes first, then size, seen live and reading, unless the size is what the rows are sorted by. Where no expiry is
// told there is no bar, and its room is for the word that says so.
func columnsFor(w, least int, bySize, limited bool) columns {
	const (
		countW   = 10
		liveW    = 10
		sizeW    = sizeNumber + 1 // with room for the sign of a cut
		sizeCut  = sizeNumber + 4 // with room for the word
		readingW = 18
		wideRead = 20
		barW     = 8
	)
	expiryW := countW
	if limited && w >= markWidth+least+gap+len(wordUnknown311) {
		expiryW = len(wordUnknown311)
	}
	c := columns{topic: markWidth, expiryW: expiryW}
	left := w - markWidth - gap - expiryW
	give := func(width *int, want int) {
		if more := want - *width; more > 0 && left-more-gap >= least {
			if *width == 0 {
				left -= gap
			}
			*width = want
			left -= more
		}
	}
	give(&c.readingW, readingW)
	if bySize {
		give(&c.sizeW, sizeW)
	}
	give(&c.liveW, liveW)
	give(&c.sizeW, sizeW)
	if !limited {
		give(&c.barW, barW)
	}
	if c.barW > 0 {
		give(&c.sizeW, sizeCut)
		give(&c.readingW, wideRead)
	}
	c.topicW = max(left, 1)
	c.expiry = c.topic + c.topicW + gap
	x := c.expiry + expiryW + gap
	for _, f := range []struct{ at, w *int }{{&c.bar, &c.barW}, {&c.live, &c.liveW}, {&c.size, &c.sizeW}, {&c.reading, &c.readingW}} {
		*f.at = x
		if f.at == &c.bar {
			*f.at = x - 1 // the bar belongs to the countdown
		}
		if *f.w > 0 {
			x += *f.w + gap
		}
	}
	return c
}
