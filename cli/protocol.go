package cli

// Which MQTT is spoken, and the interval that only one of them can carry: two settings whose meaning depends on each
// other. There is no fallback from one version to the other.

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"retainscope/broker"
	"retainscope/mqtt3"
)

const (
	version5   = "5"
	version311 = "3.1.1"
)

var protocolVersions = []string{version5, version311}

// versionValue is the protocol: text, or the integer 5 that a file naturally holds.
type versionValue struct{ p *string }

func (t versionValue) take(v any, _ bool) error {
	if v == int64(5) {
		v = version5
	}
	s, ok := v.(string)
	if !ok || !slices.Contains(protocolVersions, s) {
		return fmt.Errorf("must be %q or %q", version5, version311)
	}
	*t.p = s
	return nil
}

func (t versionValue) show() string { return quote(*t.p) }

// The bounds of the interval; the upper one is that of the property. Source: MQTT 5, 3.3.2.3.3.
const (
	leastInterval = broker.LeastInterval
	mostInterval  = math.MaxUint32
)

// intervalValue is a Message Expiry Interval: a whole number of seconds. Neither text in a file nor a number with a
// point is one, however round it is.
type intervalValue struct{ p *uint32 }

func (i intervalValue) take(v any, text bool) error {
	n := int64(-1)
	switch v := v.(type) {
	case int64:
		n = v
	case string:
		if u, err := strconv.ParseUint(v, 10, 63); text && err == nil {
			n = int64(u)
		}
	}
	if n < leastInterval || n > mostInterval {
		return fmt.Errorf("must be a whole number of seconds between %d and %d", leastInterval, int64(mostInterval))
	}
	*i.p = uint32(n)
	return nil
}

func (i intervalValue) show() string { return strconv.FormatUint(uint64(*i.p), 10) }

// checkProtocol refuses an interval that was given, whatever its value, where it would have no effect.
func (r *resolved) checkProtocol() error {
	const version, interval = "mqtt.protocol_version", "mqtt.message_expiry_interval"
	given := r.from[interval]
	if r.MQTT.ProtocolVersion != version311 || given.layer == fromDefault {
		return nil
	}
	return fmt.Errorf("%s = %d (%s): must be left out with %s = %q (%s): what 3.1.1 publishes never expires; with %q it is between %d and %d",
		interval, r.MQTT.MessageExpiryInterval, given, version, version311, r.from[version], version5, leastInterval, int64(mostInterval))
}

// dependent reports whether s is an error beside some value of another setting, so that no file may hold it unless it
// is meant.
func (s setting) dependent() bool { return s.id() == "mqtt.message_expiry_interval" }

// version returns what speaks the version that was chosen, nil for what broker speaks by itself.
func (r *resolved) version() broker.Version {
	if r.MQTT.ProtocolVersion == version311 {
		return mqtt3.Version{}
	}
	return nil
}

// publishInterval returns the interval of a publisher, 0 with a version that has none.
func (r *resolved) publishInterval() uint32 {
	if r.MQTT.ProtocolVersion == version311 {
		return 0
	}
	return r.MQTT.MessageExpiryInterval
}
