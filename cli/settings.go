package cli

// Every setting there is, once: the table below drives the flags, the environment, the file, the output of
// `retainscope config` and config.toml.example. Nothing here reads a source; resolve.go does.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"retainscope/actions"
	"retainscope/broker"
)

// Settings is what a person may choose, after all sources were merged.
type Settings struct {
	MQTT struct {
		Broker, User                          string
		Password                              broker.Secret
		PasswordFile                          string
		CAFile, CertFile, KeyFile, ServerName string
		Insecure                              bool
		ClientID                              string
		KeepAlive, Timeout                    time.Duration
		ProtocolVersion                       string
		MessageExpiryInterval                 uint32 // seconds; without effect under 3.1.1
	}
	Scan struct {
		Filters, ExtraFilters []string
		Quiet, SysWait        time.Duration
		Slices                bool
	}
	Store struct {
		PayloadPerTopic, PayloadPerDocument, PayloadTotal, Changes int64
	}
	Readings struct {
		Enabled bool
		Ignore  []string
	}
	Clear struct {
		Manifest    string
		Protect     []string
		Window      time.Duration
		UndoPayload int64
	}
	Observer struct {
		User              string
		Password          broker.Secret
		PasswordFile      string
		CertFile, KeyFile string
	}
	Journal struct {
		Enabled, Group     bool
		File               string
		Flush              time.Duration
		MaxTopics, MaxSize int64
	}
	Watch struct {
		Publish                           bool
		Prefix, Instance, DiscoveryPrefix string
	}
	Screen struct {
		Refresh   time.Duration
		ASCII     string
		ExportDir string
	}
	Log struct{ File, Level, Format string }
}

// setting is one row of the table.
type setting struct {
	section, name string
	flag          string // name of the flag; empty where there is none
	preset        any    // the default, as TOML has it
	secret        bool
	usage         string // one sentence, for --help and the example
	bind          func(*Settings) value
}

// id returns the dotted name, as errors and `retainscope config` have it.
func (s setting) id() string { return s.section + "." + s.name }

// env returns the plain environment name.
func (s setting) env() string {
	return strings.ToUpper(s.section + "__" + s.name)
}

// tls reports whether s only has a meaning on an encrypted connection.
func (s setting) tls() bool {
	switch s.name {
	case "ca_file", "cert_file", "key_file", "server_name", "insecure":
		return true
	}
	return false
}

const envPrefix = "RETAINSCOPE_"

func text(p func(*Settings) *string, check func(string) error) func(*Settings) value {
	return func(s *Settings) value { return textValue{p(s), check} }
}

func duration(lo, hi time.Duration, p func(*Settings) *time.Duration) func(*Settings) value {
	return func(s *Settings) value { return durationValue{p(s), lo, hi} }
}

func size(lo, hi int64, p func(*Settings) *int64) func(*Settings) value {
	return func(s *Settings) value { return sizeValue{p(s), lo, hi} }
}

func count(lo, hi int64, p func(*Settings) *int64) func(*Settings) value {
	return func(s *Settings) value { return countValue{p(s), lo, hi} }
}

func yesNo(p func(*Settings) *bool) func(*Settings) value {
	return func(s *Settings) value { return boolValue{p(s)} }
}

func filters(p func(*Settings) *[]string) func(*Settings) value {
	return func(s *Settings) value { return listValue{p(s), checkFilter} }
}

