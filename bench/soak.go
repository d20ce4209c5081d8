package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
)

// childSoak watches as the program does and prints its memory every ten seconds.
func childSoak(ctx context.Context, addr string, length time.Duration) error {
	inv := inventory.New(inventory.Options{})
	w, err := broker.Watch(ctx, broker.WatchConfig{Config: broker.Config{URL: "mqtt://" + addr, ClientID: "soak"}}, inv)
	if err != nil {
		return err
	}
	start := time.Now()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for time.Since(start) < length {
		<-tick.C
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_, cov := w.Status()
		if _, err := fmt.Fprintf(os.Stdout, "%4.0f s: RSS %.1f MiB, heap %.1f MiB, %d goroutines, %d topics, %s\n", time.Since(start).Seconds(),
			float64(rss())/(1<<20), float64(m.HeapAlloc)/(1<<20), runtime.NumGoroutine(), inv.Counts().Topics, cov.Claim); err != nil {
			return err
		}
	}
	return w.Close(ctx)
}

// rss returns the resident memory of this process in bytes, 0 where /proc does not tell.
func rss() int64 { return rssOf(os.Getpid()) }

// runSoak sends updates at a steady rate for a long time beside a watcher that reports its memory.
func runSoak(ctx context.Context, o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	length := o.length
	if length == 0 {
		length = 10 * time.Minute
	}
	m, err := startMosquitto(true)
	if err != nil {
		return err
	}
	defer m.stop()
	n := o.sizes[0]
	if err := fill(m.addr, "plant", n, 300); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "child", "soak", m.addr, "0", (length + time.Second).String())
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	sent, err := updates(ctx, m.addr, n, 300, o.rate, length)
	if err != nil {
		return err
	}
	err = cmd.Wait()
	fmt.Fprintf(os.Stdout, "%d updates sent in %s, CPU of the watcher %.2f s\n", sent, length, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	return err
}
