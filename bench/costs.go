package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"text/tabwriter"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
)

// cost is what one store costs the program, when it is held and after a while of updates.
type cost struct {
	wall, cpu time.Duration // to the full inventory; CPU of the whole process until then
	// heap is the live heap in bytes, less that of the program without a store: when it is full, and after each of two
	// equal times of updates.
	heap [3]int64
	rss  int64
}

// childCosts watches as the program does. It tells its costs when it holds want topics, and again for each line of its
// standard input.
func childCosts(ctx context.Context, addr string, want int) error {
	empty := liveHeap()
	inv := inventory.New(inventory.Options{})
	w, err := broker.Watch(ctx, broker.WatchConfig{Config: broker.Config{URL: "mqtt://" + addr, ClientID: "costs"}}, inv)
	if err != nil {
		return err
	}
	for inv.Counts().Topics < int64(want) {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, cov := w.Status()
	wall, cpu := time.Since(cov.StartedAt), cpuTime()
	tell := func() error {
		heap := liveHeap() - empty
		_, err := fmt.Fprintln(os.Stdout, wall.Microseconds(), cpu.Microseconds(), heap, rss())
		return err
	}
	select { // the connection of the scan, with its buffers, is gone a moment after its end
	case <-w.Scanned():
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := tell(); err != nil {
		return err
	}
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		if err := tell(); err != nil {
			return err
		}
	}
	return w.Close(ctx)
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func cpuTime() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// runCosts prints what stores of each size cost, in one table.
func runCosts(ctx context.Context, o options) error {
	length := o.length
	if length == 0 {
		length = 20 * time.Second
	}
	fmt.Fprintf(os.Stdout, "%s; %d runs of each size, medians; then twice %s of %d updates a second\n", machine(), o.rounds, length, o.rate)
	w := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "topics\tbytes a topic\ttime s\tCPU s\tCPU us a topic\tRSS MiB\tRSS a topic\theap a topic\theap MiB: full\tafter updates\tand as many again\t")
	for _, n := range o.sizes {
		c, raw, err := costsOf(ctx, o, n, length)
		if err != nil {
			return err
		}
		each := func(v int64) string { return fmt.Sprint(v / int64(n)) }
		mib := func(v int64) float64 { return float64(v) / (1 << 20) }
		fmt.Fprintf(w, "%d\t%s\t%.3f\t%.3f\t%.2f\t%.0f\t%s\t%s\t%.1f\t%.1f\t%.1f\t\n", n, each(raw), c.wall.Seconds(), c.cpu.Seconds(),
			float64(c.cpu.Nanoseconds())/1e3/float64(n), mib(c.rss), each(c.rss), each(c.heap[0]), mib(c.heap[0]), mib(c.heap[1]), mib(c.heap[2]))
	}
	return w.Flush()
}

// costsOf returns the medians for one size, and the bytes of all topics and payloads.
func costsOf(ctx context.Context, o options, n int, length time.Duration) (c cost, raw int64, err error) {
	m, err := startMosquitto(false)
	if err != nil {
		return c, 0, err
	}
	defer m.stop()
	if err := fill(m.addr, o.layout, n, o.payload); err != nil {
		return c, 0, err
	}
	var body []byte
	for i := range n {
		body = payload(body, i, 0, o.payload)
		raw += int64(len(corpus(o.layout, i)) + len(body))
	}
	var all []cost
	for range o.rounds {
		c, err := costsOnce(ctx, o, m, n, length)
		if err != nil {
			return c, 0, err
		}
		all = append(all, c)
	}
	of := func(f func(*cost) int64) int64 {
		var v []int64
		for i := range all {
			v = append(v, f(&all[i]))
		}
		return median(v)
	}
	c.wall = time.Duration(of(func(c *cost) int64 { return int64(c.wall) }))
	c.cpu = time.Duration(of(func(c *cost) int64 { return int64(c.cpu) }))
	c.rss = of(func(c *cost) int64 { return c.rss })
	for i := range c.heap {
		c.heap[i] = of(func(c *cost) int64 { return c.heap[i] })
	}
	return c, raw, nil
}

func costsOnce(ctx context.Context, o options, m *mosquitto, n int, length time.Duration) (c cost, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	cmd := exec.CommandContext(ctx, self, "child", "costs", m.addr, fmt.Sprint(n), (length + 5*time.Minute).String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return c, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, err
	}
	if err := cmd.Start(); err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, cmd.Wait()) }()
	defer func() { _ = in.Close() }()
	lines := bufio.NewReader(out)
	var wall, cpu, rss int64
	if _, err := fmt.Fscanln(lines, &wall, &cpu, &c.heap[0], &c.rss); err != nil {
		return c, fmt.Errorf("the costs of %d topics: %w", n, err)
	}
	c.wall, c.cpu = time.Duration(wall)*time.Microsecond, time.Duration(cpu)*time.Microsecond
	for i := 1; i < len(c.heap); i++ {
		if _, err := updates(ctx, m.addr, n, o.payload, o.rate, length); err != nil {
			return c, err
		}
		if _, err := fmt.Fprintln(in); err != nil {
			return c, err
		}
		if _, err := fmt.Fscanln(lines, &wall, &cpu, &c.heap[i], &rss); err != nil {
			return c, fmt.Errorf("the costs of %d topics after updates: %w", n, err)
		}
	}
	return c, nil
}
