package tui

import (
	"context"
	"time"

	"retainscope/actions"
)

// What the screens ask of whoever approves, clears and records.

// Retiring does what a person decides about exact topics, and keeps the record of it. Its methods may be called from any
// goroutine; all but Terms may take long and end soon after ctx does. Errors are one sentence each and may quote what
// was typed or what is in a file.
type Retiring interface {
	// Terms returns under which terms it acts now. It returns at once.
	Terms() Terms
	// Manifest reads the manifest. The error is fs.ErrNotExist where there is no file yet, a *actions.ManifestError where
	// the file is wrong.
	Manifest(ctx context.Context) (*actions.Manifest, error)
	// Decide writes what was decided about one topic into the manifest and saves it: with the disposition clear it is an
	// approval by Terms().By, now. was is the entry as it was shown, nil where there was none: where the file says
	// something else by now nothing is written and the error is actions.ErrChangedOnDisk, wrapped.
	Decide(ctx context.Context, was *actions.Entry, e actions.Entry) error
	// Withdraw puts a topic back on hold and takes its approval away.
	Withdraw(ctx context.Context, topic []byte) error
	// Clear runs one clear; see actions.Clearer. told is called at its boundaries, on the goroutine of the caller. When
	// ctx ends nothing that was not sent is sent any more, and the outcome is written all the same.
	Clear(ctx context.Context, req actions.Request, told func(actions.Progress)) (actions.Operation, error)
	// Watch watches for a return until the given instant; see actions.Clearer.WatchReturn.
	Watch(ctx context.Context, op actions.Operation, until time.Time) (actions.Later, error)
	// Recheck looks again at the topic of an operation; see actions.Clearer.Recheck.
	Recheck(ctx context.Context, id, note string) (actions.Later, error)
	// Restore puts back what an operation removed, asked for by Terms().By; see actions.Clearer.Restore.
	Restore(ctx context.Context, req actions.RestoreRequest, told func(actions.Progress)) (actions.UndoOutcome, error)
	// Record reads every operation of the record, oldest first, and calls read now and then with the number of lines read.
	Record(ctx context.Context, read func(lines int64)) (actions.Listed, error)
	// Operation reads everything that the record holds of one operation.
	Operation(ctx context.Context, id string) (actions.Operation, error)
	// Head returns the end of the record, and false where there is none.
	Head(ctx context.Context) (actions.Head, bool, error)
	// Verify checks every line of the record.
	Verify(ctx context.Context) (actions.Verification, error)
}

// Terms are what a decision rests on beside the person.
type Terms struct {
	By         string // who approves and clears
	Broker     actions.BrokerID
	Manifest   string             // where the manifest is kept
	Protection actions.Protection // of the configuration; a manifest may add to it
	UndoLimit  int                // bytes of a payload that are saved for an undo
	Window     time.Duration      // for how long a return is watched for
	Off        string             // why nothing can be approved or cleared at all, one sentence; "" = it can
}
