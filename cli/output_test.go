//go:build unix

package cli

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"retainscope/testbroker"
)

// notWritten is how every command says it.
const notWritten = "retainscope: the output could not be written: "

// intoFull runs the program with its output on a disk that is full.
func intoFull(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	var errout bytes.Buffer
	code := Run(t.Context(), args, strings.NewReader(""), full, &errout, append([]string{"HOME=" + t.TempDir()}, env...))
	return outcome{code, "", errout.String()}
}

// saysNotWritten checks that an output which was lost is told of in one line, and by the exit code.
func saysNotWritten(t *testing.T, o outcome, cause string) {
	t.Helper()
	if o.code == ExitOK || o.code == ExitUsage || !strings.HasPrefix(o.errout, notWritten+cause) || strings.Count(o.errout, "\n") != 1 {
		t.Errorf("exit %d: %q", o.code, o.errout)
	}
}

func TestEveryCommandSaysThatItsOutputDidNotFitOnTheDisk(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue), established, approved(benchSister, `{"radon":12}`), established)
	seen := map[string]bool{}
	for _, c := range []struct {
		command string
		args    []string
		and     string // what stderr says beside it
	}{
		{"list", []string{"list", "--sys-wait", "1s"}, ""},
		{"list", []string{"list", "--json", "--sys-wait", "1s"}, ""},
		{"draft", []string{"draft", "--topic", "wave/state"}, "the entry is in "},
		{"check", []string{"check", "--sys-wait", "1s"}, ""},
		{"check", []string{"check", "--json", "--offline"}, ""},
		{"clear", []string{"clear", "--topic", benchOwn, "--no-watch"}, "; cleared and verified: "},
		{"clear", []string{"clear", "--topic", benchSister, "--json", "--window", "100ms"}, "; cleared and verified: "},
		{"record show", []string{"record", "show"}, ""},
		{"record show", []string{"record", "show", "--json"}, ""},
		{"record show", []string{"record", "show", "FIRST"}, ""},
		{"record show", []string{"record", "show", "FIRST", "--json"}, ""},
		{"record verify", []string{"record", "verify"}, ""},
		{"record export", []string{"record", "export"}, ""},
		{"record recheck", []string{"record", "recheck", "FIRST"}, "was not observed"},
		{"record recheck", []string{"record", "recheck", "FIRST", "--json"}, "was not observed"},
		{"restore", []string{"restore", "FIRST"}, "was put back and read back"},
		{"restore", []string{"restore", "FIRST", "--json", "--overwrite", fingerprint(benchValue)}, "was put back and read back"},
		{"config", []string{"config"}, ""},
		{"config", []string{"config", "--example"}, ""},
		{"version", []string{"version"}, ""},
		{"", []string{"--version"}, ""},
		{"", []string{"--help"}, ""},
		{"help", []string{"help", "list"}, ""},
		{"record", []string{"record"}, ""},
		{"completion bash", []string{"completion", "bash"}, ""},
		{"completion zsh", []string{"completion", "zsh"}, ""},
		{"completion fish", []string{"completion", "fish"}, ""},
		{"completion powershell", []string{"completion", "powershell"}, ""},
		{"completion", []string{"completion"}, ""},
		{"demo", []string{"demo", "--into", b.url}, ""},
	} {
		seen[c.command] = true
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			args := slices.Clone(c.args)
			if i := slices.Index(args, "FIRST"); i >= 0 {
				args[i] = b.first()
			}
			if top := strings.Fields(c.command + " -")[0]; slices.Contains([]string{"list", "draft", "check", "clear", "record", "restore"}, top) {
				args = b.args(args...)
			}
			if c.command == "list" {
				args = slices.DeleteFunc(args, func(s string) bool { return s == "--manifest" || s == b.manifest })
			}
			o := intoFull(t, b.env, args...)
			saysNotWritten(t, o, "no space left on device")
			if !strings.Contains(o.errout, c.and) {
				t.Errorf("%q is not in %q", c.and, o.errout)
			}
		})
	}
	t.Run("demo --serve", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = full.Close() }()
		var errout bytes.Buffer
		cmd := exec.Command(binary(t), "demo", "--serve")
		cmd.Stdout, cmd.Stderr = full, &errout
		_ = cmd.Run()
		saysNotWritten(t, outcome{cmd.ProcessState.ExitCode(), "", errout.String()}, "no space left on device")
	})

	// What is not here writes nothing to stdout.
	seen["watch"] = true
	p := &program{stdout: &output{w: &bytes.Buffer{}}, given: map[string]*flagText{}}
	root := p.root()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	var all func(*cobra.Command)
	all = func(c *cobra.Command) {
		if name := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "retainscope")); !seen[name] {
			t.Errorf("%s is not tried; tried are %v", c.CommandPath(), slices.Sorted(maps.Keys(seen)))
		}
		for _, sub := range c.Commands() {
			all(sub)
		}
	}
	all(root)
}

// first returns the name of the first operation of the record.
func (b *workbench) first() string {
	b.t.Helper()
	o := b.run("record", "show")
	id, _, _ := strings.Cut(o.out, " ")
	if o.code != ExitOK || id == "" {
		b.t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	return id
}

// inShell runs a line of a shell in which $P is the built program.
func inShell(t *testing.T, env []string, line string) outcome {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "P=" + binary(t)}, env...)
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	_ = cmd.Run()
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errout.String()}
}

// TestOutputThatIsThrownAwayIsNoFault: a shell opens the null device for writing, other programs for reading too.
func TestOutputThatIsThrownAwayIsNoFault(t *testing.T) {
	t.Parallel()
	if o := inShell(t, nil, "$P version >/dev/null && $P config --example 1<>/dev/null"); o.code != ExitOK || o.errout != "" {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
}

func TestAReaderThatHadEnoughIsNoFault(t *testing.T) {
	t.Parallel()
	// More than a pipe holds, so that a write finds the reader gone.
	o := inShell(t, nil, `set -o pipefail; $P completion bash | head -1 >/dev/null; { $P completion bash; $P completion zsh; $P completion fish; $P completion powershell; } | head -1`)
	if o.errout != "" || strings.Count(o.out, "\n") != 1 || o.code != ExitPipe && o.code != ExitOK {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestAClearGoesOnWhenTheReaderOfItsOutputGoesAway(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue), established)
	// The reader is gone before the program is started.
	o := inShell(t, b.env, `exec 3> >(true); wait $!; $P clear --topic `+benchOwn+` --window 1s --broker `+b.url+` --manifest `+b.manifest+` >&3`)
	if o.code != ExitPipe || o.errout != "" {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("record", "show", b.only().Operation); !strings.Contains(o.out, "watch            ") {
		t.Errorf("no return was watched for:\n%s%s", o.out, o.errout)
	}
}
