package broker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// mosquittoHash is a password file with two users whose password is test.
const mosquittoHash = `half:$7$101$3JQ4Ru/qvgkfQHWh$woEDw+RGhy6hyLHiF/y4Yjg37fG6bZcFEVOu4NOvgD0uj7PiE6lWnv3n3otpC10LlbTQlnIQt3K8E8U0MtEUtw==
blind:$7$101$e4HRXvtYsfY0kwXB$EMgydMVrS38+VYhUieezBGEmrOOMx5BZvSCMa2+Bvau2vAwVpXL+eghBnNgLWbmHEMUFl8mD99cOV6X1bmbf5Q==
`

func TestABrokerThatDropsNothingIsVerified(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"max_queued_messages 0", "sys_interval 2"}})
	load(t, b.URL(), 20000, 400, deep)
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Once: true})
	cov := scanned(t, w, time.Minute)
	if n := inv.Counts().Topics; n != 20000 || cov.Claim != inventory.Verified || cov.Known != 20000 {
		t.Errorf("%d topics, known %d, %s: %s", n, cov.Known, cov.Claim, cov.Rule)
	}
}

func TestALoginThatMayReadHalfIsToldWhatItDoesNotSee(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acl := filepath.Join(dir, "acl")
	rules := "topic readwrite #\ntopic read $SYS/#\nuser half\ntopic read open/#\ntopic read $SYS/#\nuser blind\ntopic read open/#\n"
	if err := os.WriteFile(acl, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	passwd := filepath.Join(dir, "passwd")
	if err := os.WriteFile(passwd, []byte(mosquittoHash), 0o600); err != nil {
		t.Fatal(err)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 2", "acl_file " + acl, "password_file " + passwd}})
	load(t, b.URL(), 400, 10, func(i int) string { return []string{"open/", "secret/"}[i%2] + fmt.Sprint(i) })
	for user, check := range map[string]func(inventory.Coverage) bool{
		"half": func(c inventory.Coverage) bool {
			return c.Missing() == 200 && strings.Contains(c.Rule, "visible to this login") && strings.Contains(c.Gaps[0].Text, "permissions")
		},
		// Without $SYS nothing can be known of the other half.
		"blind": func(c inventory.Coverage) bool {
			return c.Known == -1 && c.Claim == inventory.NoSignOfLoss && strings.Contains(c.Rule, "hides from this login cannot be told")
		},
	} {
		w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL(), User: user, Password: "test"}, Once: true})
		cov := scanned(t, w, time.Minute)
		if inv.Counts().Topics != 200 || !check(cov) {
			t.Errorf("%s: %d topics: %+v", user, inv.Counts().Topics, cov)
		}
	}
}

func TestALiveTopicOnARealBrokerDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 2"}})
	load(t, b.URL(), 1000, 20, deep)
	c := rawConnect(t, b.URL())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
				c.retain("live/counter", fmt.Sprint(i))
				c.flush()
			case <-stop:
				return
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Once: true})
	cov := scanned(t, w, 40*time.Second)
	if n := inv.Counts().Topics; n != 1001 || cov.Claim == inventory.Incomplete {
		t.Errorf("%d of 1001 topics, %s: %s", n, cov.Claim, cov.Rule)
	}
}

func TestABrokerKilledInTheMiddleOfAScanIsScannedAgain(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	load(t, b.URL(), 8000, 1000, deep)
	url := slowProxy(t, b.URL(), 4<<10, 2*time.Millisecond)
	w, inv := watch(t, WatchConfig{Config: Config{URL: url}, Quiet: time.Second})
	waitFor(t, func() bool { return inv.Counts().Topics > 500 })
	b.Kill()
	waitFor(t, func() bool {
		l, cov := w.Status()
		return l.State == inventory.Lost && cov.Claim == inventory.Incomplete
	})
	b.Restart()
	load(t, b.URL(), 10, 10, func(i int) string { return fmt.Sprintf("after/%d", i) })
	// What was lost with the broker is asked for before it is called gone.
	eventually(t, time.Minute, func() bool { return inv.Counts().Topics == 10 })
	if _, cov := w.Status(); len(cov.Away) != 1 || cov.Away[0].To.IsZero() {
		t.Errorf("away: %v", cov.Away)
	}
	if !happened(inv, "load/000/000", inventory.Gone) {
		t.Error("a topic that did not survive is not called gone")
	}
}

func TestAWildcardRefusedByARealBrokerIsNamed(t *testing.T) {
	t.Parallel()
	const plugin = "/usr/lib/x86_64-linux-gnu/mosquitto_dynamic_security.so"
	if _, err := os.Stat(plugin); err != nil {
		testbroker.Missing(t, "mosquitto's dynamic security plugin is not installed")
	}
	rights := filepath.Join(t.TempDir(), "rights.json")
	if err := os.WriteFile(rights, []byte(`{"defaultACLAccess":{"publishClientSend":true,"publishClientReceive":true,"subscribe":false,"unsubscribe":true},
"clients":[],"groups":[{"groupname":"all","roles":[{"rolename":"ok"}]}],
"roles":[{"rolename":"ok","acls":[{"acltype":"subscribePattern","topic":"ok/#","priority":1,"allow":true}]}],"anonymousGroup":"all"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"plugin " + plugin, "plugin_opt_config_file " + rights}})
	c := rawConnect(t, b.URL())
	c.retain("ok/1", "x")
	c.retain("no/1", "x")
	c.settle()
	w, _ := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Once: true})
	if cov := scanned(t, w, 30*time.Second); cov.Claim != inventory.Incomplete || !strings.Contains(cov.Rule, `"#": Not authorized (0x87)`) {
		t.Errorf("%s: %s", cov.Claim, cov.Rule)
	}
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Filters: []string{"ok/#"}, Once: true})
	if cov := scanned(t, w, 30*time.Second); cov.Claim != inventory.NoSignOfLoss || inv.Counts().Topics != 1 {
		t.Errorf("%d topics, %s: %s", inv.Counts().Topics, cov.Claim, cov.Rule)
	}
}
