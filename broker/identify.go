package broker

// What a broker tells of itself, for a manifest that must not be used on another one.

import (
	"context"
	"strings"
	"time"

	"retainscope/inventory"
)

// Identify asks the broker on a connection of its own what it is, and returns for instance "mosquitto version 2.0.11":
// the same text as Link.Broker of a Watcher, which asks nothing where there is one. A broker that tells this login
// nothing under $SYS is known by the user properties of its CONNACK, and by "" when it has none. The text is short and
// safe for a terminal. The error is that of the connection, a *ConnectError, or ctx's.
//
// Source: MQTT 5, 3.2.2.3.10.
func Identify(ctx context.Context, cfg Config) (string, error) {
	figs := newFigures()
	conn, err := Dial(ctx, cfg, figs.apply, inventory.Answer)
	if err != nil {
		return "", err
	}
	defer shut(conn)
	// Some brokers end a connection that asks for $SYS. That is no answer, and no error.
	asking, cancel := context.WithTimeout(ctx, conn.cfg.Timeout)
	defer cancel()
	grants, err := conn.Subscribe(asking, []Subscription{{Filter: sysVersion}})
	if err == nil && !grants[0].Refused() && conn.Fence(asking) == nil {
		if v := figs.soon(asking, conn); v != "" {
			return v, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var told []string
	for _, u := range conn.Server().UserProperties {
		told = append(told, u.Key+"="+u.Value)
	}
	return plain(strings.Join(told, ", ")), nil
}

// soon returns the broker's version as soon as it is there, and "" after a quiet time: the fence is early on some brokers.
func (f *figures) soon(ctx context.Context, conn *Conn) string {
	timer := time.NewTimer(queryQuiet)
	defer timer.Stop()
	for over := false; ; {
		if v := f.read().version; v != "" || over {
			return v
		}
		select {
		case <-f.moved:
			continue
		case <-timer.C:
		case <-conn.Done():
		case <-ctx.Done():
		}
		over = true
	}
}
