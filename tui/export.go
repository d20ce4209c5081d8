package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// Export writes JSON lines into a new file; the words of the lines are made elsewhere. Never over a file that is there.

// job is something that takes time and can be stopped with esc.
type job struct {
	what   string
	cancel context.CancelFunc
	wrote  atomic.Int64
	counts bool
}

func (j *job) progress() string {
	if j.counts {
		return j.what + ": " + number(j.wrote.Load()) + " topics so far, esc stops"
	}
	return j.what + ", esc stops"
}

type exportedMsg struct {
	path string
	n    int64
	err  error
}

// askExport opens the question which topics to write.
func (m *model) askExport() tea.Cmd {
	r, ok := m.row()
	d := &dialog{title: "Export as JSON lines", text: []string{"One line a topic, payloads included, into a new file in " + m.exportDir() + " that only you can read."}}
	var picks []Selection
	add := func(label string, s Selection, off string) {
		d.choices = append(d.choices, choice{label, off})
		picks = append(picks, s)
	}
	if ok {
		prefix := append([]byte{}, r.Prefix...) // never nil: nil stands for the whole store, and the first level may be empty
		name := Printable(prefix)
		if name == "" {
			name = "(empty level)"
		}
		off := ""
		if !r.Held {
			off = "no retained topic itself"
		}
		add("this topic: "+name, Selection{Topic: prefix}, off)
		if r.Branch {
			add("this branch, "+counted(r.Sub.Topics, "topic")+": "+name, Selection{Topic: prefix, Below: true}, "")
		}
	}
	if f := m.filter.filter; f != nil && m.list.l != nil {
		add("what the filter shows, "+counted(int64(m.list.l.Len()), "topic"), Selection{Filter: f}, "")
	}
	add("everything, "+counted(m.sum.Topics, "topic"), Selection{}, "")
	for d.at < len(d.choices)-1 && d.choices[d.at].off != "" {
		d.at++
	}
	d.then = func(m *model, chosen int) tea.Cmd { return m.export(picks[chosen]) }
	m.dialog = d
	return nil
}

func (m *model) exportDir() string {
	if m.o.ExportDir != "" {
		return m.o.ExportDir
	}
	return "the working directory"
}

func (m *model) export(s Selection) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	j := &job{what: "Exporting", cancel: cancel, counts: true}
	m.job = j
	dir, write, at := m.o.ExportDir, m.o.Export, m.o.Now()
	return m.task(func() tea.Msg {
		defer cancel()
		path, err := writeNew(dir, at, func(w io.Writer) error {
			return write(ctx, s, w, j.wrote.Store)
		})
		return exportedMsg{path, j.wrote.Load(), err}
	})
}

func (m *model) exported(msg exportedMsg) {
	m.job = nil
	switch {
	case msg.err == nil:
		m.tell(fine, "Wrote "+counted(msg.n, "topic")+" to "+msg.path)
	case errors.Is(msg.err, context.Canceled):
		m.tell(notable, "Export stopped; nothing was kept.")
	default:
		m.tell(alarming, "Export failed: "+PrintableText([]byte(msg.err.Error())))
	}
}

// writeNew makes a file named by the instant at, readable by its owner only, has it filled, and returns its path. A
// file that could not be filled is removed again; one that is there already is never touched.
func writeNew(dir string, at time.Time, fill func(io.Writer) error) (string, error) {
	base := "retainscope-" + at.Format("20060102-150405")
	var f *os.File
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		var err error
		f, err = os.OpenFile(filepath.Join(dir, name+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) || n == 1000 {
			return "", fmt.Errorf("make the file: %w", err)
		}
	}
	out := bufio.NewWriterSize(f, 64<<10)
	err := fill(out)
	if err == nil {
		err = out.Flush()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", f.Name(), err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// copyTopic puts the exact topic on the clipboard of the terminal, or its escaped form where the exact bytes are not
// plain text, and says which of the two.
func (m *model) copyTopic() tea.Cmd {
	r, ok := m.row()
	if !ok {
		return nil
	}
	text := Printable(r.Prefix)
	if text == string(r.Prefix) {
		m.tell(fine, "Copied the topic, if this terminal takes OSC 52.")
	} else {
		m.tell(notable, "Copied the topic in its escaped form: its bytes are not plain text. OSC 52 must be allowed here.")
	}
	return tea.SetClipboard(text)
}

type askedMsg struct {
	topic string
	qos   byte
	found bool
	err   error
}

// askLimit bounds the question for one topic.
const askLimit = 15 * time.Second

// askBroker asks for the one topic under the cursor.
func (m *model) askBroker() tea.Cmd {
	r, ok := m.row()
	if !ok || !r.Held {
		return nil
	}
	if m.job != nil {
		m.tell(notable, "Something runs already: "+m.job.what)
		return nil
	}
	topic := append([]byte(nil), r.Prefix...)
	ctx, cancel := context.WithTimeout(m.ctx, askLimit)
	m.job = &job{what: "Asking the broker for this topic", cancel: cancel}
	source := m.o.Source
	return m.task(func() tea.Msg {
		defer cancel()
		qos, found, err := source.Ask(ctx, topic)
		return askedMsg{string(topic), qos, found, err}
	})
}

func (m *model) asked(msg askedMsg) {
	m.job = nil
	name, _ := Cut([]byte(msg.topic), 40)
	switch {
	case errors.Is(msg.err, context.Canceled):
		m.tell(notable, "Stopped asking.")
	case msg.err != nil:
		m.tell(alarming, "Asking failed: "+PrintableText([]byte(msg.err.Error())))
	case !msg.found:
		m.tell(notable, "The broker sent this login nothing for "+name+" when asked.")
	default:
		m.tell(fine, "Stored at QoS "+strconv.Itoa(int(msg.qos))+": "+name)
		m.detail.have = false
	}
}

// largeStore is how many topics make a scan something other clients feel.
const largeStore = 50_000

// askRescan starts a fresh scan, after a question where that costs others something.
func (m *model) askRescan() tea.Cmd {
	n := max(m.sum.Topics, m.cov.Known)
	if n < largeStore {
		m.o.Source.Rescan()
		m.tell(fine, "Scanning again.")
		return nil
	}
	m.dialog = &dialog{
		title: "Scan again?",
		text: []string{"A scan of about " + number(n) + " topics keeps a single-threaded broker from serving anybody else for about " +
			fmt.Sprintf("%.1f", float64(n)*3e-6) + " s, and makes it collect what has expired."},
		choices: []choice{{label: "no"}, {label: "yes, scan"}},
		then: func(m *model, chosen int) tea.Cmd {
			if chosen == 1 {
				m.o.Source.Rescan()
				m.tell(fine, "Scanning again.")
			}
			return nil
		},
	}
	return nil
}

// noConnection is why nothing can be asked of the broker now; "" = it can.
func (m *model) noConnection() string {
	if m.link.State != inventory.Watching {
		return "there is no connection"
	}
	return ""
}
