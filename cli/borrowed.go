package cli

// User and password stay with the broker they were written for.
// A profile, a flag or the environment that names another broker and no login must not offer it the first one's.

import (
	"fmt"
	"strings"

	"retainscope/actions"
)

// brokersNamed returns the address each source gives, by its layer.
func brokersNamed(in sources) map[layer]string {
	named := map[layer]string{fromDefault: ""}
	for _, s := range settings() {
		if s.id() != "mqtt.broker" {
			continue
		}
		named[fromDefault], _ = s.preset.(string)
		if in.file != nil {
			for _, c := range in.file.values(s, in.profile) {
				if text, ok := c.value.(string); ok {
					named[c.source.layer] = text
				}
			}
		}
		if v, ok := in.env[s.env()]; ok {
			named[fromEnv] = v
		}
		if v, ok := in.env[envPrefix+s.env()]; ok {
			named[fromPrefixed] = v
		}
	}
	return named
}

// writtenFor returns the address that a login of a layer was written for, and false where none was named with it: a
// password in the environment is for whatever broker is asked for, unless the environment names one too.
func (r *resolved) writtenFor(l layer) (string, bool) {
	order := []layer{}
	switch l {
	case fromFile:
		order = []layer{fromFile, fromDefault}
	case fromProfile:
		order = []layer{fromProfile, fromFile, fromDefault}
	case fromEnv:
		order = []layer{fromEnv, fromPrefixed}
	case fromPrefixed:
		order = []layer{fromPrefixed, fromEnv}
	}
	for _, o := range order {
		if address, ok := r.brokers[o]; ok {
			return wholeAddress(address), true
		}
	}
	return "", false
}

// wholeAddress returns an address as it is dialled: with its scheme, without a login.
func wholeAddress(address string) string {
	if !strings.Contains(address, "://") {
		address = "mqtt://" + address
	}
	return withoutUserInfo(address)
}

// sameBroker reports whether two whole addresses mean one broker: a port may be left out, this machine has two names. A
// scheme with TLS and one without are never the same: a password would go in the clear.
func sameBroker(a, b string) bool {
	return actions.CanonicalAddress(a) == actions.CanonicalAddress(b)
}

// leaveBorrowed empties user, password and password file where a higher source changed the broker they were written
// for, and says so in a warning. It is called with the address made whole.
func (r *resolved) leaveBorrowed() {
	m := &r.MQTT
	at := r.from["mqtt.broker"].layer
	var left []string
	home := ""
	leave := func(id string, given bool, empty func()) {
		from := r.from[id]
		address, tied := r.writtenFor(from.layer)
		if !given || !tied || from.layer >= at || sameBroker(address, m.Broker) {
			return
		}
		home = address
		left = append(left, fmt.Sprintf("%s (%s)", id, from))
		empty()
		r.from[id] = source{}
	}
	for _, l := range r.logins() {
		leave(l.section+".user", *l.user != "", func() {
			if *l.user = ""; l.alone {
				*l.password, *l.file = "", ""
			}
		})
		// Of two passwords the one that a higher source beats is not used anyway, and not spoken of.
		pass, path := l.section+".password", l.section+".password_file"
		password := *l.password != "" && (*l.file == "" || r.from[pass].layer >= r.from[path].layer)
		leave(pass, password, func() { *l.password = "" })
		file := *l.file != "" && (*l.password == "" || r.from[path].layer >= r.from[pass].layer)
		leave(path, file, func() { *l.file = "" })
	}
	if len(left) == 0 {
		return
	}
	r.warnings = append(r.warnings, fmt.Sprintf("%s not used: written for %s, and %s (%s) is another broker; give its login beside its address",
		strings.Join(left, ", "), quoteless(home), quoteless(m.Broker), r.from["mqtt.broker"]))
}
