package cli

import (
	"fmt"
	"strings"
	"testing"
)

// given is one source that a person can write a value into. file is its lines of TOML where it is one.
type given struct {
	name string
	env  func(key, v string) string
	flag func(key, v string) string
	file func(key, v string) string
	from func(key string) string // what errors and `retainscope config` must call it
}

var givers = []given{
	{name: "flag", flag: func(key, v string) string { return "--" + strings.ReplaceAll(key, "_", "-") + "=" + v },
		from: func(key string) string { return "flag --" + strings.ReplaceAll(key, "_", "-") }},
	{name: "environment", env: func(key, v string) string { return "MQTT__" + strings.ToUpper(key) + "=" + v },
		from: func(key string) string { return "environment MQTT__" + strings.ToUpper(key) }},
	{name: "prefixed environment", env: func(key, v string) string { return "RETAINSCOPE_MQTT__" + strings.ToUpper(key) + "=" + v },
		from: func(key string) string { return "environment RETAINSCOPE_MQTT__" + strings.ToUpper(key) }},
	{name: "file", file: func(key, v string) string { return "[mqtt]\n" + key + " = " + v + "\n" },
		from: func(string) string { return "c.toml line " }},
	{name: "profile", file: func(key, v string) string { return "[profile.p]\n" + key + " = " + v + "\n" },
		from: func(string) string { return ", profile p" }},
}

// runWith runs `retainscope config` with each of values given by its source. A value is written as TOML; the quotes are
// left out where text is expected.
func runWith(t *testing.T, keys []string, values []string, by []given) outcome {
	t.Helper()
	var env, args []string
	text := "[profile.p]\n"
	for i, g := range by {
		bare := strings.Trim(values[i], `"`)
		switch {
		case g.env != nil:
			env = append(env, g.env(keys[i], bare))
		case g.flag != nil:
			args = append(args, g.flag(keys[i], bare))
		default:
			part := g.file(keys[i], values[i])
			if head, line, _ := strings.Cut(part, "\n"); strings.Contains(text, head+"\n") {
				text = strings.Replace(text, head+"\n", head+"\n"+line, 1)
			} else {
				text += part
			}
		}
	}
	args = append(args, "--profile", "p", "--config", file(t, "c.toml", text), "config")
	return run(t, env, args...)
}

// TestTheDecisionTableOfProtocolAndInterval runs every kind of version from every source against every kind of interval
// from every source.
func TestTheDecisionTableOfProtocolAndInterval(t *testing.T) {
	const version, interval = "protocol_version", "message_expiry_interval"
	versions := []struct{ given, means string }{{`"5"`, "5"}, {"5", "5"}, {`"3.1.1"`, "3.1.1"}}
	intervals := []struct {
		given string
		n     uint32 // 0 is an error
	}{
		{"86400", 86400}, {"3", 3}, {"3600", 3600}, {"4294967295", 1<<32 - 1},
		{"0", 0}, {"2", 0}, {"-1", 0}, {"4294967296", 0}, {"99999999999999999999", 0}, {"3600.0", 0}, {"3600.5", 0}, {"true", 0},
		{`""`, 0}, {"null", 0}, {`"null"`, 0}, {`"1h"`, 0},
	}
	for _, vs := range givers {
		for _, v := range versions {
			t.Run(fmt.Sprintf("%s from %s, interval left out", v.given, vs.name), func(t *testing.T) {
				o := runWith(t, []string{version}, []string{v.given}, []given{vs})
				if got := configured(t, o, "mqtt."+version); !strings.HasPrefix(got, `"`+v.means+`" from `) || !strings.Contains(got, vs.from(version)) {
					t.Error(got)
				}
				want := "86400 from default"
				if v.means == "3.1.1" {
					want += ", without effect with 3.1.1"
				}
				if got := configured(t, o, "mqtt."+interval); got != want {
					t.Error(got)
				}
			})
			for _, is := range givers {
				for _, i := range intervals {
					t.Run(fmt.Sprintf("%s from %s, %s from %s", v.given, vs.name, i.given, is.name), func(t *testing.T) {
						o := runWith(t, []string{version, interval}, []string{v.given, i.given}, []given{vs, is})
						if i.n != 0 && v.means == "5" {
							if got := configured(t, o, "mqtt."+interval); !strings.HasPrefix(got, fmt.Sprintf("%d from ", i.n)) || !strings.Contains(got, is.from(interval)) {
								t.Error(got)
							}
							return
						}
						// Key, value, bounds and source; with both settings right by themselves, the other one as well.
						want := []string{"mqtt." + interval, strings.Trim(i.given, `"`), "3 and 4294967295"}
						if is.file != nil && (i.given == "null" || i.given == "99999999999999999999") {
							want = append(want, "c.toml line ") // no TOML at all
						} else {
							want = append(want, is.from(interval))
						}
						if i.n != 0 {
							want = append(want, `mqtt.protocol_version = "3.1.1"`, vs.from(version))
						}
						for _, w := range want {
							if o.code != ExitUsage || !strings.Contains(o.errout, w) || strings.Count(o.errout, "\n") != 1 {
								t.Errorf("exit %d, want %q in %q", o.code, w, o.errout)
							}
						}
					})
				}
			}
		}
	}
	// The version left out is "5".
	for _, is := range givers {
		if got := configured(t, runWith(t, []string{interval}, []string{"60"}, []given{is}), "mqtt."+interval); !strings.HasPrefix(got, "60 from ") {
			t.Error(got)
		}
	}
}

