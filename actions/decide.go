package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"
)

// Decide reads the manifest again, writes into it what a person decided about one topic on the broker b, and saves it;
// where there is no file it makes one. With the disposition clear it is an approval, see Manifest.Approve. was is the
// entry as the person saw it, nil where there was none: where the file says something else of the topic by now nothing
// is written and the error is ErrChangedOnDisk, wrapped. What others write about other topics meanwhile is kept. It
// fails also when the manifest is wrong or belongs to another broker.
func (d *Desk) Decide(ctx context.Context, b BrokerID, was *Entry, e Entry, p Protection, who Person) error {
	return d.edit(ctx, b, func(m *Manifest) error {
		found, ok := m.Find(e.Topic)
		if ok != (was != nil) || ok && !found.Same(*was) {
			return fmt.Errorf("decide about topic %s: %w", Quote(e.Topic), ErrChangedOnDisk)
		}
		if e.Disposition == Clear {
			now := d.now()
			if now.Unix() <= found.ApprovedAt.Unix() {
				now = found.ApprovedAt.Add(time.Second) // two approvals are told apart by their second
			}
			return m.Approve(e, p, who, now)
		}
		e.Fingerprint = "" // what is not to be cleared is not bound to a value
		e.ApprovedBy, e.ApprovedAt = "", time.Time{}
		if e.Disposition == Preserve {
			e.ApprovedBy, e.ApprovedAt = who.Name(), d.now()
		}
		return m.Put(e)
	})
}

// Withdraw reads the manifest again, puts the topic back on hold, and saves it. It reports whether there was an entry.
func (d *Desk) Withdraw(ctx context.Context, b BrokerID, topic []byte) (was bool, err error) {
	if _, err := d.Manifest(); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = d.edit(ctx, b, func(m *Manifest) (err error) {
		was, err = m.Withdraw(topic)
		return err
	})
	return was, err
}

// edit changes the manifest as it is now. Where somebody saves it at the same moment it begins again.
func (d *Desk) edit(ctx context.Context, b BrokerID, change func(*Manifest) error) error {
	const tries = 5
	for try := 1; ; try++ {
		m, err := d.Manifest()
		if errors.Is(err, fs.ErrNotExist) {
			m, err = NewManifest(b), nil
		}
		if err != nil {
			return err
		}
		if b.Identity == "" && b.URL == m.broker.URL {
			b.Identity = m.broker.Identity // a broker that tells nothing yet takes nothing away
		}
		if err := m.Bind(b); err != nil {
			return err
		}
		if err := change(m); err != nil {
			return err
		}
		if err = d.Save(ctx, m); !errors.Is(err, ErrChangedOnDisk) || try == tries {
			return err
		}
	}
}

// Same reports whether two entries say the same, wherever in the file they stand.
func (e Entry) Same(other Entry) bool {
	e.Line, other.Line = 0, 0
	return reflect.DeepEqual(e, other)
}
