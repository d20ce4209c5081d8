package demo

// Putting the house into a broker, the embedded one or a real one.
// The caller decides whether a broker may be written to: nothing here checks the address.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// Load publishes the house, retained and at QoS 1, to the broker that listens in plain MQTT 5 on addr (host:port), and
// returns the number of topics that were acknowledged. It returns when the broker has answered for each of them, or
// with the first error: no connection, a refusal, or the end of ctx.
func Load(ctx context.Context, addr string) (int, error) { return LoadAs(ctx, addr, Login{}) }

// Login is a user and a password; what is empty is not sent.
type Login struct{ User, Password string }

// LoadAs is Load with a login.
func LoadAs(ctx context.Context, addr string, who Login) (int, error) {
	house, err := House()
	if err != nil {
		return 0, err
	}
	return publishAs(ctx, addr, who, house)
}

// Publish sends messages as Load sends the house, in order, and returns the number that was acknowledged.
func Publish(ctx context.Context, addr string, messages []Message) (int, error) {
	return publishAs(ctx, addr, Login{}, messages)
}

func publishAs(ctx context.Context, addr string, who Login, messages []Message) (int, error) {
	c, err := connectAs(ctx, addr, level5, clientID("house"), who)
	if err != nil {
		return 0, err
	}
	defer c.close()
	sent := 0
	fail := func(err error) (int, error) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return sent - len(c.open), fmt.Errorf("load the house: %w", err)
	}
	for _, m := range messages {
		if err := c.send(outgoing{topic: m.Topic, payload: m.Payload, expiry: m.Expiry, retain: true}); err != nil {
			return fail(err)
		}
		sent++
	}
	if err := c.settle(); err != nil {
		return fail(err)
	}
	return sent, nil
}

// clientID returns an identifier that no other connection has. Source: MQTT 5, 3.1.3.1.
func clientID(name string) string {
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	return "retainscope-demo-" + name + "-" + hex.EncodeToString(b)
}
