// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A report is what came out. Times are in seconds.
type report struct {
	Clients   int      `json:"clients"`
	Requests  int      `json:"different_requests"`
	Answers   int      `json:"answers"` // compared to their end
	Equal     int      `json:"equal"`
	Different int      `json:"different"`
	Vanished  int      `json:"vanished"` // their tokens were equal as far as they came, or count as different
	Stalled   int      `json:"stalled"`
	Busy      int      `json:"busy"`
	Failed    int      `json:"failed"`
	Errors    []string `json:"errors,omitempty"` // the first few
	Left      int      `json:"left_on_server"`
	Seconds   float64  `json:"seconds"`
	TokS      float64  `json:"output_tok_s"`
	First     spreadOf `json:"ttft_s"`
	Gap       spreadOf `json:"itl_s"`
	Steps     []steps  `json:"steps,omitempty"`

	// mu guards all.
	mu     sync.Mutex
	tokens int
	firsts []float64
	gaps   []float64
}

type spreadOf struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func (r *report) add(m manner, tokens int, t timing, equal bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m {
	case vanishes:
		r.Vanished++
	case stalls:
		r.Stalled++
	case streams, waits:
	}
	if m != vanishes {
		r.Answers++
	}
	switch {
	case !equal:
		r.Different++
	case m != vanishes:
		r.Equal++
	}
	r.tokens += tokens
	if t.first > 0 {
		r.firsts = append(r.firsts, t.first.Seconds())
	}
	for _, gap := range t.gaps {
		r.gaps = append(r.gaps, gap.Seconds())
	}
}

func (r *report) busy() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Busy++
}

func (r *report) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Failed++
	if len(r.Errors) < 5 {
		r.Errors = append(r.Errors, err.Error())
	}
}

func (r *report) finish(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Seconds = took.Seconds()
	r.TokS = float64(r.tokens) / took.Seconds()
	r.First, r.Gap = spreadFrom(r.firsts), spreadFrom(r.gaps)
}

func spreadFrom(values []float64) spreadOf {
	if len(values) == 0 {
		return spreadOf{}
	}
	slices.Sort(values)
	return spreadOf{P50: quantile(values, 0.5), P99: quantile(values, 0.99), Max: values[len(values)-1]}
}

// quantile returns the value that the share q of sorted values does not exceed.
func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// verdict says what is wrong, if anything is.
func (r *report) verdict() error {
	switch {
	case r.Different > 0:
		return fmt.Errorf("%d answers differ from those of the same requests alone", r.Different)
	case r.Failed > 0:
		return fmt.Errorf("%d requests failed, the first with: %s", r.Failed, r.Errors[0])
	case r.Left > 0:
		return fmt.Errorf("%d requests are left on the server", r.Left)
	case r.Answers == 0:
		return fmt.Errorf("no answer came to its end")
	}
	return nil
}