// settings is the table. A function, so that there is no state of the package to change.
func settings() []setting {
	return []setting{
		{"mqtt", "broker", "broker", "mqtt://localhost:1883", false,
			"address of the broker: mqtt:// mqtts:// ws:// wss:// or unix:///path",
			text(func(s *Settings) *string { return &s.MQTT.Broker }, nil)},
		{"mqtt", "user", "user", "", false,
			"user name; empty connects anonymously",
			text(func(s *Settings) *string { return &s.MQTT.User }, nil)},
		{"mqtt", "password", "", "", true,
			"password; better in password_file, the environment or the prompt (--ask-password)",
			func(s *Settings) value { return secretValue{&s.MQTT.Password} }},
		{"mqtt", "password_file", "password-file", "", false,
			"file that holds the password on its first line",
			text(func(s *Settings) *string { return &s.MQTT.PasswordFile }, nil)},
		{"mqtt", "ca_file", "ca-file", "", false,
			"PEM file of the authority that signed the broker's certificate; empty trusts the system's",
			text(func(s *Settings) *string { return &s.MQTT.CAFile }, nil)},
		{"mqtt", "cert_file", "cert-file", "", false,
			"PEM file of our client certificate; needs key_file",
			text(func(s *Settings) *string { return &s.MQTT.CertFile }, nil)},
		{"mqtt", "key_file", "key-file", "", false,
			"PEM file of its private key",
			text(func(s *Settings) *string { return &s.MQTT.KeyFile }, nil)},
		{"mqtt", "server_name", "server-name", "", false,
			"name to expect in the broker's certificate; empty takes it from the address",
			text(func(s *Settings) *string { return &s.MQTT.ServerName }, nil)},
		{"mqtt", "insecure", "insecure", false, false,
			"do not check the broker's certificate; the header says so all the time",
			yesNo(func(s *Settings) *bool { return &s.MQTT.Insecure })},
		{"mqtt", "client_id", "client-id", "retainscope", false,
			"begin of the client identifiers; each connection adds a random end",
			text(func(s *Settings) *string { return &s.MQTT.ClientID }, checkClientID)},
		{"mqtt", "keep_alive", "keep-alive", "1m", false,
			"longest silence on a connection before the broker is pinged",
			duration(5*time.Second, 65535*time.Second, func(s *Settings) *time.Duration { return &s.MQTT.KeepAlive })},
		{"mqtt", "timeout", "connect-timeout", "10s", false,
			"longest wait for a connection or one answer of the broker",
			duration(100*time.Millisecond, 10*time.Minute, func(s *Settings) *time.Duration { return &s.MQTT.Timeout })},
		{"mqtt", "protocol_version", "protocol-version", "5", false,
			"MQTT version, 5 or 3.1.1; 3.1.1 is for brokers that speak nothing else: no expiry is seen, nothing can be cleared",
			func(s *Settings) value { return versionValue{&s.MQTT.ProtocolVersion} }},
		{"mqtt", "message_expiry_interval", "message-expiry-interval", int64(broker.DefaultInterval), false,
			"seconds after which a broker drops what retainscope published and no longer repeats; an error with 3.1.1",
			func(s *Settings) value { return intervalValue{&s.MQTT.MessageExpiryInterval} }},

		{"scan", "filters", "filter", []any{"#"}, false,
			"MQTT topic filters to look under; narrow ones cost the broker less",
			filters(func(s *Settings) *[]string { return &s.Scan.Filters })},
		{"scan", "extra_filters", "extra-filter", []any{}, false,
			"further filters that # does not cover, such as $SYS/#; shown, never counted as complete",
			filters(func(s *Settings) *[]string { return &s.Scan.ExtraFilters })},
		{"scan", "quiet", "quiet-time", "2s", false,
			"silence that ends the first burst, after the broker answered a ping",
			duration(50*time.Millisecond, 10*time.Minute, func(s *Settings) *time.Duration { return &s.Scan.Quiet })},
		{"scan", "sys_wait", "sys-wait", "15s", false,
			"longest wait for the broker's own counters where they decide",
			duration(100*time.Millisecond, 10*time.Minute, func(s *Settings) *time.Duration { return &s.Scan.SysWait })},
		{"scan", "slices", "slices", true, false,
			"ask again in narrower slices when something is missing",
			yesNo(func(s *Settings) *bool { return &s.Scan.Slices })},

		{"store", "payload_per_topic", "payload-per-topic", "256KiB", false,
			"bytes of one payload to keep; the true length and a digest are always kept",
			size(64, 256<<20, func(s *Settings) *int64 { return &s.Store.PayloadPerTopic })},
		{"store", "payload_per_document", "payload-per-document", "16MiB", false,
			"bytes to keep of one payload that only says something as a whole: a discovery config, a gateway's list of devices",
			size(64, 256<<20, func(s *Settings) *int64 { return &s.Store.PayloadPerDocument })},
		{"store", "payload_total", "payload-total", "1GiB", false,
			"bytes of all payloads to keep",
			size(1<<20, 1<<40, func(s *Settings) *int64 { return &s.Store.PayloadTotal })},
		{"store", "changes", "changes", "16MiB", false,
			"bytes of earlier values to keep, all topics together",
			size(4<<10, 1<<30, func(s *Settings) *int64 { return &s.Store.Changes })},

		{"readings", "enabled", "readings", true, false,
			"work out owners and what looks left behind; false saves memory and time where the store is very large",
			yesNo(func(s *Settings) *bool { return &s.Readings.Enabled })},
		{"readings", "ignore", "ignore", []any{}, false,
			"MQTT topic filters about which the readings say nothing; rules of your own: [[rule]] in the configuration",
			filters(func(s *Settings) *[]string { return &s.Readings.Ignore })},

		{"clear", "manifest", "manifest", "", false,
			"file that says what may be cleared, with the record beside it; empty is one per broker and login, beside the configuration",
			text(func(s *Settings) *string { return &s.Clear.Manifest }, nil)},
		{"clear", "protect", "protect", []any{}, false,
			"MQTT topic filters that are never published to, besides $SYS/#; those of all sources count together",
			func(s *Settings) value { return protectValue{listValue{&s.Clear.Protect, checkProtect}} }},
		{"clear", "window", "window", "1m", false,
			"how long after a clear a return of the value is watched for; 0s does not watch",
			duration(0, 24*time.Hour, func(s *Settings) *time.Duration { return &s.Clear.Window })},
		{"clear", "undo_payload", "undo-payload", "1MiB", false,
			"largest value that the record keeps for an undo; a larger one can be cleared, and not be put back",
			size(1, 256<<20, func(s *Settings) *int64 { return &s.Clear.UndoPayload })},

		{"observer", "user", "observer-user", "", false,
			"user name of the connections that verify, where the one that clears may not read; empty takes its login",
			text(func(s *Settings) *string { return &s.Observer.User }, nil)},
		{"observer", "password", "", "", true,
			"its password; better in password_file or the environment",
			func(s *Settings) value { return secretValue{&s.Observer.Password} }},
		{"observer", "password_file", "observer-password-file", "", false,
			"file that holds its password on the first line",
			text(func(s *Settings) *string { return &s.Observer.PasswordFile }, nil)},
		{"observer", "cert_file", "observer-cert-file", "", false,
			"PEM file of its client certificate; empty takes the one of [mqtt]",
			text(func(s *Settings) *string { return &s.Observer.CertFile }, nil)},
		{"observer", "key_file", "observer-key-file", "", false,
			"PEM file of the private key of that certificate",
			text(func(s *Settings) *string { return &s.Observer.KeyFile }, nil)},

		{"journal", "enabled", "journal", true, false,
			"remember over weeks what was seen live; false neither reads nor writes a journal",
			yesNo(func(s *Settings) *bool { return &s.Journal.Enabled })},
		{"journal", "file", "journal-file", "", false,
			"file of the journal; empty keeps one for each broker and login in the state folder",
			text(func(s *Settings) *string { return &s.Journal.File }, nil)},
		{"journal", "group", "", false, false,
			"let the group of the file read and write it as well",
			yesNo(func(s *Settings) *bool { return &s.Journal.Group })},
		{"journal", "flush", "", "30s", false,
			"longest time for which what was seen is in memory only; a longer one writes less",
			duration(time.Second, time.Minute, func(s *Settings) *time.Duration { return &s.Journal.Flush })},
		{"journal", "max_topics", "", int64(1_100_000), false,
			"topics to remember; beyond it those go first that were never seen live",
			count(100, 100_000_000, func(s *Settings) *int64 { return &s.Journal.MaxTopics })},
		{"journal", "max_size", "", "512MiB", false,
			"bytes of the file, likewise",
			size(1<<20, 1<<40, func(s *Settings) *int64 { return &s.Journal.MaxSize })},

		{"watch", "publish", "publish", true, false,
			"publish what is found; false only watches",
			yesNo(func(s *Settings) *bool { return &s.Watch.Publish })},
		{"watch", "prefix", "prefix", "retainscope", false,
			"begin of the topics that are published: prefix/instance/status and prefix/instance/state",
			text(func(s *Settings) *string { return &s.Watch.Prefix }, checkPrefix)},
		{"watch", "instance", "instance", "", false,
			"name of this watcher, another one for each that runs: letters, digits, _ and -; empty takes the name of the host",
			text(func(s *Settings) *string { return &s.Watch.Instance }, checkInstance)},
		{"watch", "discovery_prefix", "discovery-prefix", "homeassistant", false,
			"where Home Assistant looks for devices; empty announces nothing to it",
			text(func(s *Settings) *string { return &s.Watch.DiscoveryPrefix }, checkDiscovery)},

		{"screen", "refresh", "refresh", "250ms", false,
			"time between two drawings; 1s suits a slow line",
			duration(50*time.Millisecond, time.Minute, func(s *Settings) *time.Duration { return &s.Screen.Refresh })},
		{"screen", "ascii", "ascii", "auto", false,
			"draw with ASCII only: true, false, or auto (true without UTF-8 and on the Linux console)",
			func(s *Settings) value { return choiceValue{&s.Screen.ASCII, []string{"auto", "true", "false"}} }},
		{"screen", "export_dir", "export-dir", "", false,
			"folder for exports; empty is the folder the program was started in",
			text(func(s *Settings) *string { return &s.Screen.ExportDir }, nil)},

		{"log", "file", "log-file", "", false,
			"file to append a log to; empty writes none. Never payloads, never passwords",
			text(func(s *Settings) *string { return &s.Log.File }, nil)},
		{"log", "level", "log-level", "info", false,
			"debug, info, warn or error",
			func(s *Settings) value { return choiceValue{&s.Log.Level, []string{"debug", "info", "warn", "error"}} }},
		{"log", "format", "log-format", "text", false,
			"text or json, one object a line",
			func(s *Settings) value { return choiceValue{&s.Log.Format, []string{"text", "json"}} }},
	}
}

