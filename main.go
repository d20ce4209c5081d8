// Retainscope shows the whole retained store of an MQTT broker, live. See package cli for the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"retainscope/broker"
	"retainscope/cli"
)

func main() {
	broker.EaseCollector()
	// SIGQUIT too: its trace would be written over a screen that nobody cleared. SIGABRT still gives one.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
