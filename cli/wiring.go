package cli

// What the rooms get out of the settings.

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/readings"
)

// connection returns how to reach the broker.
func (r *resolved) connection(log *slog.Logger) broker.Config {
	m := &r.MQTT
	return broker.Config{
		URL: m.Broker, User: m.User, Password: m.Password,
		CAFile: m.CAFile, CertFile: m.CertFile, KeyFile: m.KeyFile, ServerName: m.ServerName, Insecure: m.Insecure,
		ClientID: m.ClientID, KeepAlive: m.KeepAlive, Timeout: m.Timeout, Logger: log, Version: r.version(), Echoes: r.echoes,
	}
}

func (r *resolved) watchConfig(log *slog.Logger) broker.WatchConfig {
	return broker.WatchConfig{
		Config:  r.connection(log),
		Filters: r.Scan.Filters, Extra: r.Scan.ExtraFilters,
		Quiet: r.Scan.Quiet, SysWait: r.Scan.SysWait, Slices: r.Scan.Slices,
	}
}

func (r *resolved) inventoryOptions() inventory.Options {
	o := inventory.Options{
		MaxPayload:  int(r.Store.PayloadPerTopic),
		MaxWhole:    int(r.Store.PayloadPerDocument),
		MaxPayloads: r.Store.PayloadTotal,
		MaxChanges:  int(r.Store.Changes),
	}
	if r.Readings.Enabled {
		o.Whole = readings.Whole // nobody else has a use for more of them
	}
	return o
}

// reader returns an empty Reader with the person's rules, or nil where readings are switched off.
func (r *resolved) reader() (*readings.Reader, error) {
	if !r.Readings.Enabled {
		return nil, nil
	}
	return readings.New(r.rules)
}

// begin loads the settings and opens the log, which the returned function closes.
func (p *program) begin(ctx context.Context) (*resolved, *slog.Logger, func(), error) {
	r, err := p.load(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	log, closeLog, err := r.openLog()
	if err != nil {
		return nil, nil, nil, &exit{ExitFailed, err}
	}
	return r, log, closeLog, nil
}

// openLog returns the log and what closes it. Without a log file everything is discarded.
func (r *resolved) openLog() (*slog.Logger, func(), error) {
	if r.Log.File == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	f, err := os.OpenFile(r.Log.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open log.file (%s): %w", r.from["log.file"], err)
	}
	return r.logTo(f), func() { _ = f.Close() }, nil
}

// logTo returns a log that is written to w.
func (r *resolved) logTo(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{}
	var level slog.Level
	_ = level.UnmarshalText([]byte(r.Log.Level)) // checked when it was read
	o.Level = level
	if r.Log.Format == "json" {
		o.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration { // a bare number would not tell its unit
				a.Value = slog.StringValue(a.Value.Duration().String())
			}
			return a
		}
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
