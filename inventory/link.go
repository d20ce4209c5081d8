package inventory

import "time"

// LinkState tells whether the live connection stands. The zero value is Connecting.
type LinkState uint8

const (
	// Connecting means that the first connection is being made.
	Connecting LinkState = iota
	// Watching means that the live connection stands: what happens is seen.
	Watching
	// Lost means that it ended and that nothing is seen until it is made again.
	Lost
)

// Link is the state of the road between the broker and this inventory, as one coalesced value.
type Link struct {
	State    LinkState
	Since    time.Time // since when State holds
	Attempt  int       // reconnect attempts since the loss
	RetryAt  time.Time // when the next attempt starts; zero when one is under way
	Err      string    // one plain sentence about the loss, the last failed attempt, or a broker that is silent while it is watched, safe for a terminal; empty when there is none
	URL      string    // the broker's address without credentials
	User     string    // the login, empty when anonymous
	Broker   string    // what the broker tells of itself, for instance "mosquitto version 2.0.11"; empty when it does not
	Protocol string    // "5" or "3.1.1"
	Insecure bool      // the server's certificate is not checked
	Scanning bool      // a snapshot or slices are under way
	Progress string    // what the scan does now, one short phrase; empty when none runs
	// ScanDone and ScanOf tell how far a scan is; ScanOf is -1 when the total is not known.
	ScanDone, ScanOf int64
}

// What MQTT 3.1.1 cannot tell, in sentences for the person.
const (
	// LimitedView says what a list made over it lacks.
	LimitedView = "MQTT 3.1.1 is limited: no expiry is on its wire, and a live message does not tell whether the broker kept it; the topic is asked for again a moment later. Readings differ from those over MQTT 5: what an offline owner left is not called left behind, for it may expire by itself, and what looks left behind for another reason may expire as well."
	// LimitedClears says why nothing is cleared over it.
	LimitedClears = "Nothing is cleared with MQTT 3.1.1: a broker that refuses acknowledges all the same, and the refusal would be invisible."
)

// Limited reports whether the connection speaks a version of MQTT that cannot tell what MQTT 5 tells, and LimitedView and
// LimitedClears hold.
func (l Link) Limited() bool { return l.Protocol == "3.1.1" }
