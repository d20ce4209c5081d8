package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// Run and the way out: whatever happens, the terminal is given back and nothing is left running.

// Run draws the screen on the terminal out, hears keys from the terminal in, and returns when the person leaves (nil),
// when ctx ends (its error, wrapped), when there is no terminal for a screen (ErrNoScreen, nothing was written), or when
// the terminal cannot be written to any more (ErrTerminalGone, wrapped with the cause). It has given the terminal back,
// written there how an act ended that was under way, and its own commands have ended when it returns. It sets no signal handler: whoever calls turns signals into the end of ctx.
func Run(ctx context.Context, o Options, in, out *os.File) error {
	env := environ(o.Environ)
	if env == nil {
		env = os.Environ()
	}
	if env.dumb() || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return ErrNoScreen
	}
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	lines := newOutlet(ctx, out, gone)
	defer lines.close()
	return run(ctx, o, &keyboard{File: in, gone: gone}, terminal{out, lines})
}

// run is Run for any reader and writer.
func run(ctx context.Context, o Options, in io.Reader, out io.Writer, more ...tea.ProgramOption) error {
	p, m, cancel := program(ctx, o, in, out, more...)
	_, err := p.Run()
	cancel()
	m.tasks.shut()
	m.finish()
	m.tasks.wait(5 * time.Second)
	m.farewell(out)
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case cause != nil:
		return fmt.Errorf("the screen ended: %w", cause)
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("draw the screen: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrTerminalGone, err)
}

// program makes the program and its model; cancel ends what the model has under way.
func program(ctx context.Context, o Options, in io.Reader, out io.Writer, more ...tea.ProgramOption) (*tea.Program, *model, context.CancelFunc) {
	own, cancel := context.WithCancel(ctx)
	m := newModel(own, o)
	options := append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(m.env),
		tea.WithFPS(30), tea.WithoutSignalHandler(),
	}, more...)
	if profile, decided := m.env.profile(); decided {
		// The library takes only some values of NO_COLOR for a yes.
		options = append(options, tea.WithColorProfile(profile))
	}
	return tea.NewProgram(m, options...), m, cancel
}

// terminal is a file that is written through an outlet, so that the library still sees the terminal behind it.
type terminal struct {
	*os.File
	lines *outlet
}

func (t terminal) Write(b []byte) (int, error) { return t.lines.Write(b) }

// WriteString keeps writes from going past the outlet.
func (t terminal) WriteString(s string) (int, error) { return t.lines.Write([]byte(s)) }

// ReadFrom keeps copies from going past the outlet.
func (t terminal) ReadFrom(r io.Reader) (int64, error) { return io.Copy(t.lines, r) }

// lastWords is how long the terminal has, after the end was asked for, to take what gives it back.
const lastWords = 500 * time.Millisecond

// outlet writes on a goroutine of its own. A terminal that stops reading, as after ctrl+s or on a dead link, then holds
// up the drawing but not the end of the program, and one that is gone ends it.
type outlet struct {
	ctx  context.Context
	gone context.CancelCauseFunc
	w    io.Writer
	mu   sync.Mutex // one write at a time
	jobs chan []byte
	done chan error
	late bool // the goroutine is still busy with a write that was given up
}

func newOutlet(ctx context.Context, w io.Writer, gone context.CancelCauseFunc) *outlet {
	o := &outlet{ctx: ctx, gone: gone, w: w, jobs: make(chan []byte, 1), done: make(chan error, 1)}
	go func() {
		for b := range o.jobs {
			_, err := o.w.Write(b)
			o.done <- err
		}
	}()
	return o
}

var errStalled = errors.New("the terminal does not take what is written to it")

func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.late {
		return 0, errStalled
	}
	o.jobs <- append([]byte(nil), b...)
	var err error
	select {
	case err = <-o.done:
	case <-o.ctx.Done():
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case err = <-o.done:
		case <-timer.C:
			o.late = true
			return 0, errStalled
		}
	}
	if err != nil {
		o.gone(fmt.Errorf("%w: %w", ErrTerminalGone, err))
		return 0, err
	}
	return len(b), nil
}

// close ends the goroutine, at once or when the write that holds it returns.
func (o *outlet) close() { close(o.jobs) }
