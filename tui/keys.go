package tui

import (
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Every key of every screen stands in one table: what it does, when it is off and why, and what footer and help say.

// scope says where keys are heard.
type scope uint8

const (
	inList     scope = 1 << iota
	inDetail         // the detail pane has the keys
	inPage           // coverage, events, help
	inLeft           // what looks left behind
	inApproved       // the manifest
	inRecord         // what was done
)

const inTopics = inList | inDetail
const inAll = inList | inDetail | inPage | inLeft | inApproved | inRecord

// command is one row of the table.
type command struct {
	keys  key.Binding
	short string                // in the footer; "" = not there
	says  func(m *model) string // what the footer says instead, where that depends on what is shown
	rank  int                   // in the footer: a higher one stays longer
	own   scope                 // where the key is at home: there its rank is higher
	where scope
	off   func(m *model) string // why the key does nothing now; "" = it works
	do    func(m *model) tea.Cmd
	shows screen // the screen that do goes to
	moves bool   // it needs the store as it is now: off while the picture is held still
}

func bind(help string, names ...string) key.Binding {
	shown := ""
	for i, n := range names {
		if i > 0 {
			shown += ", "
		}
		shown += n
	}
	return key.NewBinding(key.WithKeys(names...), key.WithHelp(shown, help))
}

func moving(rows func(m *model) int) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.move(rows(m)) }
}