func TestAWrongProtocolVersionIsNamedFromEverySource(t *testing.T) {
	for _, v := range []string{`""`, `"null"`, "0", "4", "5.0", "true", `"3.1"`, `"v5"`} {
		for _, g := range givers {
			o := runWith(t, []string{"protocol_version"}, []string{v}, []given{g})
			for _, w := range []string{"mqtt.protocol_version = ", strings.Trim(v, `"`), g.from("protocol_version"), `must be "5" or "3.1.1"`} {
				if o.code != ExitUsage || !strings.Contains(o.errout, w) {
					t.Errorf("%s from %s: exit %d, want %q in %s", v, g.name, o.code, w, o.errout)
				}
			}
		}
	}
	// The shared name may belong to another program on the host: ours wins, whatever that one holds.
	o := run(t, []string{"MQTT__PROTOCOL_VERSION=4", "RETAINSCOPE_MQTT__PROTOCOL_VERSION=5"}, "config")
	if got := configured(t, o, "mqtt.protocol_version"); got != `"5" from environment RETAINSCOPE_MQTT__PROTOCOL_VERSION` {
		t.Error(got)
	}
}

func TestTheHigherSourceDecidesWhichProtocolIsMeant(t *testing.T) {
	path := file(t, "c.toml", "[mqtt]\nmessage_expiry_interval = 60\n[profile.old]\nprotocol_version = \"3.1.1\"\n")
	if o := run(t, nil, "--config", path, "config"); o.code != ExitOK {
		t.Errorf("a profile that was not chosen counts: %s", o.errout)
	}
	o := run(t, nil, "--config", path, "--profile", "old", "config")
	if o.code != ExitUsage || !strings.Contains(o.errout, "line 2") || !strings.Contains(o.errout, "line 4, profile old") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	o = run(t, []string{"MQTT__PROTOCOL_VERSION=3.1.1"}, "--config", path, "--profile", "old", "--protocol-version", "5", "config")
	if got := configured(t, o, "mqtt.message_expiry_interval"); got != "60 from "+path+" line 2" {
		t.Error(got)
	}
}

func TestAPasswordThatIsNoTOMLIsNotShown(t *testing.T) {
	for _, line := range []string{"password = hunter2", "password = \"hunter2", "broker = mqtt://me:hunter2@h"} {
		o := run(t, nil, "--config", file(t, "c.toml", "[mqtt]\n"+line+"\n"), "config")
		if o.code != ExitUsage || strings.Contains(o.errout, "hunter2") || !strings.Contains(o.errout, "mqtt.") {
			t.Errorf("%s: exit %d: %s", line, o.code, o.errout)
		}
	}
}
