package cli

// Where a command's result goes, and what is said where it could not be written.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// ExitPipe is the exit code where whoever read the output went away and the command had nothing else to tell: what a
// shell shows for a program that SIGPIPE ended.
const ExitPipe = 128 + 13

// output is stdout. It remembers the first write that failed, so that no command has to look at each of them: Run tells
// of it. One goroutine writes to it. A stdout that was closed before the start (>&-) is not told from one that a program
// sent to the null device: the Go runtime opens that in its place.
type output struct {
	w    io.Writer
	lost *lostOutput // nil as long as everything was written
}

// lostOutput is the error of a result that could not be written.
type lostOutput struct{ cause error }

func (e *lostOutput) Error() string {
	cause := e.cause
	var path *fs.PathError
	if errors.As(cause, &path) {
		cause = path.Err
	}
	return fmt.Sprintf("the output could not be written: %s", cause)
}

func (e *lostOutput) Unwrap() error { return e.cause }

// readerLeft reports whether somebody read it and had enough: nobody needs to be told.
func (e *lostOutput) readerLeft() bool { return errors.Is(e.cause, syscall.EPIPE) }

// Write satisfies io.Writer. After an error it writes nothing any more.
func (o *output) Write(b []byte) (int, error) {
	if o.lost != nil {
		return 0, o.lost
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.lost = &lostOutput{err}
		return n, o.lost
	}
	return n, nil
}

// file returns stdout where it is a file, such as a terminal.
func (o *output) file() (*os.File, bool) {
	if o == nil {
		return nil, false
	}
	f, ok := o.w.(*os.File)
	return f, ok
}

// outlast lets what publishes or is recorded go on when the reader of the output goes away in the middle: a write to a
// broken pipe is an error then, and no signal. The returned function is for its end.
func (o *output) outlast() func() {
	if _, ok := o.file(); !ok {
		return func() {}
	}
	signal.Ignore(syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}
