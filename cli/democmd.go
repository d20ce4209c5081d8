package cli

// `retainscope demo`: a broker in this process with the made-up house, and the screen on it; or only the broker; or
// the house put into another broker on this machine.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"retainscope/demo"
	"retainscope/readings"
)

type demoOptions struct {
	serve, empty bool
	listen, into string
}

func (p *program) demoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Look at a made-up house on a broker inside the program",
		Long: `Start a broker inside the program on a loopback port, load it with a made-up house of 330 retained topics and
a few small writers with topics of their own (about 335 in all), and open the screen on it. The writers are below demo/: one refreshes its expiring message, one
stopped refreshing (and is started again later), one speaks MQTT 3.1.1 and overwrites an expiring message with one that
never expires, and one comes back when its topic is cleared.

With --serve only the broker runs, until it is stopped; its address is printed. The broker holds everything in memory
and lets everybody in: keep it on loopback.

With --into the house is published, retained, to another broker on this machine; it stays there. User and password come
from the settings, or with --ask-password from the prompt.`,
		Example: `  retainscope demo
  retainscope demo --serve --listen 127.0.0.1:1884
  retainscope demo --into mqtt://127.0.0.1:1883
  retainscope demo --into mqtt://127.0.0.1:1883 --user me --ask-password`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runDemo(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.serve, "serve", false, "only the broker, until it is stopped; prints its address")
	f.StringVar(&o.listen, "listen", "", "`ADDR`ess to listen on, host:port (default: 127.0.0.1 and a free port)")
	f.BoolVar(&o.empty, "empty", false, "without the house and its writers")
	f.StringVar(&o.into, "into", "", "publish the house to the broker at `URL`, which must be on loopback, and leave")
	p.screenFlags(cmd)
	return cmd
}

func (p *program) runDemo(ctx context.Context, o demoOptions) error {
	if o.into != "" {
		if o.serve || o.empty || o.listen != "" {
			return usage(errors.New("--into stands alone: it starts no broker"))
		}
		return p.loadInto(ctx, o.into)
	}
	var r *resolved
	if !o.serve {
		if err := p.checkTerminal(); err != nil {
			return err
		}
		var err error
		if r, err = p.load(ctx); err != nil {
			return err
		}
	}
	d, err := demo.Start(ctx, demo.Options{Listen: o.listen, Empty: o.empty, Writers: !o.empty})
	if err != nil {
		return failed(ctx, err)
	}
	defer d.Close()
	if host, _, err := net.SplitHostPort(o.listen); err == nil && o.listen != "" && !onLoopback(host) {
		p.say("warning: everybody who can reach %s may read and write this broker", quoteless(o.listen))
	}
	if o.serve {
		if _, err := fmt.Fprintln(p.stdout, d.URL()); err != nil {
			return failed(ctx, err) // nobody would know where it is
		}
		<-ctx.Done()
		return nil
	}
	// What is approved and recorded on a broker that will be gone goes with it.
	desk, err := os.MkdirTemp("", "retainscope-demo-")
	if err != nil {
		return &exit{ExitFailed, err}
	}
	defer func() { _ = os.RemoveAll(desk) }() // a temporary folder that stays harms nobody
	return p.screenOn(ctx, r.forDemo(d.URL(), desk))
}

// forDemo returns r with everything about a connection and about clears at its default, but for the address and the
// folder of the manifest: the settings of a real broker, its password among them, are none of the demo's business.
func (r *resolved) forDemo(address, desk string) *resolved {
	out := *r
	var plain Settings
	for _, s := range settings() {
		if err := s.bind(&plain).take(s.preset, false); err != nil {
			panic(err) // a default that its own check refuses: caught by every test
		}
	}
	out.MQTT, out.Scan, out.Readings, out.Clear, out.Observer = plain.MQTT, plain.Scan, plain.Readings, plain.Clear, plain.Observer
	out.Journal.Enabled = false // there is nothing to remember of a broker that lasts as long as a look
	out.rules, out.ruleLines = readings.Rules{}, nil
	out.MQTT.Broker, out.Clear.Manifest = address, filepath.Join(desk, "manifest.toml")
	return &out
}

func (p *program) loadInto(ctx context.Context, address string) error {
	host, err := loopback(address)
	if err != nil {
		return usage(fmt.Errorf("--into %s: %w", quote(withoutUserInfo(address)), err))
	}
	// As --broker would be: a login written for another broker stays away from this one.
	p.given["mqtt.broker"] = &flagText{texts: []string{address}}
	for _, s := range settings() {
		// What a file says of TLS is for its broker. This one is on this machine and has none.
		if f := p.given[s.id()]; s.tls() && (f == nil || len(f.texts) == 0) {
			nothing := ""
			if _, yes := s.preset.(bool); yes {
				nothing = "false"
			}
			p.given[s.id()] = &flagText{texts: []string{nothing}}
		}
	}
	r, err := p.load(ctx)
	if err != nil {
		return err
	}
	n, err := demo.LoadAs(ctx, host, demo.Login{User: r.MQTT.User, Password: string(r.MQTT.Password)})
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%s refused the connection: nothing listens there", host)
	}
	if err != nil {
		return failed(ctx, err)
	}
	fmt.Fprintf(p.stdout, "%d topics of the house are on %s\n", n, "mqtt://"+host)
	return nil
}

// loopback returns host:port of an mqtt:// address on this machine, and refuses every other: the house is made of
// hundreds of topics that nobody wants on a real broker by mistake.
func loopback(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "mqtt" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return "", errors.New("must be mqtt://HOST:PORT")
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "1883"
	}
	if !onLoopback(host) {
		return "", errors.New("is not on this machine: only a loopback address is taken")
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the resolver says: the name means this machine
	}
	return net.JoinHostPort(host, port), nil
}

func onLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
