package testbroker

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// StartAedes starts aedes, a real broker that speaks MQTT 3.1.1 only, and returns its URL. It is stopped when the test
// ends. The test is skipped where node or the package is missing (see Require); `npm install` in testbroker/aedes
// brings it.
func StartAedes(t testing.TB) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the source folder of testbroker is not known")
	}
	dir := filepath.Join(filepath.Dir(here), "aedes")
	node, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "node is not installed: this test needs a broker that speaks 3.1.1 only")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "aedes")); err != nil {
		Missing(t, "aedes is not installed: run npm install in testbroker/aedes")
	}
	port := FreePort(t)
	cmd := exec.Command(node, filepath.Join(dir, "broker.mjs"), fmt.Sprint(port))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start aedes: %v", err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends when its standard input does
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "listening") {
		t.Fatalf("aedes does not listen: %q, %v", line, err)
	}
	return fmt.Sprintf("mqtt://127.0.0.1:%d", port)
}
