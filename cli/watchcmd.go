package cli

// `retainscope watch`: the inventory without a screen, for weeks. It keeps the journal, writes a log, and publishes what
// it finds.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/broker"
	"retainscope/inventory"
)

// watchHolder is what another program is told of the watcher that writes the journal.
const watchHolder = "retainscope watch"

func (p *program) watchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Watch without a screen: keep the journal, publish what is found, for weeks",
		Long: `Watch without a screen, as a service does. It keeps the journal, so that the screen and list know when a topic was seen
live, and publishes, retained:

  PREFIX/INSTANCE/status   online; offline when it leaves, or as its last will
  PREFIX/INSTANCE/state    JSON: retained, with_expiry, without_expiry, unknown, left_behind, hazards, due, bytes,
                           coverage, not_seen, last_change; none of them counts these topics themselves
  homeassistant/device/retainscope_INSTANCE/config   one device for Home Assistant, with a sensor for each

state follows within a second what changes, never more than once a second, and once a minute where only bytes or
last_change moved. Everything it publishes carries an expiry (--message-expiry-interval) and is repeated every third of
it, so that nothing of it stays at the broker for longer than one interval after it ended. Every repetition is a message
to whoever subscribes: automations run on it and last_updated moves. That is the reason for a long interval.
--publish=false publishes nothing. With --protocol-version 3.1.1 nothing expires: then it publishes only where --publish
asks for it, and clears its topics when it leaves; those of one that was killed stay at the broker.

The log goes to stderr, or to --log-file: text or --log-format json, never payloads or passwords. A broker that is not
there yet is waited for; one that refuses the login is an error. One watcher writes a journal: a second one says who does
and ends.

Exit codes: 0 ended by a signal (SIGINT, SIGTERM, SIGHUP), with offline said and the journal closed; 1 failed; 2 wrong
usage or settings.`,
		Example: `  retainscope watch --broker mqtt://localhost
  retainscope watch --broker mqtts://broker.lan --user watcher --password-file /etc/retainscope/password
  retainscope watch --publish=false --log-format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runWatch(cmd.Context()) },
	}
	p.watchFlags(cmd)
	return cmd
}

func (p *program) runWatch(ctx context.Context) error {
	r, err := p.load(ctx)
	if err != nil {
		return err
	}
	log, closeLog, err := r.watchLog(p.stderr)
	if err != nil {
		return &exit{ExitFailed, err}
	}
	defer closeLog()
	err = r.watch(ctx, log)
	if err != nil && ctx.Err() == nil {
		return &exit{ExitFailed, err}
	}
	return nil // ended by a signal: that is how a service ends
}

// watchLog returns the log of a watcher: to the file of the settings, or to stderr.
func (r *resolved) watchLog(stderr io.Writer) (*slog.Logger, func(), error) {
	if r.Log.File != "" {
		return r.openLog()
	}
	return r.logTo(stderr), func() {}, nil
}

// watch runs until ctx ends. The error is what kept it from running: it never gives up a broker that it once reached.
func (r *resolved) watch(ctx context.Context, log *slog.Logger) error {
	topics, _ := r.topics()
	publish := r.Watch.Publish
	if r.MQTT.ProtocolVersion == version311 && r.from["watch.publish"].layer == fromDefault {
		publish = false
		log.Info("nothing is published: with MQTT 3.1.1 it would never expire; --publish publishes all the same, and clears it when it leaves")
	}
	if publish {
		r.rules.Ignore = append(r.rules.Ignore, topics.all()...)
	}
	inv := inventory.New(r.inventoryOptions())
	reader, err := r.reader()
	if err != nil {
		return err
	}
	keep, err := r.keep(inv, watchHolder, log)
	if err != nil {
		return err
	}
	defer keep.start(ctx)()
	if by := keep.holder(); strings.HasPrefix(by, watchHolder+",") {
		return fmt.Errorf("the journal %s is written by %s: one watcher is enough; another one needs a --journal-file of its own, or --journal=false",
			quote(keep.file), by)
	}
	defer r.heedRecords(ctx, log, func(actions.Announced) bool { return false })()
	w, err := r.reach(ctx, keep.tapped(r.watchConfig(log)), inv, log)
	if err != nil {
		return err
	}
	defer leave(ctx, w)
	ready := keep.known(w.Scanned())
	if reader != nil {
		feeding, stop := context.WithCancel(ctx)
		first, wait := startFeeder(feeding, inv, reader, slices.Concat(r.Scan.Filters, r.Scan.ExtraFilters), ready, w.Status)
		defer wait()
		defer stop()
		ready = first
	}
	c := &counter{inv: inv, readings: reader != nil}
	var report *reporter
	if publish {
		c.own = topics.all()
		if report, err = r.report(reader != nil, log); err != nil {
			return err
		}
		defer report.leave()
	}
	d := diary{log: log}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	known := false
	for {
		select {
		case <-ctx.Done():
			log.Info("leaving")
			return nil
		case <-ready:
			ready, known = nil, true
		case <-w.Changed():
			d.note(w.Status())
			continue
		case <-second.C:
		}
		link, cov := w.Status()
		f := c.count(link, cov)
		if !known {
			continue
		}
		d.found(f)
		if report != nil {
			report.tell(ctx, f, time.Now())
		}
	}
}

// reach connects, and waits for a broker that is not there yet. What waiting cannot mend is an error.
func (r *resolved) reach(ctx context.Context, cfg broker.WatchConfig, inv *inventory.Inventory, log *slog.Logger) (*broker.Watcher, error) {
	log.Info("connecting", "broker", r.MQTT.Broker, "version", Version())
	delay := time.Second
	for {
		w, err := broker.Watch(ctx, cfg, inv)
		if err == nil || ctx.Err() != nil || !passes(err) {
			return w, err
		}
		wait := delay/2 + rand.N(delay)
		log.Warn("the broker cannot be reached yet", "error", err, "again_in", wait.Round(time.Second))
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
		delay = min(2*delay, time.Minute)
	}
}

// passes reports whether a failed connect may succeed later although nobody changes a setting.
func passes(err error) bool {
	var e *broker.ConnectError
	if !errors.As(err, &e) {
		return true // the connection was lost before it was of use
	}
	switch e.Stage {
	case broker.StageDial:
		return true
	case broker.StageMQTT:
		return e.Hint == ""
	case broker.StageRefused: // server unavailable, busy, shutting down, quota, rate
		return e.Code == 0x88 || e.Code == 0x89 || e.Code == 0x8B || e.Code == 0x97 || e.Code == 0x9F
	}
	return false
}
