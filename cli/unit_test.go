package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unitLines returns the values of a key of the systemd unit.
func unitLines(t *testing.T, key string) (values []string) {
	t.Helper()
	raw, err := os.ReadFile("../contrib/retainscope.service")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && k == key {
			values = append(values, v)
		}
	}
	return values
}

func TestTheUnitStartsWhatThereIsWithSettingsThatThereAre(t *testing.T) {
	start := unitLines(t, "ExecStart")
	if len(start) != 1 {
		t.Fatalf("ExecStart: %q", start)
	}
	// Its command line and its environment, with folders of this test in place of those of the system.
	dir := t.TempDir()
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, []byte("[mqtt]\nbroker = \"mqtt://broker.lan\"\nuser = \"watcher\"\n"), 0o644); err != nil { //nolint:gosec // it holds no secret
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "mqtt-password")
	if err := os.WriteFile(secret, []byte("geheim\n"), 0o440); err != nil { //nolint:gosec // as systemd hands it out
		t.Fatal(err)
	}
	env := []string{"HOME=/", "STATE_DIRECTORY=" + dir, "CREDENTIALS_DIRECTORY=" + dir}
	for _, e := range unitLines(t, "Environment") {
		env = append(env, strings.NewReplacer("%d", dir, "%S", dir).Replace(e))
	}
	args := strings.Fields(strings.ReplaceAll(start[0], "/etc/retainscope/config.toml", config))[1:]
	if args[0] != "watch" {
		t.Fatalf("it starts %q", args)
	}
	args[0] = "config"
	o := runIn(t.Context(), env, args...)
	if o.errout != "" || strings.Contains(o.out, "geheim") {
		t.Errorf("%s", o.errout)
	}
	if got := configured(t, o, "mqtt.password"); got != `"********" from environment RETAINSCOPE_MQTT__PASSWORD_FILE` {
		t.Errorf("the password is %s", got)
	}
	if got := configured(t, o, "journal.file"); !strings.HasSuffix(got, `/retainscope/journal.db" from environment RETAINSCOPE_JOURNAL__FILE`) {
		t.Errorf("the journal is %s", got)
	}
	if !slices.Contains(unitLines(t, "LoadCredential"), "mqtt-password:/etc/retainscope/password") {
		t.Error("no credential of the name that the environment has")
	}
}

func TestSystemdTakesTheUnit(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed here: what is in the unit is tested, how systemd reads it is not")
		return
	}
	raw, err := os.ReadFile("../contrib/retainscope.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "retainscope.service")
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(raw), "/usr/local/bin/retainscope", binary(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", unit).CombinedOutput(); err != nil || bytes.Contains(out, []byte("retainscope.service")) {
		t.Errorf("%v: %s", err, out)
	}
}
