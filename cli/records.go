package cli

// What other runs of this program on this machine send, as their records announce it: no activity of a topic's owner.

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"retainscope/actions"
)

// recordsTime is how often the records are looked at. Whoever announces something looks at the topic for a quarter of a
// second before it is sent.
const recordsTime = 100 * time.Millisecond

// heedRecords has the watcher of these settings told what other programs announce in the records beside the manifest,
// until the returned function is called. wrote reports what this program announced itself.
func (r *resolved) heedRecords(ctx context.Context, log *slog.Logger, wrote func(actions.Announced) bool) (stop func()) {
	path, err := r.manifestPath()
	if err != nil {
		return func() {} // no record can be there
	}
	store, err := actions.OpenDir(filepath.Dir(path))
	if err != nil {
		return func() {}
	}
	prefix := manifestPrefix // another login has a record of its own beside this one
	if r.Clear.Manifest != "" {
		prefix = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + "."
	}
	follower, err := actions.Follow(store, prefix)
	if err != nil {
		log.Warn("what other programs clear and put back is not known", "error", err)
		return func() {}
	}
	h := &heed{r: r, log: log, wrote: wrote, follower: follower, offs: map[string]func(){}}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.run(ctx)
	}()
	return func() { cancel(); <-done }
}

// heed is one run of heedRecords. One goroutine has it.
type heed struct {
	r        *resolved
	log      *slog.Logger
	wrote    func(actions.Announced) bool
	follower *actions.Follower
	offs     map[string]func() // by record and operation: takes back what was announced and has not ended
	told     string            // the last error that was logged
}

func (h *heed) run(ctx context.Context) {
	tick := time.NewTicker(recordsTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.look(ctx)
	}
}

func (h *heed) look(ctx context.Context) {
	all, err := h.follower.Next(ctx)
	text := ""
	if err != nil && ctx.Err() == nil {
		text = err.Error()
	}
	if text != "" && text != h.told {
		h.log.Warn("a record cannot be followed", "error", err)
	}
	h.told = text
	for _, a := range all {
		key := a.Record + " " + a.Operation
		switch {
		case a.Over:
			if off := h.offs[key]; off != nil && !a.Sent {
				off()
			}
			delete(h.offs, key)
		case !h.wrote(a) && actions.CanonicalAddress(a.Broker.URL) == actions.CanonicalAddress(h.r.MQTT.Broker):
			h.offs[key] = h.r.echoes.Announce(a.Topic, a.Fingerprint, a.At)
			h.log.Debug("another program announced that it will clear a topic or put it back", "record", a.Record, "operation", a.Operation)
		}
	}
}
