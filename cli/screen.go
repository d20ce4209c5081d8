package cli

// The screen: what must be true before the terminal is taken, one connection, then the screens until they are left.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/charmbracelet/x/term"

	"retainscope/actions"
	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/tui"
)

func (p *program) runScreen(ctx context.Context) error {
	// Before anything else: a script that starts the screen by mistake hears of list at once.
	if err := p.checkTerminal(); err != nil {
		return err
	}
	r, err := p.load(ctx)
	if err != nil {
		return err
	}
	return p.screenOn(ctx, r)
}

// checkTerminal refuses what cannot carry a screen.
func (p *program) checkTerminal() error {
	in, _ := p.terminal()
	switch {
	case in == nil:
		return &exit{ExitFailed, errors.New("the screen needs a terminal; `retainscope list` prints the same facts without one")}
	case p.env["TERM"] == "" || p.env["TERM"] == "dumb":
		return &exit{ExitFailed, errors.New("the screen needs a terminal that can place its cursor, and TERM is dumb or not set; `retainscope list` prints the same facts without one")}
	}
	return nil
}

// terminal returns stdin and stdout where both are a terminal, and nil otherwise.
func (p *program) terminal() (in, out *os.File) {
	in, inOK := p.stdin.(*os.File)
	out, outOK := p.stdout.file()
	if !inOK || !outOK || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return nil, nil
	}
	return in, out
}

// screenOn connects once, so that a typing error is one line and no screen, and shows the screens until they are left.
func (p *program) screenOn(ctx context.Context, r *resolved) error {
	log, closeLog, err := r.openLog()
	if err != nil {
		return &exit{ExitFailed, err}
	}
	defer closeLog()
	inv := inventory.New(r.inventoryOptions())
	reader, err := r.reader()
	if err != nil {
		return &exit{ExitFailed, err}
	}
	keep, err := r.keep(inv, "the screen of retainscope", log)
	if err != nil {
		p.say("warning: %s; nothing is remembered of this run", oneLine(err.Error()))
	}
	defer keep.start(ctx)()
	line := newProgress(p.stderr)
	line.show("connecting to " + r.MQTT.Broker)
	w, err := broker.Watch(ctx, keep.tapped(r.watchConfig(log)), inv)
	line.clear()
	if err != nil {
		return failed(ctx, r.withHint(err))
	}
	defer leave(ctx, w)
	link := func() inventory.Link { link, _ := w.Status(); return link }
	var seen tui.Readings
	if reader != nil {
		seen = newEvidence(reader, keep.remembers())
		feeding, stop := context.WithCancel(ctx)
		_, wait := startFeeder(feeding, inv, reader, slices.Concat(r.Scan.Filters, r.Scan.ExtraFilters), keep.known(w.Scanned()), w.Status)
		defer wait()
		defer stop()
	}
	in, out := p.terminal()
	acts, whyNot := p.actsOnScreen(r, log, inv, link)
	wrote := func(actions.Announced) bool { return false }
	if s, ok := acts.(*screenRetiring); ok {
		wrote = s.desk.Wrote
	}
	defer r.heedRecords(ctx, log, wrote)()
	err = tui.Run(ctx, tui.Options{
		Inventory: inv,
		Source:    w,
		Readings:  seen,
		Retiring:  acts, NoRetiring: whyNot,
		Refresh:   r.Screen.Refresh,
		ASCII:     p.ascii(r),
		Now:       time.Now,
		Version:   Version(),
		Environ:   p.environ,
		ExportDir: r.Screen.ExportDir,
		Export:    exporter(inv, reader, keep.remembers(), w.Status),
		Silence:   keep.remembers().screen(),
	}, in, out)
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, tui.ErrTerminalGone):
		return &exit{code: ExitFailed} // nobody is there to read a sentence
	default:
		return &exit{ExitFailed, err}
	}
	// Left by a key or by a signal: both are a clean end.
	return nil
}

// withHint adds to a failed connection what may be behind it, and what a first start is missing: an address of one's
// own.
func (r *resolved) withHint(err error) error {
	var failure *broker.ConnectError
	if errors.As(err, &failure) && failure.Hint != "" {
		err = fmt.Errorf("%w; %s", err, failure.Hint)
	}
	if r.from["mqtt.broker"].layer != fromDefault || r.MQTT.Broker != settings()[0].preset {
		return err
	}
	return fmt.Errorf("%w (name your broker with --broker URL; `retainscope demo` needs none)", err)
}
