// Package cli is the program as a person starts it: commands, settings, exit codes, and the wiring of the rooms.
//
// The only place that starts a root context's work and waits for all of it. No packet, no drawing, no reading of bytes
// happens here: broker, inventory and tui do that.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes, as `retainscope --help` lists them.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitIncomplete  = 3
	ExitUnverified  = 4
	ExitInterrupted = 130
)

// exit is an error that knows the exit code. A nil err exits in silence: everything was said already.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func usage(err error) error { return &exit{ExitUsage, err} }

// failed gives err the exit code of a failure, or of an interruption when ctx ended by a signal.
func failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exit{ExitInterrupted, errors.New("interrupted")}
	}
	return &exit{ExitFailed, err}
}

// Run runs the program with args (without the program's name) and returns its exit code. It returns when every
// goroutine it started has ended. ctx ends it as a signal would; env holds NAME=value lines. What is a terminal is
// found out from stdin, stdout and stderr where they are files.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	p := &program{stdin: stdin, stdout: &output{w: stdout}, stderr: stderr, env: environ(env), environ: env, given: map[string]*flagText{}}
	root := p.root()
	root.SetArgs(append([]string{}, args...))
	root.SetIn(stdin)
	root.SetOut(p.stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = p.misled
	}
	return p.end(err)
}

// end says on stderr what is left to say of err and of output that could not be written, and returns the exit code: that
// of err where it is another than 0, since it tells what was done or seen.
func (p *program) end(err error) int {
	lost := p.stdout.lost
	e, ok := errors.AsType[*exit](err)
	_, told := errors.AsType[*lostOutput](err)
	switch {
	case told && !ok:
		e = &exit{ExitFailed, err} // of what cobra writes
	case err == nil:
		e = &exit{code: ExitOK}
	case !ok:
		// What cobra itself refuses: an unknown command, a wrong number of arguments.
		e = &exit{ExitUsage, fmt.Errorf("%w; see retainscope --help", err)}
	}
	if lost != nil && lost.readerLeft() {
		if told || e.code == ExitOK {
			return ExitPipe
		}
		lost = nil
	}
	if e.err != nil {
		p.say("%s", oneLine(e.err.Error()))
	}
	if lost != nil && !told {
		p.say("%s", oneLine(lost.Error()))
		if e.code == ExitOK {
			return ExitFailed
		}
	}
	return e.code
}

// oneLine keeps an error on one line of a terminal. Spaces stay: a name in it is told from another by them.
func oneLine(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\r", " ", "\n", " ", "\t", " ").Replace(s))
}

// program is one run: its streams, its environment, and the flags that were given.
type program struct {
	stdin   io.Reader
	stdout  *output
	stderr  io.Writer
	env     map[string]string
	environ []string             // the same, as it was given
	given   map[string]*flagText // by setting.id

	misled   error          // help was asked of what is no command
	commands *cobra.Command // the one without a name, with all others below it

	configPath  string
	profile     string
	askPassword bool
	wide        bool // list cuts nothing
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "retainscope",
		Short: "See the whole retained store of an MQTT broker, live, and know what you do not see",
		Long: `See the whole retained store of an MQTT broker, live: which messages expire (MQTT 5 Message Expiry),
which never will, and how much of the store this login is really shown. Looking publishes nothing;
"watch" publishes what it finds, under topics of its own. One exact topic that a person approved in a
manifest can be cleared, with evidence, and put back.

Without a command: the screen. Settings come from flags, the environment (MQTT__BROKER, or
RETAINSCOPE_MQTT__BROKER, which wins), the configuration file and defaults, in this order;
"retainscope config" prints each with where it came from.

--protocol-version 3.1.1 is for brokers that speak nothing else, and is limited: expiry is unknown, live messages do not
tell whether they were retained, and nothing can be cleared. There is no fallback to it.

Exit codes: 0 fine, 1 failed, or the output could not be written, 2 wrong usage or settings, 130 interrupted;
"list" also 3 incomplete and 4 unverified; "check", "clear", "restore" and "record" have more, told by their help.
SIGINT, SIGTERM, SIGHUP and SIGQUIT end it cleanly and give the terminal back, a second one after 3 s at once;
SIGABRT gives a trace.`,
		Example: `  retainscope demo                                    a first look, without a broker
  retainscope --broker mqtt://broker.lan              the screen
  retainscope --broker mqtts://broker.lan --user me --ask-password
  retainscope list --where 'is:never -tasmota' --sort size
  retainscope list --json --payload > store.jsonl
  retainscope watch --log-format json                 for weeks, as a service
  retainscope draft --topic airthings/state           begin an entry of the manifest, on hold
  retainscope check && retainscope clear --topic airthings/state`,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           Version(),
		DisableAutoGenTag: true,
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.runScreen(cmd.Context()) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&p.configPath, "config", "", "configuration `FILE` (default: retainscope/config.toml in the user's configuration folder)")
	flags.StringVar(&p.profile, "profile", "", "profile `NAME` of the configuration file, whose values win over its sections")
	flags.BoolVar(&p.askPassword, "ask-password", false, "ask for the password, without echo")
	for _, s := range settings() {
		if s.everywhere() {
			p.addFlag(flags, s)
		}
	}
	p.screenFlags(root)
	p.retireFlags(root)
	root.AddCommand(p.listCommand(), p.watchCommand(), p.draftCommand(), p.checkCommand(), p.clearCommand(), p.restoreCommand(), p.recordCommand(),
		p.demoCommand(), p.configCommand(), p.versionCommand())
	p.helps(root)
	p.completions(root)
	p.commands = root
	return root
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(p.stdout, "retainscope", Version())
			return nil
		},
	}
}
