package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
)

// updates publishes rate retained updates a second of size bytes, 0 for the mix, over n topics until the time is over, and returns how many.
func updates(ctx context.Context, addr string, n, size, rate int, length time.Duration) (int, error) {
	p, err := dialPublisher(addr)
	if err != nil {
		return 0, err
	}
	defer p.close()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	var frame, body []byte
	sent := 0
	for {
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-tick.C:
		}
		gone := time.Since(start)
		if gone >= length {
			return sent, p.settle()
		}
		for due := int(gone.Seconds() * float64(rate)); sent < due; sent++ {
			i := rand.IntN(n)
			body = payload(body, i, int(time.Now().UnixMicro()), size)
			frame = publishFrame(frame[:0], corpus("plant", i), body, 0)
			if _, err := p.w.Write(frame); err != nil {
				return sent, err
			}
		}
		if err := p.w.Flush(); err != nil {
			return sent, err
		}
	}
}

// childLive holds the live stream in an inventory for a while and prints what it got and how late it was.
func childLive(ctx context.Context, addr string, length time.Duration) error {
	inv := inventory.New(inventory.Options{})
	var got atomic.Int64
	var late []int64
	deliver := func(batch []inventory.Publication) {
		inv.Apply(batch)
		if n := got.Add(int64(len(batch))); n%64 < int64(len(batch)) {
			p := batch[0].Payload
			if i := bytes.Index(p, []byte(`"g":`)); i > 0 {
				if j := bytes.IndexByte(p[i+4:], ','); j > 0 {
					if at, err := strconv.ParseInt(string(p[i+4:i+4+j]), 10, 64); err == nil {
						late = append(late, time.Now().UnixMicro()-at)
					}
				}
			}
		}
	}
	c, err := broker.Dial(ctx, broker.Config{URL: "mqtt://" + addr, ClientID: "bench"}, deliver, inventory.Live)
	if err != nil {
		return err
	}
	if _, err := c.Subscribe(ctx, []broker.Subscription{{Filter: "#", RetainAsPublished: true, RetainHandling: 2}}); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "ready")
	select {
	case <-time.After(length):
	case <-c.Done():
		return c.Err()
	}
	if err := c.Close(ctx); err != nil {
		return err
	}
	slices.Sort(late)
	at := func(q float64) int64 {
		if len(late) == 0 {
			return 0
		}
		return late[int(q*float64(len(late)-1))]
	}
	return account(time.Now(), int(got.Load()), fmt.Sprintf("delay-p50-us:%d,p99-us:%d", at(0.5), at(0.99)))
}

// runLive sends updates at a steady rate over a store and measures loss and CPU of one subscriber after the other.
func runLive(ctx context.Context, o options) error {
	fmt.Fprintln(os.Stdout, machine())
	length := o.length
	if length == 0 {
		length = 20 * time.Second
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	n := o.sizes[0]
	names, runs := []string{base, "retainscope"}, map[string][]sample{}
	for range o.rounds {
		for _, name := range names {
			m, err := startMosquitto(true)
			if err != nil {
				return err
			}
			s, sent, err := liveOnce(ctx, self, name, m, n, o.rate, length)
			m.stop()
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stdout, "%s: sent %d, received %d, lost %.3f %%, CPU %.3f s (%.3f s per 100k) %s\n", name, sent, s.got,
				100*(1-float64(s.got)/float64(sent)), s.cpu.Seconds(), s.cpu.Seconds()/float64(sent)*1e5, s.note)
			runs[name] = append(runs[name], s)
		}
	}
	table(fmt.Sprintf("%d updates/s for %s over %d topics, mosquitto's default limits", o.rate, length, n), base, names, runs)
	return nil
}

func liveOnce(ctx context.Context, self, name string, m *mosquitto, n, rate int, length time.Duration) (sample, int, error) {
	if err := fill(m.addr, "plant", n, 300); err != nil {
		return sample{}, 0, err
	}
	total := length + 4*time.Second
	var cmd *exec.Cmd
	lines := &counter{}
	if name == base {
		cmd = exec.CommandContext(ctx, "mosquitto_sub", "-V", "mqttv5", "-R", "-F", format, "-h", "127.0.0.1", "-p", m.port(), "-t", "#", "-W", strconv.Itoa(int(total.Seconds())))
		cmd.Stdout = lines
	} else {
		cmd = exec.CommandContext(ctx, self, "child", "live", m.addr, "0", total.String())
		cmd.Stdout = &lines.text
	}
	if err := cmd.Start(); err != nil {
		return sample{}, 0, err
	}
	time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // a tool run by hand lets the subscriber settle
	sent, err := updates(ctx, m.addr, n, 300, rate, length)
	if err != nil {
		return sample{}, sent, err
	}
	_ = cmd.Wait() // mosquitto_sub ends its -W with an error code
	s := sample{wall: length, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), ok: true, got: lines.n}
	if ru, is := cmd.ProcessState.SysUsage().(*syscall.Rusage); is {
		s.rss = ru.Maxrss * 1024
	}
	if name != base {
		read(&s, lines.text.String())
	}
	return s, sent, nil
}

// counter counts lines written to it.
type counter struct {
	n    int
	text bytes.Buffer
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += bytes.Count(b, []byte{'\n'})
	return len(b), nil
}