// commands returns the table. Capitals that end an arrow key's sequence (A B C D F H) are in none of its rows: on a bad
// link such a sequence can arrive in pieces.
func commands() []command {
	notFlat := func(m *model) string {
		if !m.list.spec.Tree {
			return "the flat list has no branches; t shows the tree"
		}
		return ""
	}
	return []command{
		{keys: bind("up", "up", "k"), where: inAll, do: moving(func(*model) int { return -1 })},
		{keys: bind("down", "down", "j"), where: inAll, do: moving(func(*model) int { return 1 })},
		{keys: bind("a screen up", "pgup", "ctrl+b"), where: inAll, do: moving(func(m *model) int { return -m.screenful() })},
		{keys: bind("a screen down", "pgdown", "space", "ctrl+f"), where: inAll, do: moving(func(m *model) int { return m.screenful() })},
		{keys: bind("to the first row", "home", "g"), where: inAll, do: func(m *model) tea.Cmd { return m.jump(false) }},
		{keys: bind("to the last row", "end", "G"), where: inAll, do: func(m *model) tea.Cmd { return m.jump(true) }},
		{keys: bind("close the branch, or go to the one above", "left", "h"), where: inList, off: notFlat, do: (*model).fold, moves: true},
		{keys: bind("open the branch, or go into it", "right", "l"), where: inList, off: notFlat, do: (*model).unfold, moves: true},
		{keys: bind("open every branch", "*"), where: inList, off: notFlat, do: func(m *model) tea.Cmd { return m.openAll(true) }, moves: true},
		{keys: bind("close every branch", "-"), where: inList, off: notFlat, do: func(m *model) tea.Cmd { return m.openAll(false) }, moves: true},
		{keys: bind("everything about the topic", "enter", "tab"), where: inList, off: (*model).noRow, do: func(m *model) tea.Cmd { m.focus = true; return nil }},
		{keys: bind("back to the list", "esc", "tab", "enter", "left", "h"), short: "esc back", rank: 10, where: inDetail, do: func(m *model) tea.Cmd { m.focus = false; return nil }},
		{keys: bind("back", "esc"), short: "esc back", rank: 10, where: inPage, do: (*model).leavePage},
		{keys: bind("back: from first levels to the groups, from these to the topics", "esc"), short: "esc back", rank: 10, where: inLeft, do: (*model).backFromLeft},
		{keys: bind("to the topic, among all topics; open or close a group; a reason in full", "enter", "tab"), short: "enter", says: (*model).leftEnter, rank: 9, where: inLeft, off: (*model).noLeftRow, do: (*model).enterLeft, moves: true},
		{keys: bind("close the group", "left", "h"), where: inLeft, off: (*model).noGroup, do: func(m *model) tea.Cmd { return m.foldLeft(false) }},
		{keys: bind("open the group", "right", "l"), where: inLeft, off: (*model).noGroup, do: func(m *model) tea.Cmd { return m.foldLeft(true) }},
		{keys: bind("open every group", "*"), where: inLeft, off: (*model).noGroup, do: func(m *model) tea.Cmd { return m.foldAllLeft(true) }},
		{keys: bind("close every group", "-"), where: inLeft, off: (*model).noGroup, do: func(m *model) tea.Cmd { return m.foldAllLeft(false) }},
		{keys: bind("first levels and their share with expiry, or the groups again", "b"), short: "b", says: (*model).leftOther, rank: 8, where: inLeft, do: (*model).togglePrefixes},
		{keys: bind("order: evidence, owner, silence, topics; or topics, share, began, fell back, name", "s"), short: "s sort", rank: 6, where: inLeft, off: (*model).noLeftRow, do: (*model).sortLeft},
		{keys: bind("stop what runs, else clear the filter", "esc"), where: inList, off: func(m *model) string {
			if m.job == nil && m.running == nil && !m.filter.set() {
				if m.link.Scanning {
					return "the scan goes on by itself and holds up no key; q leaves"
				}
				return "nothing runs and no filter is in force"
			}
			if m.job == nil && m.running == nil {
				return m.noStore()
			}
			return ""
		}, do: (*model).escape},
		{keys: bind("the next topic", "J", "n"), where: inDetail, do: func(m *model) tea.Cmd { return m.moveCursor(1) }},
		{keys: bind("the topic before", "K", "N"), where: inDetail, do: func(m *model) tea.Cmd { return m.moveCursor(-1) }},
		{keys: bind("filter as you type; enter keeps it, esc clears it", "/"), short: "/ filter", rank: 9, where: inList, do: (*model).openFilter, moves: true},
		{keys: bind("back to the list, to filter it", "/"), where: inDetail, off: (*model).noStore, do: func(m *model) tea.Cmd { m.focus = false; return m.openFilter() }},
		{keys: bind("tree or flat list", "t"), short: "t tree/flat", rank: 6, where: inList, do: (*model).toggleTree, moves: true},
		{keys: bind("order of the flat list: topic, expiry, size, live, received, reading", "s"), short: "s sort", rank: 4, where: inList, off: (*model).noSort, do: (*model).cycleSort, moves: true},
		{keys: bind("turn the order round", "S"), where: inList, off: (*model).noSort, do: (*model).reverseSort, moves: true},
		{keys: bind("payload as text, indented JSON or hex", "v"), short: "v text/json/hex", rank: 6, own: inDetail, where: inTopics, off: (*model).noTopic, do: (*model).cycleView},
		{keys: bind("ask the broker for this one topic at QoS 1: stored QoS, newest value", "o"), short: "o ask QoS", rank: 5, own: inDetail, where: inTopics, off: (*model).noAsk, do: (*model).askBroker, moves: true},
		{keys: bind("close or open the pane beside the list", "d"), short: "d pane", rank: 7, where: inTopics, off: (*model).noRoomBeside, do: (*model).togglePane},
		{keys: bind("copy the topic to the clipboard (OSC 52)", "y"), short: "y copy", rank: 3, own: inDetail, where: inTopics, off: (*model).noRow, do: (*model).copyTopic},
		{keys: bind("export as JSON lines: this topic, this branch, what is listed, or all", "e"), short: "e export", rank: 3, where: inTopics, off: (*model).noExport, do: (*model).askExport, moves: true},
		{keys: bind("back to the list, or to the topics", "esc"), short: "esc back", rank: 10, where: inApproved, do: (*model).leaveApproved},
		{keys: bind("the entry in full", "enter", "tab"), short: "enter in full", rank: 7, where: inApproved, off: (*model).noApprovedRow, do: (*model).enterApproved},
		{keys: bind("approve this one topic, with whose it is and who writes it; nothing is sent", "a"), short: "a approve", rank: 8, where: inTopics | inLeft | inApproved, off: (*model).noApprove, do: (*model).askApprove, moves: true},
		{keys: bind("clear this one approved topic: shows what is sent, and asks for a typed word", "x"), short: "x clear", rank: 8, where: inTopics | inLeft | inApproved, off: (*model).noClear, do: (*model).askClear, moves: true},
		{keys: bind("put back what the last verified clear removed, or the one here", "u"), short: "u undo", rank: 6, own: inRecord, where: inTopics | inLeft | inApproved | inRecord, off: (*model).noUndo, do: (*model).askUndo, moves: true},
		{keys: bind("watch on for a return of this topic", "w"), short: "w watch on", rank: 5, where: inTopics, off: (*model).noWatch, do: (*model).keepWatching},
		{keys: bind("back to the list, or to the topics; stops what runs", "esc"), short: "esc back", rank: 10, where: inRecord, do: (*model).leaveRecord},
		{keys: bind("the operation in full", "enter", "tab"), short: "enter in full", rank: 7, where: inRecord, off: (*model).noFullRecord, do: (*model).openOperation},
		{keys: bind("look again at its topic and controls, with a note; nothing is sent", "r"), short: "r recheck", rank: 8, where: inRecord, off: (*model).noRecheck, do: (*model).askRecheck},
		{keys: bind("check every line of the record", "v"), short: "v verify", rank: 5, where: inRecord, off: (*model).noVerify, do: (*model).verifyRecord},
		{keys: bind("take the approval back: on hold", "w"), short: "w on hold", rank: 5, where: inApproved, off: (*model).noWithdraw, do: (*model).askWithdraw},
		{keys: bind("the topics", "1"), where: inAll, do: func(m *model) tea.Cmd { return m.show(topics) }},
		{keys: bind("what looks left behind, by owner and device", "2"), short: "2 left behind", rank: 1, where: inAll, do: (*model).showLeft, shows: leftBehind, moves: true},
		{keys: bind("what is approved, and how it stands to what is there now", "3"), short: "3 approved", rank: 1, where: inAll, do: func(m *model) tea.Cmd { return m.show(approvedPage) }, shows: approvedPage},
		{keys: bind("what was cleared and put back, with its evidence", "4"), short: "4 record", rank: 1, where: inAll, do: func(m *model) tea.Cmd { return m.show(recordPage) }, shows: recordPage},
		{keys: bind("what this list may claim, and why", "c", "5"), short: "c coverage", rank: 7, where: inAll, do: func(m *model) tea.Cmd { return m.show(coveragePage) }, shows: coveragePage},
		{keys: bind("what happened while we watched", "6"), short: "6 events", rank: 1, where: inAll, do: func(m *model) tea.Cmd { return m.show(eventsPage) }, shows: eventsPage},
		{keys: bind("scan again", "r"), short: "r rescan", rank: 2, where: inAll &^ inRecord, off: (*model).noRescan, do: (*model).askRescan, moves: true},
		{keys: bind("hold the picture still; watching goes on", "p"), short: "p pause", rank: 1, where: inAll, do: (*model).togglePause},
		{keys: bind("this help; again: back", "?"), short: "? help", rank: 10, where: inAll, do: (*model).toggleHelp, shows: helpPage},
		{keys: bind("leave", "q", "ctrl+c"), short: "q leave", rank: 10, where: inAll, do: (*model).leave},
		{keys: bind("to the shell; fg comes back", "ctrl+z"), where: inAll, do: func(*model) tea.Cmd { return tea.Suspend }},
		{keys: bind("draw everything anew", "ctrl+l"), where: inAll, do: func(*model) tea.Cmd { return tea.ClearScreen }},
	}
}

