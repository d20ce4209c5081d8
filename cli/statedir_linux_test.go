package cli

import "testing"

func TestTheStateFolderIsTheOneThatTheSystemNames(t *testing.T) {
	for _, x := range []struct {
		name, want string
		env        map[string]string
	}{
		{"a service", "/var/lib/retainscope", map[string]string{"STATE_DIRECTORY": "/var/lib/retainscope:/var/lib/more", "HOME": "/home/me"}},
		{"the variable", "/state/retainscope", map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/me"}},
		{"a relative variable is none", "/home/me/.local/state/retainscope", map[string]string{"XDG_STATE_HOME": "state", "HOME": "/home/me"}},
		{"no home", "", map[string]string{}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := stateDir(x.env); got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}
