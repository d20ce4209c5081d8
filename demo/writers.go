package demo

// The small writers: programs of the house that act while one watches. Each has a connection and a goroutine of its
// own and ends with its context; a lost connection ends it too, for there is nobody here to repair.

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// The topics of the writers, one first level for each so that a person finds them.
const (
	TopicRefreshed   = "demo/refreshed/state"   // an MQTT 5 app: window W, refreshed every W/3
	TopicStopped     = "demo/stopped/state"     // the same, but it stops after two refreshes, and starts again later
	Topic311         = "demo/mqtt311/state"     // a 3.1.1 app: changing values, no expiry
	TopicOverwritten = "demo/overwritten/state" // published with an expiry, then overwritten by the 3.1.1 app
	TopicLate        = "demo/late-writer/state" // comes back a moment after somebody cleared it
	topicEvents      = "demo/mqtt311/events"    // not retained
	topicStatus      = "demo/refreshed/status"  // the heartbeat of the refreshing app
	overwrittenFor   = uint32(3600)             // its expiry before it is overwritten
	lateAnswer       = time.Second              // how long the late writer waits before it writes again
)

// startWriters starts them all; each is counted in wg. window is the Message Expiry Interval they use.
func startWriters(ctx context.Context, addr string, window time.Duration, wg *sync.WaitGroup) {
	for _, w := range []func(context.Context, string, time.Duration) error{refreshing, stopping, old311, late} {
		wg.Go(func() { _ = w(ctx, addr, window) })
	}
}

// pause waits for d and returns false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func seconds(d time.Duration) *uint32 {
	n := uint32(d / time.Second)
	return &n
}

// refreshing publishes with an expiry and re-asserts every third of it.
func refreshing(ctx context.Context, addr string, window time.Duration) error {
	c, err := connect(ctx, addr, level5, clientID("refreshed"))
	if err != nil {
		return err
	}
	defer c.close()
	for n := 0; ; n++ {
		for _, m := range []outgoing{
			{topic: TopicRefreshed, payload: []byte(`{"pump":"on","level_cm":41}`)},
			{topic: topicStatus, payload: []byte(`{"status":"online"}`)},
		} {
			m.expiry, m.retain, m.contentType = seconds(window), true, "application/json"
			m.user = [][2]string{{"app", "demo"}, {"refresh", fmt.Sprint(n)}}
			if err := c.publish(m); err != nil {
				return err
			}
		}
		if n == 0 {
			m := outgoing{topic: TopicOverwritten, payload: []byte("with an expiry"), retain: true}
			expiry := overwrittenFor
			m.expiry = &expiry
			if err := c.publish(m); err != nil {
				return err
			}
		}
		if !pause(ctx, window/3) {
			return nil
		}
	}
}

// stopping refreshes twice, falls silent until its message has aged out, and is then started again.
func stopping(ctx context.Context, addr string, window time.Duration) error {
	for {
		c, err := connect(ctx, addr, level5, clientID("stopped"))
		if err != nil {
			return err
		}
		for range 3 {
			err = c.publish(outgoing{topic: TopicStopped, payload: []byte("running"), expiry: seconds(window), retain: true})
			if err != nil || !pause(ctx, window/3) {
				c.close()
				return err
			}
		}
		c.close()
		if !pause(ctx, 2*window) {
			return nil
		}
	}
}

// old311 speaks 3.1.1: its values change and never expire, and it overwrites a topic that did.
func old311(ctx context.Context, addr string, window time.Duration) error {
	c, err := connect(ctx, addr, level311, clientID("mqtt311"))
	if err != nil {
		return err
	}
	defer c.close()
	for n := 0; ; n++ {
		value := fmt.Appendf(nil, `{"temperature":%d.%d,"n":%d}`, 19+n%4, n%10, n)
		if err := c.publish(outgoing{topic: Topic311, payload: value, retain: true}); err != nil {
			return err
		}
		if err := c.publish(outgoing{topic: topicEvents, payload: []byte("tick")}); err != nil {
			return err
		}
		if n == 4 {
			if err := c.publish(outgoing{topic: TopicOverwritten, payload: []byte("overwritten by 3.1.1"), retain: true}); err != nil {
				return err
			}
		}
		if !pause(ctx, window/6) {
			return nil
		}
	}
}

// late writes once, and again a moment after its topic was emptied.
func late(ctx context.Context, addr string, window time.Duration) error {
	if !pause(ctx, window/2) {
		return nil
	}
	c, err := connect(ctx, addr, level5, clientID("late"))
	if err != nil {
		return err
	}
	defer c.close()
	// Subscribed before the first value is there: who clears it at once is heard as well.
	cleared := false
	c.heard = func(topic string, payload []byte) {
		if topic == TopicLate {
			cleared = len(payload) == 0
		}
	}
	if err := c.subscribe(TopicLate); err != nil {
		return err
	}
	value := outgoing{topic: TopicLate, payload: []byte("I come back when I am cleared"), retain: true}
	for {
		if err := c.publish(value); err != nil {
			return err
		}
		for !cleared {
			if err := c.take(); err != nil {
				return err
			}
		}
		cleared = false
		if !pause(ctx, lateAnswer) {
			return nil
		}
	}
}
