// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/sampo-ai/sampo/internal/chat"
)

// An Ask is what a model is asked for.
type Ask struct {
	Operation string // chat or text_completion
	Model     string
	Stream    bool
	Params    *chat.Params
}

// Ask opens the INTERNAL span of the model's work.
func (q *Request) Ask(a Ask) {
	if q == nil || !q.server.IsRecording() {
		return
	}
	p := a.Params
	attrs := []attribute.KeyValue{
		attribute.String(operationName, a.Operation), attribute.String(providerName, provider), attribute.String(requestModel, a.Model),
		attribute.Bool(requestStream, a.Stream), attribute.String(outputType, "text"),
	}
	if p.Choices > 1 {
		attrs = append(attrs, attribute.Int(requestChoices, p.Choices))
	}
	attrs = append(attrs, numbers(p)...)
	if p.Session != "" {
		attrs = append(attrs, attribute.String(conversationID, p.Session))
	}
	if len(p.Stop) > 0 {
		attrs = append(attrs, attribute.StringSlice(requestStops, p.Stop))
	}
	q.model = a.Model
	_, q.work = q.tracer.tracer.Start(q.ctx, a.Operation+" "+a.Model,
		trace.WithSpanKind(trace.SpanKindInternal), trace.WithTimestamp(q.begun), trace.WithAttributes(attrs...))
}

// numbers lists the parameters that the request set.
func numbers(p *chat.Params) (attrs []attribute.KeyValue) {
	for name, v := range map[string]*float64{requestTemp: p.Temperature, requestTopP: p.TopP} {
		if v != nil {
			attrs = append(attrs, attribute.Float64(name, *v))
		}
	}
	for name, v := range map[string]float64{requestFrequency: p.FrequencyPenalty, requestPresence: p.PresencePenalty} {
		if v != 0 {
			attrs = append(attrs, attribute.Float64(name, v))
		}
	}
	for name, v := range map[string]*int{requestMaxTokens: p.MaxTokens, requestTopK: p.TopK} {
		if v != nil {
			attrs = append(attrs, attribute.Int(name, *v))
		}
	}
	if p.Seed != nil {
		attrs = append(attrs, attribute.Int64(requestSeed, *p.Seed))
	}
	return attrs
}

// endWork tells the INTERNAL span what came out.
func (q *Request) endWork(o *Outcome) {
	if q.work == nil {
		return
	}
	w := q.work
	if !o.Dispatched.IsZero() {
		w.AddEvent(eventDispatched, trace.WithTimestamp(o.Dispatched))
	}
	if !o.FirstToken.IsZero() {
		w.AddEvent(eventFirstToken, trace.WithTimestamp(o.FirstToken))
		w.SetAttributes(attribute.Float64(firstChunk, math.Max(0, o.FirstToken.Sub(q.begun).Seconds())))
	}
	if o.AnswerID != "" {
		w.SetAttributes(
			attribute.String(responseID, o.AnswerID), attribute.String(responseModel, q.model), attribute.Int(inputTokens, o.Usage.Input), attribute.Int(cachedTokens, o.Usage.Cached),
			attribute.Int(outputTokens, o.Usage.Output), attribute.Int(reasoningTokens, o.Usage.Reasoning),
		)
	}
	if len(o.Finishes) > 0 {
		w.SetAttributes(attribute.StringSlice(finishReasons, o.Finishes))
	}
	q.failed(w, o)
	w.End()
}
