// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/tracing"
)

// ask notes what a request wants of which model.
func (x *exchange) ask(m Model, operation string, p *chat.Params) {
	x.model = m.Name
	x.span.Ask(tracing.Ask{Operation: operation, Model: m.Name, Stream: x.stream, Params: p})
}

// endSpan tells the tracer what became of the request.
func (x *exchange) endSpan() {
	if x.span == nil {
		return
	}
	o := tracing.Outcome{
		Status: x.status, Error: x.failure, ID: x.id, AnswerID: x.answerID, Finishes: x.finishes, FirstToken: x.firstToken,
		Usage: tracing.Usage{Input: x.usage.PromptTokens, Cached: x.usage.CachedTokens, Output: x.usage.OutputTokens, Reasoning: x.usage.ReasoningTokens},
	}
	if x.finish == "abort" {
		o.Error = "client_gone"
	}
	if !x.firstToken.IsZero() {
		o.Dispatched = x.firstToken.Add(-x.timings.Prefill)
	}
	x.span.End(o)
}
