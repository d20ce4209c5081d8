// Command bench runs retainscope's ingest beside other subscribers of the same broker, interleaved, and prints medians.
//
// By hand, on a quiet machine: `make bench-peers`. It talks to loopback only and ends only processes that it started.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 2 && os.Args[1] == "child" {
		if err := child(ctx, os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench child:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	var sizes, only string
	flag.StringVar(&sizes, "sizes", "10000,100000,1000000", "topics of each store")
	flag.IntVar(&o.rounds, "rounds", 5, "interleaved rounds")
	flag.StringVar(&only, "only", "", "subscribers to run, by name, with commas; empty for all that are there")
	flag.BoolVar(&o.limits, "limits", false, "leave mosquitto's default queue limits on, and count what arrives")
	flag.StringVar(&o.scenario, "scenario", "inventory", "inventory, complete, costs, keys, live, soak or watch")
	flag.IntVar(&o.rate, "rate", 50000, "live: updates a second")
	flag.DurationVar(&o.length, "for", 0, "live: how long")
	flag.StringVar(&o.layout, "layout", "plant", "complete: plant, deep, wide or flat")
	flag.IntVar(&o.payload, "payload", 0, "complete: bytes of each payload; 0 for the mix")
	flag.StringVar(&o.program, "program", "./retainscope", "keys, watch: the built program")
	flag.Parse()
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n > 2_000_000 {
			fmt.Fprintf(os.Stderr, "bench: -sizes takes numbers from 1 to 2000000, not %q\n", s)
			os.Exit(2)
		}
		o.sizes = append(o.sizes, n)
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	sizes    []int
	rounds   int
	only     []string
	limits   bool
	scenario string
	rate     int
	length   time.Duration
	layout   string
	payload  int
	program  string
}

func run(ctx context.Context, o options) error {
	switch o.scenario {
	case "inventory":
		return runInventory(ctx, o)
	case "complete":
		return runComplete(ctx, o)
	case "live":
		return runLive(ctx, o)
	case "soak":
		return runSoak(ctx, o)
	case "costs":
		return runCosts(ctx, o)
	case "watch":
		return runWatch(ctx, o)
	case "keys":
		return runKeys(ctx, o)
	default:
		return fmt.Errorf("unknown scenario %q", o.scenario)
	}
}
