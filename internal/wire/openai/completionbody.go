// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"encoding/json"
	"io"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/token"
)

type completionBody struct {
	ID          string             `json:"id"`
	Object      string             `json:"object"`
	Created     int64              `json:"created"`
	Model       string             `json:"model"`
	Choices     []completionChoice `json:"choices"`
	Usage       json.RawMessage    `json:"usage,omitempty"`
	Fingerprint string             `json:"system_fingerprint"`
	Sampo       *timingsBody       `json:"sampo,omitempty"`
}

type completionChoice struct {
	Index          int                        `json:"index"`
	Text           string                     `json:"text"`
	Logprobs       *later[completionLogprobs] `json:"logprobs"`
	FinishReason   *chat.Reason               `json:"finish_reason"`
	StopReason     json.RawMessage            `json:"stop_reason"`
	PromptLogprobs *later[[]json.RawMessage]  `json:"prompt_logprobs,omitempty"`
	PromptTokenIDs *[]token.ID                `json:"prompt_token_ids,omitempty"`
	PromptText     *string                    `json:"prompt_text,omitempty"`
	TokenIDs       *[]token.ID                `json:"token_ids,omitempty"`
	SampoTokens    []explainedToken           `json:"sampo_tokens,omitempty"` // on the playground's route only
}

// WriteBody writes the answer to a request that does not stream. Its error is the writer's.
func (r *CompletionRequest) WriteBody(w io.Writer, h Head, a *chat.Answer) error {
	p := newParts()
	body := r.base(h)
	body.Usage, body.Sampo = encode(newUsage(a.Usage)), newTimings(a.Timings)
	for i := range a.Prompts {
		body.Sampo.explained(&a.Prompts[i])
	}
	for i, c := range a.Choices {
		prompt := &a.Prompts[i/r.Completion.Choices]
		out := completionChoice{Index: i, FinishReason: &c.Finish.Reason, StopReason: stopReason(c.Finish)}
		r.tellPrompt(p, &out, prompt)
		out.Text += c.Text
		if top := r.Completion.Logprobs; top != nil {
			out.Logprobs = r.completionLogprobs(p, r.echoed(prompt), c.Tokens, *top, 0)
		}
		if r.ReturnTokenIDs {
			out.TokenIDs = tokenIDs(c.Tokens)
		}
		out.SampoTokens = r.explainedTokens(c.Tokens)
		body.Choices = append(body.Choices, out)
	}
	return p.send(w, body)
}

// echoed returns the tokens of the prompt that come before an answer's.
func (r *CompletionRequest) echoed(p *chat.PromptInfo) []chat.Token {
	if !r.Completion.Echo {
		return nil
	}
	return p.Logprobs
}

func (r *CompletionRequest) base(h Head) completionBody {
	return completionBody{ID: h.ID, Object: "text_completion", Created: h.Created.Unix(), Model: h.Model, Fingerprint: h.Fingerprint}
}

// tellPrompt puts into a choice what it says about its prompt: the echo, ids, logprobs.
func (r *CompletionRequest) tellPrompt(later *parts, c *completionChoice, p *chat.PromptInfo) {
	if r.ReturnTokenIDs {
		c.PromptTokenIDs = promptIDs(p.Tokens)
	} else {
		c.Text = p.Echo
	}
	if n := r.Completion.PromptLogprobs; n != nil {
		c.PromptLogprobs = promptLogprobs(later, p.Logprobs, *n)
	}
	if r.PromptText {
		c.PromptText = &p.Text
	}
}

// A CompletionStream writes the deltas of an answer as events. Each of the byte slices that its methods return is
// one event, to be sent in one piece.
type CompletionStream struct {
	req     *CompletionRequest
	head    Head
	prompts map[int]*chat.PromptInfo
	begun   map[int]bool // choices
	offset  map[int]int  // per choice: code points of the tokens so far
	last    chat.Delta
}

// Events returns a writer of the events that answer r.
func (r *CompletionRequest) Events(h Head) *CompletionStream {
	return &CompletionStream{req: r, head: h, prompts: map[int]*chat.PromptInfo{}, begun: map[int]bool{}, offset: map[int]int{}}
}

// Delta returns the events for d.
func (s *CompletionStream) Delta(d chat.Delta) [][]byte {
	s.last = d
	if d.Prompt != nil {
		s.prompts[d.Prompt.Index] = d.Prompt
	}
	c := completionChoice{Index: d.Choice, StopReason: null}
	var echo []chat.Token
	if prompt := s.prompts[d.Choice/s.req.Completion.Choices]; !s.begun[d.Choice] && prompt != nil {
		s.begun[d.Choice] = true
		s.req.tellPrompt(nil, &c, prompt)
		echo = s.req.echoed(prompt)
	}
	for _, e := range d.Events {
		c.Text += e.Text
	}
	if top := s.req.Completion.Logprobs; top != nil && len(echo)+len(d.Tokens) > 0 {
		c.Logprobs = s.req.completionLogprobs(nil, echo, d.Tokens, *top, s.offset[d.Choice])
		s.offset[d.Choice] += codePoints(echo) + codePoints(d.Tokens)
	}
	if s.req.ReturnTokenIDs {
		c.TokenIDs = tokenIDs(d.Tokens)
	}
	c.SampoTokens = s.req.explainedTokens(d.Tokens)
	body := s.req.base(s.head)
	if d.Finish != nil {
		c.FinishReason, c.StopReason = &d.Finish.Reason, stopReason(*d.Finish)
		body.Sampo = newTimings(d.Timings).explained(s.prompts[d.Choice/s.req.Completion.Choices])
	}
	body.Choices = []completionChoice{c}
	switch {
	case s.req.ContinuousUsage:
		body.Usage = encode(newUsage(d.Usage))
	case s.req.IncludeUsage:
		body.Usage = null
	}
	return [][]byte{event(body)}
}

// End returns the events that end the stream, after every choice has finished.
func (s *CompletionStream) End() [][]byte {
	var events [][]byte
	if s.req.IncludeUsage {
		body := s.req.base(s.head)
		body.Choices = []completionChoice{}
		body.Usage, body.Sampo = encode(newUsage(s.last.Total)), newTimings(s.last.Timings)
		events = append(events, event(body))
	}
	return append(events, []byte(Done))
}
