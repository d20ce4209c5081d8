package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/journal"
)

// runWatch runs the built program as a service beside the fixture house and a storm of updates, and prints what it
// takes and says every ten seconds.
func runWatch(ctx context.Context, o options) error {
	length := o.length
	if length == 0 {
		length = 4 * time.Minute
	}
	m, err := startMosquitto(true)
	if err != nil {
		return err
	}
	defer m.stop()
	home, err := os.MkdirTemp("", "retainscope-soak")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	url := "mqtt://" + m.addr
	if out, err := exec.CommandContext(ctx, o.program, "demo", "--into", url).CombinedOutput(); err != nil {
		return fmt.Errorf("load the house: %w: %s", err, out)
	}
	n := o.sizes[0]
	if err := fill(m.addr, "plant", n, 300); err != nil {
		return err
	}
	var states, others atomic.Int64
	c, err := broker.Dial(ctx, broker.Config{URL: url, ClientID: "soak"}, func(batch []inventory.Publication) {
		for i := range batch {
			if bytes.HasSuffix(batch[i].Topic, []byte("/state")) {
				states.Add(1)
			} else {
				others.Add(1)
			}
		}
	}, inventory.Live)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Subscribe(ctx, []broker.Subscription{{Filter: "retainscope/#", RetainHandling: 2}, {Filter: "homeassistant/device/#", RetainHandling: 2}}); err != nil {
		return err
	}
	cmd := exec.Command(o.program, "watch", "--broker", url, "--instance", "soak", "--message-expiry-interval", "30")
	cmd.Env = []string{"HOME=" + home}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Kill() }()
	sampling, stop := context.WithCancel(ctx)
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for start := time.Now(); ; {
			select {
			case <-sampling.Done():
				return
			case <-tick.C:
			}
			fmt.Fprintf(os.Stdout, "%4.0f s: RSS %.1f MiB, journal %.1f MiB, %d figures and %d other messages of its own\n", time.Since(start).Seconds(),
				float64(rssOf(cmd.Process.Pid))/(1<<20), float64(sizeBelow(home))/(1<<20), states.Load(), others.Load())
		}
	}()
	sent, err := updates(ctx, m.addr, n, 300, o.rate, length)
	stop()
	<-sampled
	_ = cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	werr := cmd.Wait()
	kill.Stop()
	fmt.Fprintf(os.Stdout, "%d updates sent over %d topics in %s; the watcher took %.2f s of CPU and ended with code %d\n", sent, n, length,
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), cmd.ProcessState.ExitCode())
	seen, jerr := remembered(ctx, home)
	fmt.Fprintf(os.Stdout, "the journal has %d publications seen live\n", seen)
	return errors.Join(err, werr, jerr)
}

// remembered returns how many publications the journal below a folder has seen live.
func remembered(ctx context.Context, home string) (n uint64, err error) {
	files, err := filepath.Glob(filepath.Join(home, ".local/state/retainscope/*.db"))
	if err != nil || len(files) != 1 {
		return 0, fmt.Errorf("journals: %q %w", files, err)
	}
	r, err := journal.Read(files[0])
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	return n, r.Each(ctx, func(rec journal.Record) bool { n += rec.Times; return true })
}

// sizeBelow returns the bytes of all files below a folder.
func sizeBelow(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// rssOf returns the resident memory of a process in bytes, 0 where /proc does not tell.
func rssOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for l := range strings.SplitSeq(string(b), "\n") {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			var kb int64
			_, _ = fmt.Sscan(v, &kb)
			return kb << 10
		}
	}
	return 0
}
