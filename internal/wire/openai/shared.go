// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A Head is what all chunks of an answer share.
type Head struct {
	ID          string // with its prefix
	Model       string
	Fingerprint string
	Created     time.Time
}

// Done is the event that ends a stream.
const Done = "data: [DONE]\n\n"

var null = json.RawMessage("null")

// encode returns compact JSON without HTML escapes. Values that JSON lacks were clamped before.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("openai: " + err.Error())
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// event returns v as one server-sent event.
func event(v any) []byte {
	return append(append([]byte("data: "), encode(v)...), "\n\n"...)
}

type usageBody struct {
	PromptTokens        int                 `json:"prompt_tokens"`
	CompletionTokens    int                 `json:"completion_tokens"`
	TotalTokens         int                 `json:"total_tokens"`
	PromptTokensDetails promptTokensDetails `json:"prompt_tokens_details"`
	OutputTokensDetails outputTokensDetails `json:"completion_tokens_details"`
}

type promptTokensDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

type outputTokensDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

func newUsage(u chat.Usage) usageBody {
	return usageBody{
		PromptTokens: u.PromptTokens, CompletionTokens: u.OutputTokens, TotalTokens: u.PromptTokens + u.OutputTokens,
		PromptTokensDetails: promptTokensDetails{u.CachedTokens}, OutputTokensDetails: outputTokensDetails{u.ReasoningTokens},
	}
}

type timingsBody struct {
	QueueMS                float64 `json:"queue_ms"`
	PrefillMS              float64 `json:"prefill_ms"`
	DecodeMS               float64 `json:"decode_ms"`
	PrefillTokensPerSecond float64 `json:"prefill_tokens_per_second"`
	DecodeTokensPerSecond  float64 `json:"decode_tokens_per_second"`
	CachedTokens           int     `json:"cached_tokens"`
	Explain                []any   `json:"explain,omitempty"`
}

// An explainBody is what X-Sampo-Explain adds for each prompt.
type explainBody struct {
	Template     *string         `json:"template"`
	Prompt       string          `json:"prompt"`
	Segments     []segmentBody   `json:"segments"`
	TokenIDs     *[]token.ID     `json:"token_ids"`
	PromptTokens int             `json:"prompt_tokens"`
	Plan         json.RawMessage `json:"plan"`
}

type segmentBody struct {
	Origin string `json:"origin"` // template or data
	Text   string `json:"text"`
}

// explained adds to timings how the prompts came to be, where that was asked for.
func (t *timingsBody) explained(prompts ...*chat.PromptInfo) *timingsBody {
	for _, p := range prompts {
		if p == nil || p.Explanation == nil {
			continue
		}
		e := explainBody{Prompt: p.Text, TokenIDs: promptIDs(p.Tokens), PromptTokens: len(p.Tokens), Plan: ordjson.Append(nil, p.Explanation.Plan)}
		if p.Explanation.Template != "" {
			e.Template = &p.Explanation.Template
		}
		for _, s := range p.Explanation.Segments {
			origin := "template"
			if s.Data {
				origin = "data"
			}
			e.Segments = append(e.Segments, segmentBody{origin, s.Text})
		}
		t.Explain = append(t.Explain, e)
	}
	return t
}

func newTimings(t chat.Timings) *timingsBody {
	return &timingsBody{
		QueueMS: milliseconds(t.Queue), PrefillMS: milliseconds(t.Prefill), DecodeMS: milliseconds(t.Decode),
		PrefillTokensPerSecond: perSecond(t.PrefillTokens, t.Prefill), DecodeTokensPerSecond: perSecond(t.DecodeTokens, t.Decode),
		CachedTokens: t.CachedTokens,
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// perSecond returns a rate with two digits after the point.
func perSecond(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return math.Round(float64(n)/d.Seconds()*100) / 100
}

// stopReason is the string or the id of the stop that was met, else null.
func stopReason(f chat.Finish) json.RawMessage {
	switch {
	case f.StopString != "":
		return encode(f.StopString)
	case f.StopToken > token.None:
		return encode(f.StopToken)
	}
	return null
}

// tokenIDs returns the ids of tokens; the list is never null.
func tokenIDs(tokens []chat.Token) *[]token.ID {
	ids := make([]token.ID, len(tokens))
	for i, t := range tokens {
		ids[i] = t.ID
	}
	return &ids
}

// promptIDs returns ids as a list that is never null.
func promptIDs(ids []token.ID) *[]token.ID {
	if ids == nil {
		ids = []token.ID{}
	}
	return &ids
}
