package cli

// The one device that `retainscope watch` is for Home Assistant, with a sensor for each of its figures.
// Names are written out: the payload is read by people in the store as well.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// watchTopics are the topics of one watcher.
type watchTopics struct {
	status, state string
	config        string // empty where nothing is announced
}

func (t watchTopics) all() []string {
	all := []string{t.status, t.state}
	if t.config != "" {
		all = append(all, t.config)
	}
	return all
}

// topics returns the topics of the watcher that the settings describe, and its instance.
func (r *resolved) topics() (t watchTopics, instance string) {
	instance = r.Watch.Instance
	if instance == "" {
		instance = hostInstance()
	}
	t.status, t.state = r.Watch.Prefix+"/"+instance+"/status", r.Watch.Prefix+"/"+instance+"/state"
	if r.Watch.DiscoveryPrefix != "" {
		t.config = r.Watch.DiscoveryPrefix + "/device/retainscope_" + instance + "/config"
	}
	return t, instance
}

// hostInstance returns the first label of the host's name in the letters that an instance may have.
func hostInstance() string {
	name, err := os.Hostname()
	if err != nil {
		return "host"
	}
	name, _, _ = strings.Cut(name, ".")
	name = strings.Map(func(r rune) rune {
		if instanceRune(r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "host"
	}
	return name[:min(len(name), instanceMost)]
}

const instanceMost = 64

// instanceRune reports what the object of a discovery topic may hold.
func instanceRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

func checkInstance(s string) error {
	if len(s) > instanceMost || strings.ContainsFunc(s, func(r rune) bool { return !instanceRune(r) }) {
		return fmt.Errorf("must be at most %d letters, digits, _ and -", instanceMost)
	}
	return nil
}

// checkPrefix refuses what cannot be the begin of a topic. Source: MQTT 5, 4.7.
func checkPrefix(s string) error {
	switch {
	case s == "" || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/"):
		return errors.New("must be the first levels of a topic, without a slash at either end")
	case strings.HasPrefix(s, "$"):
		return errors.New("must not begin with $: those topics are the broker's own")
	case len(s) > 1000 || !utf8.ValidString(s) || strings.ContainsAny(s, "+#") || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("must be plain text of at most 1000 bytes without + and #")
	}
	return nil
}

func checkDiscovery(s string) error {
	if s == "" {
		return nil
	}
	return checkPrefix(s)
}

// discovery is a device discovery config.
type discovery struct {
	Device       device            `json:"device"`
	Origin       origin            `json:"origin"`
	Availability string            `json:"availability_topic"`
	Available    string            `json:"payload_available"`
	NotAvailable string            `json:"payload_not_available"`
	StateTopic   string            `json:"state_topic"`
	Components   map[string]sensor `json:"components"`
}

type device struct {
	Identifiers  []string `json:"identifiers"`
	Name         string   `json:"name"`
	Manufacturer string   `json:"manufacturer"`
	Model        string   `json:"model"`
	Version      string   `json:"sw_version"`
}

type origin struct {
	Name    string `json:"name"`
	Version string `json:"sw_version"`
}

type sensor struct {
	Platform    string   `json:"platform"`
	Name        string   `json:"name"`
	UniqueID    string   `json:"unique_id"`
	Template    string   `json:"value_template"`
	StateClass  string   `json:"state_class,omitempty"`
	DeviceClass string   `json:"device_class,omitempty"`
	Unit        string   `json:"unit_of_measurement,omitempty"`
	Options     []string `json:"options,omitempty"`
	Category    string   `json:"entity_category,omitempty"`
	Icon        string   `json:"icon,omitempty"`
}

// The payloads of the topic status.
const (
	online  = "online"
	offline = "offline"
)

// announce returns the discovery config of a watcher: every figure that it publishes is a sensor.
func announce(t watchTopics, instance string, readings bool) []byte {
	d := discovery{
		Device: device{
			Identifiers: []string{"retainscope_" + instance}, Name: "retainscope " + instance,
			Manufacturer: "retainscope", Model: "retained messages", Version: Version(),
		},
		Origin:       origin{Name: "retainscope", Version: Version()},
		Availability: t.status, Available: online, NotAvailable: offline, StateTopic: t.state,
		Components: map[string]sensor{},
	}
	const diagnostic = "diagnostic"
	add := func(id string, s sensor) {
		s.Platform, s.UniqueID, s.Template = "sensor", "retainscope_"+instance+"_"+id, "{{ value_json."+id+" }}"
		d.Components[id] = s
	}
	number := func(id, name, icon, category string) {
		add(id, sensor{Name: name, StateClass: "measurement", Unit: "topics", Icon: icon, Category: category})
	}
	number("retained", "Retained topics", "mdi:tray-full", "")
	number("with_expiry", "Retained with expiry", "mdi:timer-sand", "")
	number("without_expiry", "Retained without expiry", "mdi:timer-sand-empty", "")
	if readings {
		number("left_behind", "Look left behind", "mdi:ghost-outline", "")
		number("hazards", "Hazards", "mdi:alert", "")
	}
	number("unknown", "Expiry not known", "mdi:help-circle-outline", diagnostic)
	number("due", "Due", "mdi:timer-alert-outline", diagnostic)
	number("not_seen", "Not shown to this login", "mdi:eye-off-outline", diagnostic)
	add("bytes", sensor{Name: "Retained bytes", StateClass: "measurement", DeviceClass: "data_size", Unit: "B", Category: diagnostic})
	add("coverage", sensor{Name: "Coverage", DeviceClass: "enum", Options: coverages(), Category: diagnostic})
	add("last_change", sensor{Name: "Last change", DeviceClass: "timestamp", Category: diagnostic})
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts only
	}
	return b
}
