package cli

// Whether the terminal can be trusted with more than ASCII.

import "strings"

// ascii decides screen.ascii = auto: the Linux console has few glyphs, and without a UTF-8 locale nobody said that the
// terminal takes UTF-8.
func (p *program) ascii(r *resolved) bool {
	switch r.Screen.ASCII {
	case "true":
		return true
	case "false":
		return false
	}
	return p.env["TERM"] == "linux" || !utf8Locale(p.env)
}

func utf8Locale(env map[string]string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env[name]; v != "" {
			v = strings.ToUpper(v)
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}