// command finds the row of a key where the keys are now, nil when there is none.
func (m *model) command(msg tea.KeyPressMsg) *command {
	here := m.scope()
	for i := range m.commands {
		if c := &m.commands[i]; c.where&here != 0 && key.Matches(msg, c.keys) {
			return c
		}
	}
	return nil
}

// scope returns where keys are heard now.
func (m *model) scope() scope {
	switch {
	case m.screen == leftBehind:
		return inLeft
	case m.screen == approvedPage:
		return inApproved
	case m.screen == recordPage:
		return inRecord
	case m.screen != topics:
		return inPage
	case m.focus:
		return inDetail
	}
	return inList
}

// The reasons why a key is off; "" = it works.

func (m *model) noRow() string {
	if _, ok := m.row(); !ok {
		return "no row is under the cursor"
	}
	return ""
}

func (m *model) noLeftRow() string {
	if len(m.left.rows) == 0 {
		return "no row is under the cursor"
	}
	return ""
}

func (m *model) noGroup() string {
	if m.left.prefixes {
		return "the table of first levels has no groups; b shows them"
	}
	return m.noLeftRow()
}

func (m *model) noTopic() string {
	if r, ok := m.row(); !ok || !r.Held {
		return "the row is not a retained topic itself"
	}
	return ""
}

func (m *model) noRoomBeside() string {
	if m.lay.w < wideFrom {
		return "a pane stands beside the list from " + strconv.Itoa(wideFrom) + " columns on; enter opens it alone"
	}
	return ""
}

func (m *model) noSort() string {
	if m.list.spec.Tree {
		return "the tree is always in the order of topics; t shows the flat list"
	}
	return ""
}

func (m *model) noAsk() string {
	if why := m.noTopic(); why != "" {
		return why
	}
	return m.noConnection()
}

func (m *model) noRescan() string {
	if m.link.Scanning {
		return "a scan is under way"
	}
	return m.noConnection()
}

func (m *model) noExport() string {
	switch {
	case m.o.Export == nil:
		return "this screen was started without a place to export to"
	case m.job != nil:
		return "something runs already: " + m.job.what
	}
	return ""
}
