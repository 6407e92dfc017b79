// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// runFlags are the flags of run beside those of the model.
type runFlags struct {
	model       modelFlags
	system      string
	maxTokens   int
	temperature float64
	topP        float64
	topK        int
	seed        int64
	stop        []string
	raw         bool
	think       bool
	noThink     bool
	verbose     bool
	changed     func(name string) bool
}

// newRun gives one answer, or chats in the terminal.
func newRun(env *Env) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use: "run MODEL [PROMPT]", Short: "Answer a prompt, or chat in the terminal",
		Long: "Answer one prompt and exit; the prompt is the argument, or standard input, or both. Without a prompt and on a\n" +
			"terminal, chat. A base model, which has no chat template, continues the prompt as text.",
		Example: "  sampo run sampo/mini-chat \"What is the capital of Finland?\"\n" +
			"  cat notes.txt | sampo run owner/name \"Summarise this\"\n  sampo run sampo/mini-chat",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("run: MODEL is missing; try 'sampo run sampo/mini-chat'")
			}
			f.changed = cmd.Flags().Changed
			return f.run(env, args[0], strings.Join(args[1:], " "))
		},
	}
	flags := cmd.Flags()
	f.model.register(flags)
	flags.StringVar(&f.system, "system", "", "system message")
	flags.IntVar(&f.maxTokens, "max-tokens", 0, "most tokens of an answer (default: the rest of the context)")
	flags.Float64Var(&f.temperature, "temperature", 0, "randomness; 0 always takes the likeliest token (default: the model's own, else 1)")
	flags.Float64Var(&f.topP, "top-p", 0, "sample from the likeliest tokens that make up this share; 1 is off (default: the model's own, else 1)")
	flags.IntVar(&f.topK, "top-k", 0, "sample from so many of the likeliest tokens; 0 is off (default: the model's own, else 0)")
	flags.Int64Var(&f.seed, "seed", 0, "equal seeds give equal answers (default: a fresh one)")
	flags.StringArrayVar(&f.stop, "stop", nil, "text that ends an answer; may be repeated")
	flags.BoolVar(&f.raw, "raw", false, "continue the prompt as text, without the chat template")
	flags.BoolVar(&f.think, "think", false, "let a reasoning model think first")
	flags.BoolVar(&f.noThink, "no-think", false, "let a reasoning model answer at once")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print counts and speeds after each answer")
	return cmd
}

func (f *runFlags) run(env *Env, model, prompt string) error {
	if err := f.check(); err != nil {
		return err
	}
	if !env.Terminal || prompt != "" {
		piped, err := pipedInput(env)
		if err != nil {
			return err
		}
		prompt = joinPrompt(prompt, piped)
		if prompt == "" {
			return usagef("run: there is no prompt: give one as an argument or on standard input")
		}
	}
	opt, err := f.model.bundleOptions()
	if err != nil {
		return err
	}
	found, err := env.find(model)
	if err != nil {
		return err
	}
	files, err := found.Open(opt)
	if err != nil {
		return err
	}
	pool := tensor.NewPool(f.model.threads)
	defer pool.Close()
	m, err := f.model.open(env, files, host{pool: pool, log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	talk := &talk{env: env, model: m, flags: f}
	name, ofChat := f.ofChat()
	switch {
	case talk.continues() && ofChat:
		err = usagef("run: %s is for chats: %s has no chat template, and continues text", name, m.Name)
	case prompt != "":
		err = talk.once(prompt)
	default:
		err = talk.chat()
	}
	return errors.Join(err, m.Close())
}

// ofChat names a flag that was given and means nothing where a prompt is continued as text.
func (f *runFlags) ofChat() (name string, given bool) {
	switch {
	case f.system != "":
		return "--system", true
	case f.think:
		return "--think", true
	case f.noThink:
		return "--no-think", true
	}
	return "", false
}

func (f *runFlags) check() error {
	if name, ofChat := f.ofChat(); f.raw && ofChat {
		return usagef("run: --raw continues text, and %s is for chats: give one of them", name)
	}
	switch {
	case f.think && f.noThink:
		return usagef("run: --think and --no-think: give one of them")
	case f.changed("max-tokens") && f.maxTokens < 1:
		return usagef("--max-tokens: got %d, want at least 1", f.maxTokens)
	case !(f.temperature >= 0) || math.IsInf(f.temperature, 0):
		return usagef("--temperature: got %v, want at least 0", f.temperature)
	case f.changed("top-p") && !(f.topP > 0 && f.topP <= 1):
		return usagef("--top-p: got %v, want above 0 and at most 1", f.topP)
	case f.topK < -1:
		return usagef("--top-k: got %d, want at least 0", f.topK)
	case slices.Contains(f.stop, ""):
		return usagef("--stop: the text is empty")
	}
	return f.model.check()
}

// pipedInput reads standard input if it is not a terminal.
func pipedInput(env *Env) (string, error) {
	if env.Terminal {
		return "", nil
	}
	if file, ok := env.Stdin.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return "", nil
		}
	}
	input, err := readInput(env.Stdin)
	return strings.TrimRight(string(input), "\n"), err
}

