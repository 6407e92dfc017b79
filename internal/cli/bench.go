// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bench"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	opt       bench.Options
	cacheType string
	threads   int
	quick     bool
	asJSON    bool
}

// newBench measures a model against the limits of the machine.
func newBench(env *Env) *cobra.Command {
	f := &benchFlags{opt: bench.DefaultOptions()}
	cmd := &cobra.Command{
		Use: "bench [MODEL]", Short: "Measure a model's speed against the limits of this machine",
		Long: "Measure what this machine can do at most (bytes read from memory, multiply-adds), then how fast a model takes\n" +
			"prompts in (prefill) and gives tokens out (decode), and what share of the limit that is. Every context is measured\n" +
			"with the first number of sequences, every number of sequences at the first context; sizes beyond the model's context\n" +
			"are left out. What a context adds to a step is shown beside the time that reading its keys and values takes.\n" +
			"Without MODEL the built-in one is measured. A run that other programs disturbed is marked noisy.",
		Example: "  sampo bench --quick\n  sampo bench model.gguf --json > result.json\n" +
			"  sampo bench model.gguf --prefill 512 --context 4096 --parallel 16",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("bench: unexpected argument %q", args[1])
			}
			if f.quick {
				f.takeQuick(cmd.Flags().Changed)
			}
			return f.run(env, cmd.Context(), append(args, assets.MiniChatName)[0])
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&f.opt.Prefill, "prefill", f.opt.Prefill, "tokens of the prompts")
	flags.IntVar(&f.opt.DecodeTokens, "decode-tokens", f.opt.DecodeTokens, "tokens that each sequence decodes")
	flags.IntSliceVar(&f.opt.Context, "context", f.opt.Context, "tokens before the first that is decoded")
	flags.IntSliceVar(&f.opt.Parallel, "parallel", f.opt.Parallel, "sequences that decode together")
	flags.IntVar(&f.opt.Repeat, "repeat", f.opt.Repeat, "measurements of each size; the median counts")
	flags.IntVar(&f.threads, "threads", 0, "workers of the computation (default: one for each core)")
	registerCacheType(flags, &f.cacheType)
	flags.BoolVar(&f.quick, "quick", false, "only prefill of 512 tokens and decode of one sequence at context 0")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// takeQuick reduces the sizes that were not given.
func (f *benchFlags) takeQuick(given func(flag string) bool) {
	quick := bench.QuickOptions()
	if !given("prefill") {
		f.opt.Prefill = quick.Prefill
	}
	if !given("context") {
		f.opt.Context = quick.Context
	}
	if !given("parallel") {
		f.opt.Parallel = quick.Parallel
	}
}

func (f *benchFlags) run(env *Env, ctx context.Context, name string) error {
	if err := checkThreads(f.threads); err != nil {
		return err
	}
	if err := checkCacheType(f.cacheType); err != nil {
		return err
	}
	if err := f.opt.Check(); err != nil {
		return usagef("--%v", err)
	}
	found, err := env.find(name)
	if err != nil {
		return err
	}
	f.opt.CPU, f.opt.FreeBytes, f.opt.Progress = cpuName(), local.FreeBytes, benchProgress(env)
	f.opt.Progress("loading " + printable(found.Name))
	b, err := found.Open(bundle.Options{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	report, err := unlessInterrupted(env.signals(), func() (*bench.Report, error) { return f.measure(ctx, b) }, func(*bench.Report) {})
	f.opt.Progress("")
	if errors.Is(err, errInterrupted) {
		return errors.New("bench: interrupted")
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		f.tellNoise(env, report)
		return printJSON(env, report)
	}
	report.Model = printable(report.Model)
	return report.WriteTable(env.Stdout)
}

// measure loads the model, runs the measurements and closes the bundle.
func (f *benchFlags) measure(ctx context.Context, b *bundle.Bundle) (*bench.Report, error) {
	pool := tensor.NewPool(f.threads)
	defer pool.Close()
	b.Config.CacheType = cacheTypes[f.cacheType]
	m, err := b.LoadModel(pool)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	report, err := bench.Run(ctx, bench.Subject{Name: b.Name, FileBytes: b.FileBytes, Source: b.Source, Model: m}, pool, f.opt)
	return report, errors.Join(err, m.Close(), b.Close())
}

// tellNoise says on standard error what the JSON has no place for.
func (f *benchFlags) tellNoise(env *Env, r *bench.Report) {
	for _, reason := range r.LeftOut {
		fmt.Fprintf(env.Stderr, "left out: %s\n", reason)
	}
	for _, c := range r.Contexts {
		fmt.Fprintf(env.Stderr, "context %d, %d sequences: a step takes %.4g ms longer, reading the keys and values %.4g ms (ratio %.2f)\n",
			c.Context, c.Parallel, 1e3*c.Added, 1e3*c.Reading, c.Ratio)
	}
	fmt.Fprintf(env.Stderr, "noise: %s\n", r.Noise)
}

// benchProgress tells on standard error what is measured: in one line that changes on a terminal, else line by line. An
// empty text ends it.
func benchProgress(env *Env) func(text string) {
	if !env.ErrScreen {
		return func(text string) {
			if text != "" {
				fmt.Fprintln(env.Stderr, text)
			}
		}
	}
	return func(text string) {
		if width := env.WidthFunc(); len(text) >= width {
			text = text[:max(0, width-1)]
		}
		fmt.Fprintf(env.Stderr, "\r\x1b[K%s", strings.TrimSpace(text))
	}
}