// checkFilter refuses what is no MQTT topic filter. Source: MQTT 5, 4.7.
func checkFilter(f string) error {
	switch {
	case f == "":
		return errors.New("a topic filter cannot be empty")
	case len(f) > 65535:
		return errors.New("a topic filter has at most 65535 bytes")
	case strings.ContainsRune(f, 0):
		return errors.New("a topic filter cannot hold NUL")
	case strings.HasPrefix(f, "$share/"):
		return errors.New("a shared subscription gets no retained messages")
	}
	levels := strings.Split(f, "/")
	for i, l := range levels {
		switch {
		case strings.Contains(l, "#") && (l != "#" || i != len(levels)-1):
			return errors.New("# must be the whole last level")
		case strings.Contains(l, "+") && l != "+":
			return errors.New("+ must be a whole level")
		}
	}
	return nil
}

// checkProtect refuses what protects nothing. A shared subscription is told from its filter.
func checkProtect(f string) error {
	_, err := actions.Protect([]string{f})
	return errors.Unwrap(err)
}

// checkClientID keeps room for the random end: every server takes 23 characters of these. Source: MQTT 5, 3.1.3.1.
func checkClientID(s string) error {
	if len(s) > 64 {
		return errors.New("has more than 64 characters")
	}
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("holds %q: only visible ASCII works with every broker", r)
		}
	}
	return nil
}
