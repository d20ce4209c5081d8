package cli

// Where the program keeps what it has to remember between two runs, and the name of what belongs to one broker.
// Paths only: nothing here is made or opened.

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"retainscope/actions"
)

// stateDir returns the folder for what is remembered between runs, or "" where the system has no such place. A folder
// that a service manager hands out comes first: the account of a service often has no home.
func stateDir(env map[string]string) string {
	if dir, _, _ := strings.Cut(env["STATE_DIRECTORY"], ":"); filepath.IsAbs(dir) { // systemd, StateDirectory=
		return dir
	}
	dir, home := env["XDG_STATE_HOME"], env["HOME"]
	if !filepath.IsAbs(dir) {
		switch {
		case runtime.GOOS == "windows":
			dir = env["LocalAppData"]
		case !filepath.IsAbs(home):
			return ""
		case runtime.GOOS == "darwin":
			dir = filepath.Join(home, "Library", "Application Support")
		default:
			dir = filepath.Join(home, ".local", "state")
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "retainscope")
}

// brokerFile returns a file name for what belongs to one login at one broker: readable, and never that of another one.
// address is whole, see wholeAddress.
func brokerFile(address, user string) string {
	whole := actions.CanonicalAddress(address)
	name, path := strings.Replace(whole, "://", "-", 1), whole
	if u, err := url.Parse(whole); err == nil && u.Host != "" {
		path = u.EscapedPath()
		name = u.Scheme + "-" + u.Hostname() + "-" + u.Port() + path
	}
	ambiguous := strings.Contains(path, "-") // beside those that stand for a slash
	name = strings.ReplaceAll(name, "/", "-")
	if user != "" {
		name = user + "@" + name
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '@':
			return r
		}
		return '_'
	}, name)
	const most = 100
	if ambiguous || plain != name || len(plain) > most || strings.Count(name, "@") > 1 {
		plain = fmt.Sprintf("%.*s-%x", most, plain, sha256.Sum256([]byte(user+"@"+whole)))[:min(len(plain), most)+9]
	}
	return plain
}
