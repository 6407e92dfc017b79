// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line: it parses flags, wires the other packages together and prints results.
//
// Results go to standard output, messages and logs to standard error. The exit status is 0 when all went well, 1 when
// something failed, and 2 when the command or its input was wrong. An error is one line.
//
// Everything that a command takes from outside (arguments, environment, standard streams, the clock) comes through an
// Env, so that tests run commands in-process.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// Exit statuses of the program.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// An Env is everything that a command takes from outside.
type Env struct {
	Args      []string // without the program's name
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	Getenv    func(string) string
	Environ   func() []string // all variables, as os.Environ has them; nil: none
	HomeDir   string          // "" if nobody knows it
	Now       func() time.Time
	Signals   <-chan os.Signal // interrupts and terminations; nil: none
	Listen    func()           // from then on Signals gets them; before, they end the process; nil: Signals has them anyway
	Terminal  bool             // standard input and output are a terminal: somebody may want to chat
	OutScreen bool             // standard output is a terminal
	ErrScreen bool             // standard error is one that knows escape sequences
	WidthFunc func() int       // columns of the latter

	modelsDirs []string // --models-dir
	modelsDir  *pflag.Flag
	config     string // --config of serve
	homeless   bool   // it was told that nobody knows the user's home
}

// System returns the Env of this process.
func System() Env {
	signals := make(chan os.Signal, 2)
	screen := term.IsTerminal(int(os.Stdout.Fd()))
	messages := int(os.Stderr.Fd())
	return Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, HomeDir: userHome(), Now: time.Now, Signals: signals,
		Listen:    func() { listen(signals) },
		Terminal:  term.IsTerminal(int(os.Stdin.Fd())) && screen,
		OutScreen: screen,
		ErrScreen: term.IsTerminal(messages) && os.Getenv("TERM") != "dumb",
		WidthFunc: func() int {
			if width, _, err := term.GetSize(messages); err == nil && width > 0 {
				return width
			}
			return 80
		},
	}
}

// userHome returns the user's home, by HOME or by what the system knows of the user; "" if neither tells.
func userHome() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// listen has the signals that end a program sent to a channel. The terminal's end is one of them, unless nohup says that it is
// none: what a command began to write must not stay behind.
func listen(signals chan<- os.Signal) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	signal.Notify(signals, ends...)
}

// A usageError is a mistake in the command line, the configuration or the input: exit status 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// Main runs one command and returns the exit status.
func Main(env Env) int {
	out := &output{w: env.Stdout}
	env.Stdout = out
	root := newRoot(&env)
	root.SetArgs(env.Args)
	err := checkTier(&env)
	if err == nil {
		err = checkCommand(root, env.Args)
	}
	if err == nil {
		err = root.ExecuteContext(context.Background())
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(env.Stderr, "sampo: %s\n", printable(err.Error()))
	var usage *usageError
	if errors.As(err, &usage) || isCobraUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// outlivePipes lets a command go on when nobody reads its messages any more, as behind "| head -1", or when Ctrl-C has ended the tee
// beside it: it has work to finish.
func (e *Env) outlivePipes() {
	if e.Listen != nil {
		signal.Ignore(syscall.SIGPIPE)
	}
}

// signals returns the channel of the signals that come from now on. A command that does not ask for it ends at the
// first one, whatever it waits for.
func (e *Env) signals() <-chan os.Signal {
	if e.Listen != nil {
		e.Listen()
	}
	return e.Signals
}

func (e *Env) environ() []string {
	if e.Environ == nil {
		return nil
	}
	return e.Environ()
}

// checkTier refuses a SAMPO_CPU that names no tier: the kernels would pass over it.
func checkTier(env *Env) error {
	if name := env.Getenv("SAMPO_CPU"); name != "" && !slices.Contains(kernel.Tiers(), name) {
		return usagef("SAMPO_CPU: got %q, want one of %s", name, strings.Join(kernel.Tiers(), ", "))
	}
	return nil
}

// newRoot builds the tree of commands.
func newRoot(env *Env) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "sampo",
		Short: "Run language models on this machine and serve them through the APIs that clients already speak",
		Example: "  sampo serve                        serve the built-in model on http://127.0.0.1:7267\n" +
			"  sampo serve model.gguf             serve a model file\n" +
			"  sampo run sampo/mini-chat \"Hello\"  one answer\n" +
			"  sampo list                         the models on this machine",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(env)
			}
			return cmd.Help()
		},
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version of this build")
	root.PersistentFlags().StringSliceVar(&env.modelsDirs, "models-dir", nil, "folder with models, looked through beside those of other programs; may be repeated")
	env.modelsDir = root.PersistentFlags().Lookup("models-dir")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{seeHelp(cmd, flagError("", err))} })
	root.AddCommand(
		newServe(env), newRun(env), newList(env), newShow(env), newBench(env),
		newQuantize(env), newTokenize(env), newRender(env), newAPI(env), newPull(env), newVersion(env), newDoctor(env),
	)
	takeDecimals(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && cmd == root {
				err = noCommand(root, rest)
			}
			return err
		}
	}
	return root
}

// checkCommand refuses a first word that is no command before its flags are read: they would be called unknown in its place,
// and --help would be that of the program, as if all were well. The library adds the commands of completion later.
func checkCommand(root *cobra.Command, args []string) error {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, _, whole := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		if root.PersistentFlags().Lookup(name) == nil {
			return nil // a flag of the program's own, or none
		}
		args = args[1:]
		if !whole {
			args = args[min(1, len(args)):]
		}
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || args[0] == "completion" || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil
	}
	if cmd, _, err := root.Find(args); err == nil && cmd == root {
		return noCommand(root, args)
	}
	return nil
}

// noCommand refuses a word that no command has for its name.
func noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := ""
	if names := root.SuggestionsFor(args[0]); len(names) > 0 {
		near = "; near it is " + strings.Join(names, " or ")
	}
	return usagef("unknown command %q%s; sampo --help lists all", args[0], near)
}

// isCobraUsage reports whether the command library refused the command line: it has no type for that.
func isCobraUsage(err error) bool {
	text := err.Error()
	for _, start := range []string{"unknown command", "accepts ", "requires at least", "unknown flag", "unknown shorthand"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// exactArgs is cobra.ExactArgs with a message that says what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s: %s is missing; see 'sampo %s --help'", cmd.Name(), names[len(args)], cmd.Name())
		}
		if len(args) > len(names) {
			return usagef("%s: unexpected argument %q", cmd.Name(), args[len(names)])
		}
		return nil
	}
}
