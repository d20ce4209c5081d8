package actions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// Desk is a manifest, the record that belongs to it, the digest of the record's end, and the one lock over all of
// them, as files beside each other: for the manifest home.toml these are home.record.jsonl (and home.record.2.jsonl
// and so on), home.record.head and home.lock. It is safe for concurrent use. One program opens one Desk per manifest.
type Desk struct {
	store Store
	name  string // of the manifest
	base  string // of the others
	now   func() time.Time

	mu      sync.Mutex // guards what follows
	held    int        // how many in this process use the lock
	lock    Lock
	begun   map[string]bool // operations whose beginning this desk wrote
	running string          // the topic of the clear or restore that runs, quoted; empty when none does
	acting  string          // its operation, empty before it is begun in the record

	writing sync.Mutex // one line at a time
	end     tail

	reads chan struct{} // holds one while somebody goes on with what was read
	read  *reading      // nil = nothing was
}

// ErrChangedOnDisk is the error of a manifest that somebody else changed since it was read: read it again.
var ErrChangedOnDisk = errors.New("the manifest was changed by somebody else since it was read")

// OpenDesk returns the desk of the manifest with this file name. It touches no file. now gives the time of the lines.
func OpenDesk(s Store, manifest string, now func() time.Time) *Desk {
	base := manifest
	if i := strings.LastIndexByte(manifest, '.'); i > 0 {
		base = manifest[:i]
	}
	return &Desk{store: s, name: manifest, base: base, now: now, reads: make(chan struct{}, 1)}
}

// Manifest reads the manifest. The error is fs.ErrNotExist when there is no file, a *ManifestError when the file is
// wrong.
func (d *Desk) Manifest() (*Manifest, error) {
	text, err := readAll(d.store, d.name)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, err
	}
	m.source = digest(text)
	return m, nil
}

// Save writes m as the manifest, under the lock, and waits for the lock until ctx ends. It fails with
// ErrChangedOnDisk, and writes nothing, when the file is not the one that m was read from: what a person typed into it
// meanwhile is never lost.
func (d *Desk) Save(ctx context.Context, m *Manifest) error {
	done, err := d.hold(ctx)
	if err != nil {
		return fmt.Errorf("save manifest: %w", err)
	}
	defer done()
	text, err := readAll(d.store, d.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if m.source != "" {
			return fmt.Errorf("save manifest: %w", ErrChangedOnDisk)
		}
	case err != nil:
		return fmt.Errorf("save manifest: %w", err)
	case digest(text) != m.source:
		return fmt.Errorf("save manifest: %w", ErrChangedOnDisk)
	}
	next := m.Text()
	if bytes.Equal(next, text) && m.source != "" {
		return nil
	}
	if err := d.store.Replace(d.name, next); err != nil {
		return fmt.Errorf("save manifest: %w", err)
	}
	m.source = digest(next)
	return nil
}

// Running returns the topic of the clear or restore that runs in this process, quoted, and whether one does.
func (d *Desk) Running() (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running, d.running != ""
}

// hold takes the lock between processes, or joins this process' own hold on it, and waits until ctx ends. The returned
// function gives it back.
func (d *Desk) hold(ctx context.Context) (func(), error) {
	const between = 50 * time.Millisecond
	for {
		err := d.tryHold()
		if err == nil {
			var once sync.Once
			return func() { once.Do(d.letGo) }, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, err
		}
		t := time.NewTimer(between)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, err
		case <-t.C:
		}
	}
}

func (d *Desk) tryHold() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held == 0 {
		lock, err := d.store.TryLock(d.lockName())
		if err != nil {
			return err
		}
		d.lock = lock
	}
	d.held++
	return nil
}

func (d *Desk) letGo() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
	if d.held == 0 {
		// The lock is gone with the file, whatever closing it says.
		_ = d.lock.Release()
		d.lock = nil
	}
}

// begin makes this process' one running act the one on topic, and takes the lock for it: it waits a moment for a line
// that another process is just writing, and not for a clear that runs there.
func (d *Desk) begin(ctx context.Context, topic []byte) (func(), error) {
	const moment = 2 * time.Second
	d.mu.Lock()
	if d.running != "" {
		defer d.mu.Unlock()
		return nil, fmt.Errorf("%w: the clear of %s is running here", ErrLocked, d.running)
	}
	d.running = Quote(topic)
	d.mu.Unlock()
	idle := func() {
		d.mu.Lock()
		d.running, d.acting = "", ""
		d.mu.Unlock()
	}
	wait, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	done, err := d.hold(wait)
	if err != nil {
		idle()
		return nil, err
	}
	return func() { done(); idle() }, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
