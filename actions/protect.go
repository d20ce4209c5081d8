package actions

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// alwaysProtected are the topics that no manifest and no configuration can free: the broker's own.
const alwaysProtected = "$SYS/#"

// Protection is a set of topic filters whose topics are never published to. The zero value protects $SYS/# alone.
// It is a value and is never changed after it was made.
type Protection struct {
	filters []string
}

// Protect returns the protection made of the given MQTT topic filters, $SYS/# always among them, and an error that
// names the first filter that is not one.
func Protect(filters ...[]string) (Protection, error) {
	var p Protection
	for _, list := range filters {
		for _, f := range list {
			if err := refuseFilter(f); err != nil {
				return Protection{}, fmt.Errorf("read protect pattern %s: %w", Quote([]byte(f)), err)
			}
			p.filters = append(p.filters, f)
		}
	}
	return p, nil
}

// refuseFilter says why f is not a topic filter.
//
// Source: MQTT 5, 4.7.1.
func refuseFilter(f string) error {
	switch {
	case f == "":
		return errors.New("it is empty")
	case len(f) > maxTopic:
		return fmt.Errorf("it has %d bytes, more than %d", len(f), maxTopic)
	case strings.IndexByte(f, 0) >= 0:
		return errors.New("it holds NUL")
	case strings.HasPrefix(f, "$share/"):
		return errors.New("a shared subscription protects nothing: write the filter behind the share name")
	}
	levels := strings.Split(f, "/")
	for i, l := range levels {
		if l == "#" && i != len(levels)-1 {
			return errors.New("# stands alone at the end") // 4.7.1.2
		}
		if len(l) > 1 && strings.ContainsAny(l, "+#") {
			return errors.New("a wildcard fills a whole level") // 4.7.1
		}
	}
	return nil
}

// Match returns the first filter that protects topic, and true; or false when none does. Unlike a subscription, a
// wildcard at the first level protects names that begin with $ as well: protecting too much harms nobody.
func (p Protection) Match(topic []byte) (string, bool) {
	if matchFilter(alwaysProtected, topic) {
		return alwaysProtected, true
	}
	for _, f := range p.filters {
		if matchFilter(f, topic) {
			return f, true
		}
	}
	return "", false
}

// Filters returns the filters, $SYS/# first.
func (p Protection) Filters() []string { return append([]string{alwaysProtected}, p.filters...) }

// matchFilter reports whether filter names topic, byte by byte, without the exception for $.
//
// Source: MQTT 5, 4.7.1.
func matchFilter(filter string, topic []byte) bool {
	for {
		level, rest, more := strings.Cut(filter, "/")
		if level == "#" {
			return true
		}
		end := bytes.IndexByte(topic, '/')
		have := topic
		if end >= 0 {
			have = topic[:end]
		}
		if level != "+" && level != string(have) {
			return false
		}
		if end < 0 {
			return !more || rest == "#" // "a/#" names "a" too, 4.7.1.2
		}
		if !more {
			return false
		}
		filter, topic = rest, topic[end+1:]
	}
}
