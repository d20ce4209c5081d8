package broker

// The embedded broker of room demo as one more broker of the contract.

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"retainscope/demo"
	"retainscope/inventory"
)

// program is built once for all tests that need it.
var program struct {
	once      sync.Once
	dir, path string
	err       error
}

func TestMain(m *testing.M) {
	// Tests that are parallel mostly wait for a broker, not for the processor.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
	os.Exit(code)
}

// builtProgram returns the path of the built program.
func builtProgram(t testing.TB) string {
	t.Helper()
	program.once.Do(func() {
		//nolint:usetesting // it is shared by all tests, so it must outlive the one that builds it
		if program.dir, program.err = os.MkdirTemp("", "retainscope-test-"); program.err != nil {
			return
		}
		program.path = filepath.Join(program.dir, "retainscope")
		if out, err := exec.Command("go", "build", "-o", program.path, "retainscope").CombinedOutput(); err != nil {
			program.err = fmt.Errorf("build the program: %w: %s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.path
}

// startDemo returns the URL of an embedded broker that holds nothing. Under the race detector it is a process of its
// own, since it races inside itself.
func startDemo(t testing.TB) string {
	t.Helper()
	if !contractUnderRace {
		d, err := demo.Start(t.Context(), demo.Options{Empty: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		return d.URL()
	}
	cmd := exec.Command(builtProgram(t), "demo", "--serve", "--empty", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestContractOverTheEmbeddedBroker(t *testing.T) {
	for _, c := range contractCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, newRealBroker(t, startDemo(t)))
		})
	}
}

func TestTheEmbeddedBrokerWithItsEarlyPingrespIsSeenWhole(t *testing.T) {
	url := startDemo(t)
	load(t, url, 20000, 32, deep)
	w, inv := watch(t, WatchConfig{Config: Config{URL: url}, Once: true})
	cov := scanned(t, w, time.Minute)
	if n := inv.Counts().Topics; n != 20000 || cov.Claim == inventory.Incomplete {
		t.Errorf("%d of 20000 topics, %s: %s", n, cov.Claim, cov.Rule)
	}
}
