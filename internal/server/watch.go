// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
)

// A watched is an answer whose deltas are counted on their way to the client. What was sampled after a stop string
// never passes here, and so counts nowhere.
type watched struct {
	*answer.Stream
	x    *exchange
	m    *modelMetrics
	last map[int]time.Time // per choice: when its latest token was made
}

// watch returns the stream with its deltas counted for x.
func (x *exchange) watch(s *answer.Stream, choices int) *watched {
	m := x.s.metrics.models[x.model]
	m.choices.Observe(float64(max(1, choices)))
	x.usage = s.Usage() // should it be cut off before its first token
	return &watched{Stream: s, x: x, m: m, last: map[int]time.Time{}}
}

// Next implements answer.Source.
func (w *watched) Next() (chat.Delta, error) {
	d, err := w.Stream.Next()
	if err != nil {
		return d, err
	}
	x := w.x
	if x.firstToken.IsZero() && len(d.Tokens) > 0 {
		x.firstToken = d.At
		w.m.first.Observe(max(0, d.At.Sub(x.begun).Seconds()))
	}
	if d.Prompt != nil {
		w.countPrompt(d.Usage)
	}
	w.m.outputTokens.Add(float64(len(d.Tokens)))
	if len(d.Tokens) > 0 {
		if last, ok := w.last[d.Choice]; ok {
			w.m.between.Observe(max(0, d.At.Sub(last).Seconds()))
		}
		w.last[d.Choice] = d.At
	}
	x.usage, x.timings = d.Total, d.Timings
	if d.Finish != nil {
		w.m.finished.WithLabelValues(finishLabel(d.Finish.Reason)).Inc()
		x.finish = string(d.Finish.Reason)
		x.finishes = append(x.finishes, make([]string, max(0, d.Choice+1-len(x.finishes)))...)
		x.finishes[d.Choice] = x.finish
	}
	return d, nil
}

// Close implements answer.Source. What was computed for an answer that is cut off counts like what was told.
func (w *watched) Close() {
	w.Stream.Close()
	u := w.Untold()
	w.x.usage.CachedTokens += u.CachedTokens
	w.x.usage.OutputTokens += u.OutputTokens
	w.x.usage.ReasoningTokens += u.ReasoningTokens
	w.countPrompt(u)
	w.m.outputTokens.Add(float64(u.OutputTokens))
}

func (w *watched) countPrompt(u chat.Usage) {
	w.m.promptTokens.Add(float64(u.PromptTokens))
	w.m.queries.Add(float64(u.PromptTokens))
	w.m.cachedTokens.Add(float64(u.CachedTokens))
	w.m.hits.Add(float64(u.CachedTokens))
}
