// Retainscope shows the whole retained store of an MQTT broker, live. See package cli for the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"retainscope/broker"
	"retainscope/cli"
)

// patience is how long after a signal a further one is not heeded: whoever presses a key twice waits for the same end.
const patience = 3 * time.Second

func main() {
	broker.EaseCollector()
	// SIGQUIT too: its trace would be written over a screen that nobody cleared. SIGABRT still gives one.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	// A file that never answers holds up the orderly end: a signal that comes later ends the program as it is.
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
