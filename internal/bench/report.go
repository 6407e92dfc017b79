// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// A Report is what a run measured. Its JSON form is a contract with scripts: docs/bench.md.
type Report struct {
	Model     string          `json:"model"`
	FileBytes int64           `json:"file_bytes"`
	CPU       string          `json:"cpu"`
	Tier      string          `json:"tier"`
	Threads   int             `json:"threads"`
	Noisy     bool            `json:"noisy"`
	Limits    Limits          `json:"limits"`
	Prefill   []PrefillResult `json:"prefill"`
	Decode    []DecodeResult  `json:"decode"`

	Noise    Noise         `json:"-"`
	Token    Work          `json:"-"` // of one token at context 0
	Contexts []ContextCost `json:"-"`
	LeftOut  []string      `json:"-"` // cases that did not fit, with reasons
}

// A PrefillResult is the speed of a prompt.
type PrefillResult struct {
	Tokens int     `json:"tokens"`
	Speed  float64 `json:"tok_s"`
	Share  float64 `json:"share"`
	Bound  string  `json:"-"`
}

// A DecodeResult is the speed of sequences that grow together, all of them counted.
type DecodeResult struct {
	Context  int     `json:"context"`
	Parallel int     `json:"parallel"`
	Speed    float64 `json:"tok_s"`
	Share    float64 `json:"share"`
	Bound    string  `json:"bound"`
}

// significant rounds x to four significant digits: more would be noise.
func significant(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// rounded is the limits with four significant digits.
func (l Limits) rounded() Limits {
	return Limits{significant(l.ReadGBps), significant(l.Int8GMACs), significant(l.FP32GMACs), significant(l.BF16GMACs)}
}

// WriteTable writes the report for a person.
func (r *Report) WriteTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "model\t%s, file %.1f MB\n", r.Model, float64(r.FileBytes)/1e6)
	fmt.Fprintf(w, "a token\treads %.1f MB of weights, %.1f million multiply-adds\n", r.Token.Bytes/1e6, (r.Token.Int8+r.Token.FP32+r.Token.BF16)/1e6)
	fmt.Fprintf(w, "processor\t%s, tier %s, %d threads\n", r.CPU, r.Tier, r.Threads)
	fmt.Fprintf(w, "limits\tread %.4g GB/s; multiply-adds a second: int8 %.4g, fp32 %.4g, bf16 %s (10^9)\n",
		r.Limits.ReadGBps, r.Limits.Int8GMACs, r.Limits.FP32GMACs, orNone(r.Limits.BF16GMACs))
	fmt.Fprintf(w, "noise\t%s\n", r.Noise)
	if r.Noisy {
		fmt.Fprintf(w, "\tNOISY: do not compare these numbers with others\n")
	}
	for _, reason := range r.LeftOut {
		fmt.Fprintf(w, "left out\t%s\n", reason)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "work\ttokens\tcontext\tsequences\ttok/s\tof the limit\tbound by\t")
	for _, p := range r.Prefill {
		fmt.Fprintf(w, "prefill\t%d\t-\t1\t%.4g\t%.0f %%\t%s\t\n", p.Tokens, p.Speed, 100*p.Share, p.Bound)
	}
	for _, d := range r.Decode {
		fmt.Fprintf(w, "decode\t-\t%d\t%d\t%.4g\t%.0f %%\t%s\t\n", d.Context, d.Parallel, d.Speed, 100*d.Share, d.Bound)
	}
	if err := w.Flush(); err != nil || len(r.Contexts) == 0 {
		return err
	}
	fmt.Fprintln(out, "\nWhat a context adds to a step, and what reading its keys and values takes, measured in turn:")
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "context\tsequences\tadds\treading\tratio\t")
	for _, c := range r.Contexts {
		fmt.Fprintf(w, "%d\t%d\t%.4g ms\t%.4g ms\t%.2f\t\n", c.Context, c.Parallel, 1e3*c.Added, 1e3*c.Reading, c.Ratio)
	}
	return w.Flush()
}

func orNone(limit float64) string {
	if limit == 0 {
		return "none"
	}
	return fmt.Sprintf("%.4g", limit)
}
