// SPDX-License-Identifier: Apache-2.0

// Command errors compares two quantised GGUF files with the file that both were made from, and lets Sampo continue a text with
// the first of them.
//
//	errors [-limit 1.02] [-prompt TEXT -other FILE] SOURCE OURS THEIRS
//
// It prints, for each type of OURS, the mean squared error of the tensors that have this type in both files, and that of all
// quantised tensors. The last line says how the text goes on, and where it leaves that of another program in FILE: with the lead
// of Sampo's token over the next best one there, as a difference of logprobs. The exit status is 1 if an error of OURS is over the
// limit times the other's, or if a tensor has another type.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

func main() {
	limit := flag.Float64("limit", 1.02, "largest ratio of the errors")
	prompt := flag.String("prompt", "", "text to continue")
	other := flag.String("other", "", "file with another program's continuation")
	flag.Parse()
	ok, err := run(flag.Args(), *limit, *prompt, *other)
	if err != nil {
		fmt.Fprintln(os.Stderr, "errors:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(paths []string, limit float64, prompt, other string) (ok bool, err error) {
	var files [3]*gguf.File
	for i := range files {
		if len(paths) != len(files) {
			return false, fmt.Errorf("got %d files, want SOURCE OURS THEIRS", len(paths))
		}
		if files[i], err = gguf.Open(paths[i]); err != nil {
			return false, err
		}
		defer discard(files[i])
	}
	if ok, err = compare(files, limit); err != nil || prompt == "" {
		return ok, err
	}
	text, err := os.ReadFile(other)
	if err != nil {
		return false, err
	}
	return ok, continued(paths[1], prompt, string(text))
}

// discard closes what was only read.
func discard(c io.Closer) { _ = c.Close() }

// endOfText is what llama-completion prints for a token that ends a text.
const endOfText = " [end of text]"

// continued tells twelve greedy tokens after a prompt, and where they leave another text.
func continued(path, prompt, other string) error {
	m, err := sampo.Load(path, sampo.Options{})
	if err != nil {
		return err
	}
	defer discard(m)
	zero, tokens, best := 0.0, 12, 2
	other, ended := strings.CutSuffix(strings.TrimRight(other, "\n"), endOfText)
	text, parts := "", "the same"
	params := sampo.SamplingParams{Temperature: &zero, MaxTokens: &tokens, Logprobs: &best}
	for d, err := range m.Generate(context.Background(), prompt, params) {
		if err != nil {
			return err
		}
		for i, t := range d.Tokens {
			same := strings.HasPrefix(other, strings.TrimRight(text+t.Text, "\n"))
			if d.Finish == "stop" && i == len(d.Tokens)-1 {
				same = ended && text == other
			}
			if text += t.Text; parts == "the same" && !same && len(t.Top) > 1 {
				parts = fmt.Sprintf("other from %q on, which leads by %.3f", t.Text, t.Top[0].Logprob-t.Top[1].Logprob)
			}
		}
	}
	fmt.Printf("%q: %s\n", text, parts)
	return nil
}

// A sum is of squared errors.
type sum struct {
	ours, theirs float64
	values       int
	tensors      int
}

func (s sum) add(o sum) sum {
	return sum{s.ours + o.ours, s.theirs + o.theirs, s.values + o.values, s.tensors + o.tensors}
}

// compare prints the table.
func compare(files [3]*gguf.File, limit float64) (ok bool, err error) {
	pool := tensor.NewPool(0)
	defer pool.Close()
	ok = true
	sums := map[quant.Type]sum{}
	for _, name := range files[0].Names() {
		var t [3]weights.Tensor
		for i, f := range files {
			var found bool
			if t[i], found = f.Tensor(name); !found {
				return false, fmt.Errorf("%s has no tensor %q", f.Meta().Keys()[0], name)
			}
		}
		switch {
		case t[1].Type.BlockElems() == 1 && t[2].Type.BlockElems() == 1:
			continue
		case t[1].Type != t[2].Type:
			fmt.Printf("%s is %v, theirs is %v\n", name, t[1].Type, t[2].Type)
			ok = false
			continue
		}
		s, err := squares(pool, t)
		if err != nil {
			return false, err
		}
		sums[t[1].Type] = sums[t[1].Type].add(s)
		for i, f := range files {
			weights.Release(f, t[i])
		}
	}
	var all sum
	for _, typ := range slices.Sorted(maps.Keys(sums)) {
		ok = sums[typ].tell(typ.String(), limit) && ok
		all = all.add(sums[typ])
	}
	return all.tell("all", limit) && ok, nil
}

// tell prints a row and says whether it is within the limit.
func (s sum) tell(name string, limit float64) bool {
	ratio := s.ours / s.theirs
	if s.ours == s.theirs {
		ratio = 1 // 0, perhaps
	}
	n := float64(s.values)
	fmt.Printf("%s | %d | %.1f | %.4g | %.4g | %.4f\n", name, s.tensors, n/1e6, s.ours/n, s.theirs/n, ratio)
	return ratio <= limit
}

// squares sums the squared errors of a tensor in two files against the first of t.
func squares(pool *tensor.Pool, t [3]weights.Tensor) (sum, error) {
	cols := t[0].Shape[len(t[0].Shape)-1]
	rows := t[0].Elems() / cols
	sums, errs := make([]sum, pool.Threads()), make([]error, pool.Threads())
	scratch := make([][3][]float32, pool.Threads())
	pool.Do(rows, func(row, worker int) {
		x := &scratch[worker]
		for i := range x {
			x[i] = slices.Grow(x[i][:0], cols)[:cols]
			size := t[i].Type.RowBytes(cols)
			if err := quant.Dequantize(x[i], t[i].Type, t[i].Data[row*size:][:size]); err != nil {
				errs[worker] = err
			}
		}
		s := &sums[worker]
		for i, want := range x[0] {
			a, b := float64(x[1][i]-want), float64(x[2][i]-want)
			s.ours += a * a
			s.theirs += b * b
		}
	})
	total := sum{values: rows * cols, tensors: 1}
	for worker, s := range sums {
		if errs[worker] != nil {
			return sum{}, errs[worker]
		}
		total.ours += s.ours
		total.theirs += s.theirs
	}
	return total, nil
}
