// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/quantize"
	"github.com/sampo-ai/sampo/internal/registry"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
	"github.com/sampo-ai/sampo/internal/wholefile"
)

// quantizeFlags are the flags of quantize.
type quantizeFlags struct {
	scheme  string
	pure    bool
	force   bool
	threads int
}

// newQuantize writes a model with smaller weights.
func newQuantize(env *Env) *cobra.Command {
	var f quantizeFlags
	cmd := &cobra.Command{
		Use: "quantize MODEL_OR_PATH FILE", Short: "Write a model with smaller weights to a GGUF file", Args: exactArgs("MODEL_OR_PATH", "FILE"),
		Long: "Read a GGUF file or a folder with safetensors and write a GGUF file whose matrices have another type: one of\n" +
			strings.Join(quantize.Names(), ", ") + ".\n" +
			"The _M types give the matrices that matter most more bits. The file appears when it is complete.",
		Example: "  sampo quantize ./Llama-3.2-1B llama-q4.gguf\n  sampo quantize model-f16.gguf model-q8.gguf --type Q8_0",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(env, cmd.Context(), args[0], args[1]) },
	}
	cmd.Flags().StringVar(&f.scheme, "type", "Q4_K_M", "type of the matrices")
	cmd.Flags().BoolVar(&f.pure, "pure", false, "give all matrices the same type")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace FILE if it exists")
	cmd.Flags().IntVar(&f.threads, "threads", 0, "workers of the computation (default: one for each core)")
	return cmd
}

func (f *quantizeFlags) run(env *Env, ctx context.Context, source, target string) error {
	scheme, ok := quantize.ParseScheme(f.scheme)
	if !ok {
		return usagef("--type: got %q, want one of %s", f.scheme, strings.Join(quantize.Names(), ", "))
	}
	if err := checkThreads(f.threads); err != nil {
		return err
	}
	if err := f.checkTarget(target); err != nil {
		return err
	}
	if f.pure {
		scheme = scheme.Pure()
	}
	found, err := env.find(source)
	if err != nil {
		return err
	}
	m, err := openForQuantize(found)
	if err != nil {
		return err
	}
	if t, ok := m.Quantised(); ok {
		fmt.Fprintf(env.Stderr, "sampo: %s is %v already; from a file with F16 or BF16 weights the result would be better\n", printable(found.Name), t)
	}
	env.outlivePipes()
	ctx, stop := env.untilInterrupt(ctx)
	defer stop()
	pool := tensor.NewPool(f.threads)
	defer pool.Close()
	began := env.Now()
	job := quantize.Job{Model: m, Scheme: scheme, Pool: pool, Progress: quantizeProgress(env)}
	var report quantize.Report
	err = writeAtomically(target, func(w io.Writer) (err error) {
		report, err = job.Write(ctx, w)
		return err
	})
	if err = errors.Join(err, m.Close()); errors.Is(err, context.Canceled) {
		return errors.New("quantize: interrupted")
	}
	if err != nil {
		return err
	}
	return tellQuantized(env, target, report, env.Now().Sub(began))
}

// checkTarget refuses what must not be replaced: a file unless the user says so, and folders and devices at all.
func (f *quantizeFlags) checkTarget(path string) error {
	if path == "" {
		return usagef("FILE is empty")
	}
	info, _ := os.Stat(path)
	switch {
	case info == nil:
		return nil // if no file can be made there either, making it fails
	case !info.Mode().IsRegular():
		return usagef("%s is not a regular file, and is not replaced", path)
	case !f.force:
		return usagef("%s exists; --force replaces it", path)
	}
	return nil
}

// openForQuantize opens a model of this machine, in either format.
func openForQuantize(found registry.Model) (*quantize.Model, error) {
	if found.Data != nil {
		f, err := gguf.OpenBytes(found.Name, found.Data)
		if err != nil {
			return nil, err
		}
		return quantize.FromGGUF(f), nil
	}
	if info, err := os.Stat(found.Path); err != nil || info.IsDir() || filepath.Ext(found.Path) == ".safetensors" {
		return quantize.FromFolder(found.Path)
	}
	f, err := gguf.Open(found.Path)
	if err != nil {
		return nil, err
	}
	return quantize.FromGGUF(f), nil
}

// writeAtomically writes a file that appears under its name when it is complete, and not at all if write fails. What was left
// when an earlier one was killed makes room.
func writeAtomically(path string, write func(w io.Writer) error) error {
	dir, pattern := filepath.Dir(path), "."+filepath.Base(path)+".*"
	wholefile.Clean(dir, pattern)
	f, err := wholefile.Create(dir, pattern)
	if err != nil {
		return fmt.Errorf("quantize: %w", err)
	}
	err = write(f)
	if err == nil && posixModes {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Discard()
		return err
	}
	return f.Place(path, os.Rename)
}

// quantizeProgress tells how far the writing is: with a bar on a terminal, else with a line for every tenth.
func quantizeProgress(env *Env) quantize.Progress {
	tenth, drawn := int64(0), int64(-1)
	return func(done, total int64, name string) {
		percent := int64(100)
		if total > 0 {
			percent = done * 100 / total
		}
		switch {
		case !env.ErrScreen && percent/10 > tenth:
			tenth = percent / 10
			fmt.Fprintf(env.Stderr, "%d %%\n", 10*tenth)
		case env.ErrScreen && name == "":
			fmt.Fprint(env.Stderr, "\r\x1b[K")
		case env.ErrScreen && percent != drawn:
			drawn = percent
			fmt.Fprintf(env.Stderr, "\r\x1b[K%s", progressBar(percent, printable(name), env.WidthFunc()))
		}
	}
}

// progressBar draws a bar that fits the width.
func progressBar(percent int64, name string, width int) string {
	const cells = 30
	full := int(percent) * cells / 100
	line := fmt.Sprintf("[%s%s] %3d %% %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), percent, name)
	return line[:min(len(line), max(0, width-1))]
}

// tellQuantized prints what was written.
func tellQuantized(env *Env, path string, report quantize.Report, took time.Duration) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var types []quant.Type
	for t := range report.Tensors {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b quant.Type) int { return report.Tensors[b] - report.Tensors[a] })
	var counts []string
	for _, t := range types {
		counts = append(counts, fmt.Sprintf("%d %v", report.Tensors[t], t))
	}
	_, err = fmt.Fprintf(env.Stdout, "wrote %s: %s, %.2f bits for each of %s weights, in %.1f s; tensors: %s\n", path, formatBytes(info.Size()),
		float64(info.Size())*8/float64(max(1, report.Values)), formatCount(report.Values), took.Seconds(), strings.Join(counts, ", "))
	return err
}
