package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// base is the subscriber that every ratio is taken to.
const base = "mosquitto_sub"

// format is what mosquitto_sub writes for each message, to nowhere.
const format = "%t %l %q %E %p"

// start runs one subscriber by name until it received want messages, and returns what it cost.
func start(ctx context.Context, name string, m *mosquitto, want int, limit time.Duration) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	switch name {
	case base:
		s, err := measure(ctx, "mosquitto_sub", "-V", "mqttv5", "-F", format, "-h", "127.0.0.1", "-p", m.port(), "-t", "#",
			"-C", strconv.Itoa(want), "-W", strconv.Itoa(int(limit.Seconds())))
		if s.ok {
			s.got = want
		}
		return s, err
	case "mqtt.js+map":
		return measure(ctx, "node", "bench/peers/mqttjs.js", m.addr, strconv.Itoa(want))
	default:
		return measure(ctx, self, "child", name, m.addr, strconv.Itoa(want), limit.String())
	}
}

// there returns the subscribers that can run on this machine, the base first.
func (o options) there() []string {
	names := []string{base, "retainscope", "ingest", "raw", "paho+map"}
	if _, err := os.Stat("bench/peers/node_modules/mqtt"); err == nil {
		names = append(names, "mqtt.js+map")
	}
	if len(o.only) > 0 {
		names = slices.DeleteFunc(names, func(n string) bool { return n != base && !slices.Contains(o.only, n) })
	}
	return names
}

// runInventory measures the time to a full inventory: N retained topics, one `#`, limits off unless asked.
func runInventory(ctx context.Context, o options) error {
	if _, err := exec.LookPath("mosquitto_sub"); err != nil {
		return errors.New("mosquitto_sub is not installed (Debian: apt-get install mosquitto-clients)")
	}
	fmt.Fprintln(os.Stdout, machine())
	for _, n := range o.sizes {
		m, err := startMosquitto(o.limits)
		if err != nil {
			return err
		}
		err = func() error {
			defer m.stop()
			if err := fill(m.addr, "plant", n, 0); err != nil {
				return err
			}
			names, runs := o.there(), map[string][]sample{}
			for range o.rounds {
				for _, name := range names {
					s, err := start(ctx, name, m, n, 3*time.Minute)
					if err != nil {
						return err
					}
					if !s.ok {
						fmt.Fprintf(os.Stdout, "  %s did not end well: %s\n", name, s.note)
					}
					runs[name] = append(runs[name], s)
				}
			}
			table(fmt.Sprintf("%d topics, %d interleaved rounds, x against %s", n, o.rounds, base), base, names, runs)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// runComplete counts what arrives of a store under mosquitto's default limits, and how often what lacks is told.
func runComplete(ctx context.Context, o options) error {
	fmt.Fprintln(os.Stdout, machine())
	for _, n := range o.sizes {
		m, err := startMosquitto(true)
		if err != nil {
			return err
		}
		err = func() error {
			defer m.stop()
			if err := fill(m.addr, o.layout, n, o.payload); err != nil {
				return err
			}
			whole, atOnce, told := 0, 0, 0
			for round := range o.rounds {
				s, err := start(ctx, "complete", m, n, 10*time.Minute)
				if err != nil {
					return err
				}
				note := strings.ReplaceAll(s.note, "_", " ")
				fmt.Fprintf(os.Stdout, "%s %d x %d B, round %d: %d of %d after %.1f s (%s)\n", o.layout, n, o.payload, round+1, s.got, n, s.wall.Seconds(), note)
				switch {
				case s.got == n && strings.Contains(note, "at once"):
					atOnce++
					fallthrough
				case s.got == n:
					whole++
				case strings.HasPrefix(note, "incomplete") || strings.HasPrefix(note, "unverified"):
					told++
				}
			}
			fmt.Fprintf(os.Stdout, "%s %d: whole in %d of %d, %d of them at once; told otherwise in %d of %d\n", o.layout, n, whole, o.rounds, atOnce, told, o.rounds-whole)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}
