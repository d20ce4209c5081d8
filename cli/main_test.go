package cli

import (
	"bufio"
	"bytes"
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
)

// hang is how long is waited for what a slow machine may take its time for: longer means that it never comes.
const hang = 2 * time.Minute

// The built program, for what only a process of its own can show: signals, a terminal, and the embedded broker, which
// races inside itself and so never runs in a test process.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func TestMain(m *testing.M) {
	flag.Parse()
	// Tests that are parallel mostly wait for a broker, not for the processor.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// binary returns the path of the built program.
func binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		//nolint:usetesting // it is shared by all tests, so it must outlive the one that builds it
		if built.dir, built.err = os.MkdirTemp("", "retainscope-test-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "retainscope")
		out, err := exec.Command("go", "build", "-o", built.path, "retainscope").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatalf("build the program: %v", built.err)
	}
	return built.path
}

// runBinary runs the built program without any settings of this machine.
func runBinary(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	cmd.Env = []string{"HOME=" + t.TempDir()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = waitFor(cmd)
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errout.String()}
}

// serveDemo starts `retainscope demo --serve` as a process and returns its address.
func serveDemo(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary(t), append([]string{"demo", "--serve"}, args...)...)
	var errout bytes.Buffer
	cmd.Stderr = &errout
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := waitFor(cmd); err != nil {
			t.Errorf("the served demo did not leave well: %v %s", err, errout.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v %s", err, errout.String())
	}
	return strings.TrimSpace(line)
}

// waitFor waits for a process, and kills it when it hangs.
func waitFor(cmd *exec.Cmd) error {
	kill := time.AfterFunc(hang, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	return cmd.Wait()
}
