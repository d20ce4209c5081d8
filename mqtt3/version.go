// Package mqtt3 is MQTT 3.1.1 for a connection of broker: for brokers that speak nothing else.
//
// The only room that knows paho.mqtt.golang. What a store holds can be listed with it; nothing on its wire tells an
// expiry, whether a live publication was kept, or that the broker refused one.
package mqtt3

import "retainscope/broker"

// Version is MQTT 3.1.1, to be given to broker.Config. Its value has no state.
type Version struct{}

var _ broker.Version = Version{}

// String returns "3.1.1".
func (Version) String() string { return "3.1.1" }

// Limited returns true.
func (Version) Limited() bool { return true }

// Open returns a session over w with a clean session, a clear text of what the library would do by itself, and none of
// its reconnects, retries, stores or pings.
func (Version) Open(w *broker.Wire, h broker.Hello) broker.Session { return newSession(w, h) }
