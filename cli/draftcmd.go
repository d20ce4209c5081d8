package cli

// `retainscope draft`: begins an entry of the manifest for one topic, on hold, with the fingerprint of what it holds now.
// It approves nothing: a person does, in the file.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/tui"
)

type draftOptions struct {
	topic                  oneTopic
	owner, purpose, reason string
}

const oneDraft = "draft takes one exact topic, with --topic or --topic-hex"

func (p *program) draftCommand() *cobra.Command {
	var o draftOptions
	cmd := &cobra.Command{
		Use:   "draft --topic TOPIC",
		Short: "Begin an entry of the manifest for one topic, on hold",
		Long: `Read what one exact topic holds and begin an entry for it in the manifest, on hold, with the fingerprint of that value.
Where there is no manifest one is made. Nothing is published and nothing is approved: that is done in the file, by hand.
Where there is an entry already it is left as it is, and the fingerprint of what the topic holds now is printed.

To approve, open the manifest and write into the entry
  owner        whose the topic is, and how you know
  purpose      what the value is for
  disposition  "clear" in place of "hold" (or "preserve")
  approved_by  your name, approved_at a time such as 2026-11-30T14:00:00Z
and below it one [[topic.writer]] for each program that can write it, with name, kind (device, gateway, bridge, service),
state (stopped, fenced), evidence, evidence_at, and will (none, discarded, fired, pending). Without them a clear is
provisional. Then "retainscope check" tells what would happen.`,
		Example: `  retainscope draft --topic airthings/availability
  retainscope draft --topic airthings/state --owner "airthings, renamed in May" --purpose "last state"`,
		Args: p.noMore(oneDraft),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runDraft(cmd.Context(), o) },
	}
	o.topic.flags(cmd, "the exact `TOPIC`, byte for byte as it is listed", cobra.NoFileCompletions)
	f := cmd.Flags()
	f.StringVar(&o.owner, "owner", "", "whose the topic is, as a `TEXT`")
	f.StringVar(&o.purpose, "purpose", "", "what the value is for, as a `TEXT`")
	f.StringVar(&o.reason, "reason", "", "why it may go, as a `TEXT`")
	for _, name := range []string{"owner", "purpose", "reason"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	p.retireFlags(cmd)
	return cmd
}

func (p *program) runDraft(ctx context.Context, o draftOptions) error {
	topic, err := o.topic.must()
	if err != nil {
		return usage(err)
	}
	return p.act(ctx, func(t *retiring, line *progress) error {
		m, err := t.desk.Manifest()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return p.badManifest(t, err)
		}
		c, err := t.connected(ctx, line)
		if err != nil {
			return failed(ctx, err)
		}
		line.show("reading " + tui.Printable(topic))
		now, there, err := c.Peek(ctx, topic)
		line.clear()
		switch {
		case err != nil:
			return failed(ctx, fmt.Errorf("read the topic: %w", err))
		case !there:
			return &exit{ExitFailed, fmt.Errorf("%s was not observed: it holds nothing, or this login may not read it", actions.Quote(topic))}
		}
		if m == nil {
			m = actions.NewManifest(c.Broker)
		} else if err := m.Broker().Same(c.Broker); err != nil {
			return &exit{ExitFailed, fmt.Errorf("%w: another broker has another manifest, see --manifest", err)}
		}
		return p.draft(ctx, t, m, topic, now, o)
	})
}

// draft puts the entry into the manifest, or says how the one that is there stands.
func (p *program) draft(ctx context.Context, t *retiring, m *actions.Manifest, topic []byte, now actions.Copy, o draftOptions) error {
	e, had := m.Find(topic)
	if !had {
		all, err := actions.Protect(t.guard.Filters(), m.Protect())
		if err != nil {
			return failed(ctx, err)
		}
		if f, yes := all.Match(topic); yes {
			return &exit{ExitFailed, fmt.Errorf("%s is protected by %s", actions.Quote(topic), quote(f))}
		}
		e = actions.Entry{Topic: topic, Owner: o.owner, Purpose: o.purpose, Reason: o.reason, Fingerprint: now.Fingerprint}
		if err := m.Put(e); err != nil {
			return &exit{ExitFailed, err}
		}
		const patience = 5 * time.Second // a clear that runs elsewhere may take longer
		waiting, cancel := context.WithTimeout(ctx, patience)
		err = t.desk.Save(waiting, m)
		cancel()
		if err != nil {
			return failed(ctx, err)
		}
		e, _ = m.Find(topic)
	}
	fmt.Fprintf(p.stdout, "%s line %d: %s\nholds now: %s, fingerprint %s\n", quoteless(t.path), e.Line, tui.Printable(topic), actions.Counted(now.Size, "byte"), now.Fingerprint)
	switch {
	case !had:
		fmt.Fprintf(p.stdout, "begun, on hold; to approve it, write %s there; see retainscope draft --help\n", approvalLacks(e))
	case e.Fingerprint != now.Fingerprint:
		fmt.Fprintf(p.stdout, "the entry was left as it is: %s, and of another value, %.12s\n", e.Disposition, e.Fingerprint)
	default:
		fmt.Fprintf(p.stdout, "the entry was left as it is: %s, and of this value\n", e.Disposition)
	}
	return p.ends(ExitOK, fmt.Sprintf("the entry is in %s line %d", quoteless(t.path), e.Line))
}

// approvalLacks names what an approval of e still needs.
func approvalLacks(e actions.Entry) string {
	var names []string
	for _, f := range []struct {
		name string
		has  bool
	}{{"owner", e.Owner != ""}, {"purpose", e.Purpose != ""}, {"disposition", false}, {"approved_by", false}} {
		if !f.has {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ") + " and approved_at"
}

// badManifest says everything that is wrong with a manifest, each with its line, or that there is none.
func (p *program) badManifest(t *retiring, err error) error {
	var wrong *actions.ManifestError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &exit{ExitFailed, fmt.Errorf("there is no manifest %s; `%s` begins one", quoteless(t.path), p.again("draft", "--topic TOPIC"))}
	case !errors.As(err, &wrong):
		return &exit{ExitFailed, err}
	}
	for _, w := range wrong.Problems {
		where := quoteless(t.path)
		if w.Line > 0 {
			where += fmt.Sprintf(" line %d", w.Line)
		}
		p.say("%s: %s", where, w.Text)
	}
	return &exit{code: ExitFailed}
}