// joinPrompt puts an instruction before what was piped in.
func joinPrompt(instruction, piped string) string {
	if instruction == "" || piped == "" {
		return instruction + piped
	}
	return instruction + "\n\n" + piped
}

// params returns what the flags say of generation.
func (f *runFlags) params() chat.Params {
	p := chat.Params{Stop: f.stop}
	if f.changed("max-tokens") {
		p.MaxTokens = &f.maxTokens
	}
	if f.changed("temperature") {
		p.Temperature = &f.temperature
	}
	if f.changed("top-p") {
		p.TopP = &f.topP
	}
	if f.changed("top-k") {
		p.TopK = &f.topK
	}
	if f.changed("seed") {
		p.Seed = &f.seed
	}
	return p
}

// A talk is a conversation with a model on the terminal.
type talk struct {
	env      *Env
	model    *local.Model
	flags    *runFlags
	messages []chat.Message
}

// once answers one prompt.
func (t *talk) once(prompt string) error {
	ctx, stop := t.env.untilInterrupt(context.Background())
	defer stop()
	text, err := t.ask(ctx, prompt)
	if errors.Is(err, context.Canceled) {
		if text != "" {
			fmt.Fprintln(t.env.Stdout)
		}
		return errors.New("run: interrupted")
	}
	if err != nil {
		return err
	}
	if !strings.HasSuffix(text, "\n") {
		fmt.Fprintln(t.env.Stdout)
	}
	return nil
}

// ask sends the prompt, prints the answer as it comes and returns it. The turn is remembered.
func (t *talk) ask(ctx context.Context, prompt string) (string, error) {
	stream, err := t.start(ctx, prompt)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	w := newAnswerWriter(t.env)
	var last chat.Delta
	for {
		d, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.end()
			if errors.Is(err, context.Canceled) && w.text.Len() > 0 {
				t.remember(prompt, w.text.String()) // who stops an answer may go on from there
			}
			return w.text.String(), err
		}
		w.write(d)
		last = d
	}
	w.end()
	t.remember(prompt, w.text.String())
	if t.flags.verbose {
		printTimings(t.env, last)
	}
	return w.text.String(), nil
}

// remember adds a turn to the conversation.
func (t *talk) remember(prompt, answer string) {
	t.messages = append(t.messages, userMessage(prompt), chat.Message{Role: "assistant", Content: []chat.Part{{Text: answer}}})
}

// continues reports whether prompts are continued as text, so that the conversation, a system message and switches have no place.
func (t *talk) continues() bool { return t.flags.raw || !t.model.Chats() }

func (t *talk) start(ctx context.Context, prompt string) (*answer.Stream, error) {
	if t.continues() {
		return t.model.Complete(ctx, chat.Completion{Prompts: []chat.Prompt{{Text: prompt}}, Params: t.flags.params()})
	}
	r := chat.Request{Params: t.flags.params()}
	r.AddGenerationPrompt = true
	if t.flags.think || t.flags.noThink {
		r.Thinking = &t.flags.think
	}
	if t.flags.system != "" {
		r.Messages = append(r.Messages, chat.Message{Role: "system", Content: []chat.Part{{Text: t.flags.system}}})
	}
	r.Messages = append(append(r.Messages, t.messages...), userMessage(prompt))
	return t.model.Chat(ctx, r)
}

func userMessage(text string) chat.Message {
	return chat.Message{Role: "user", Content: []chat.Part{{Text: text}}}
}

// printTimings tells counts and speeds of an answer.
func printTimings(env *Env, d chat.Delta) {
	prefill, decode := d.Timings.Prefill.Seconds(), d.Timings.Decode.Seconds()
	rate := func(n int, seconds float64) float64 {
		if seconds <= 0 {
			return 0
		}
		return float64(n) / seconds
	}
	fmt.Fprintf(env.Stderr, "\nprompt %d tokens (%d cached), %.0f tok/s; output %d tokens, %.0f tok/s\n",
		d.Usage.PromptTokens, d.Usage.CachedTokens, rate(d.Timings.PrefillTokens, prefill), d.Usage.OutputTokens, rate(d.Timings.DecodeTokens, decode))
}
