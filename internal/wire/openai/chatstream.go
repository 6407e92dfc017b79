// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"encoding/json"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/token"
)

type chatChunk struct {
	ID             string                    `json:"id"`
	Object         string                    `json:"object"`
	Created        int64                     `json:"created"`
	Model          string                    `json:"model"`
	Choices        []chunkChoice             `json:"choices"`
	Usage          json.RawMessage           `json:"usage,omitempty"`
	Fingerprint    string                    `json:"system_fingerprint"`
	PromptLogprobs *later[[]json.RawMessage] `json:"prompt_logprobs,omitempty"`
	PromptTokenIDs *[]token.ID               `json:"prompt_token_ids,omitempty"`
	PromptText     *string                   `json:"prompt_text,omitempty"`
	Sampo          *timingsBody              `json:"sampo,omitempty"`
}

type chunkChoice struct {
	Index        int                  `json:"index"`
	Delta        chunkDelta           `json:"delta"`
	Logprobs     *later[chatLogprobs] `json:"logprobs"`
	FinishReason *chat.Reason         `json:"finish_reason"`
	StopReason   json.RawMessage      `json:"stop_reason,omitempty"` // with the finish reason only
	TokenIDs     *[]token.ID          `json:"token_ids,omitempty"`
}

type chunkDelta struct {
	Role             string          `json:"role,omitempty"`
	Content          *string         `json:"content,omitempty"`
	ReasoningContent *string         `json:"reasoning_content,omitempty"`
	Reasoning        *string         `json:"reasoning,omitempty"`
	ToolCalls        []toolCallDelta `json:"tool_calls,omitempty"`
}

type toolCallDelta struct {
	Index    int           `json:"index"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// A ChatStream writes the deltas of an answer as events. Each of the byte slices that its methods return is one
// event, to be sent in one piece.
type ChatStream struct {
	req     *ChatRequest
	head    Head
	pending [][]chat.Token // per choice: tokens that no chunk has told of
	prompt  *chat.PromptInfo
	last    chat.Delta
	begun   bool
}

// Events returns a writer of the events that answer r.
func (r *ChatRequest) Events(h Head) *ChatStream {
	return &ChatStream{req: r, head: h, pending: make([][]chat.Token, r.Chat.Choices)}
}

// Delta returns the events for d. Before the first come those that open every choice.
func (s *ChatStream) Delta(d chat.Delta) [][]byte {
	var events [][]byte
	if !s.begun {
		s.begun = true
		s.prompt = d.Prompt
		events = s.open(d)
	}
	s.last = d
	s.pending[d.Choice] = append(s.pending[d.Choice], d.Tokens...)
	deltas := s.deltas(d)
	if len(deltas) == 0 && d.Finish != nil {
		deltas = []chunkDelta{{}}
	}
	for i, delta := range deltas {
		events = append(events, s.chunk(d, delta, i == len(deltas)-1))
	}
	return events
}

// End returns the events that end the stream, after every choice has finished.
func (s *ChatStream) End() [][]byte {
	var events [][]byte
	if s.req.IncludeUsage {
		chunk := s.base()
		chunk.Choices = []chunkChoice{}
		chunk.Usage = encode(newUsage(s.last.Total))
		chunk.Sampo = newTimings(s.last.Timings)
		events = append(events, event(chunk))
	}
	return append(events, []byte(Done))
}

func (s *ChatStream) base() chatChunk {
	return chatChunk{
		ID: s.head.ID, Object: "chat.completion.chunk", Created: s.head.Created.Unix(), Model: s.head.Model, Fingerprint: s.head.Fingerprint,
	}
}

// open returns the chunks that give each choice its role, and then those that echo.
func (s *ChatStream) open(d chat.Delta) [][]byte {
	var events [][]byte
	empty := ""
	usage := chat.Usage{PromptTokens: d.Usage.PromptTokens, CachedTokens: d.Usage.CachedTokens}
	for i := range s.req.Chat.Choices {
		chunk := s.base()
		chunk.Choices = []chunkChoice{{Index: i, Delta: chunkDelta{Role: "assistant", Content: &empty}}}
		chunk.Usage = s.usage(usage)
		if i == 0 {
			s.tellPrompt(&chunk, d.Prompt)
		}
		events = append(events, event(chunk))
	}
	if d.Prompt == nil || d.Prompt.Echo == "" {
		return events
	}
	for i := range s.req.Chat.Choices {
		chunk := s.base()
		chunk.Choices = []chunkChoice{{Index: i, Delta: chunkDelta{Content: &d.Prompt.Echo}}}
		chunk.Usage = s.usage(usage)
		events = append(events, event(chunk))
	}
	return events
}

func (s *ChatStream) tellPrompt(chunk *chatChunk, p *chat.PromptInfo) {
	if p == nil {
		return
	}
	if n := s.req.Chat.PromptLogprobs; n != nil {
		chunk.PromptLogprobs = promptLogprobs(nil, p.Logprobs, *n)
	}
	if s.req.ReturnTokenIDs {
		chunk.PromptTokenIDs = promptIDs(p.Tokens)
	}
	if s.req.PromptText {
		chunk.PromptText = &p.Text
	}
}

func (s *ChatStream) usage(u chat.Usage) json.RawMessage {
	switch {
	case s.req.ContinuousUsage:
		return encode(newUsage(u))
	case s.req.IncludeUsage:
		return null
	}
	return nil
}

// deltas returns what d adds to its choice, a piece for each chunk. A step whose text is held back gives an empty
// piece, so that a client sees the pace; none while markup is held back.
func (s *ChatStream) deltas(d chat.Delta) []chunkDelta {
	var list []chunkDelta
	for _, e := range d.Events {
		switch e.Kind {
		case chat.Text:
			list = append(list, chunkDelta{Content: &e.Text})
		case chat.Reasoning:
			if !s.req.HideReasoning {
				list = append(list, chunkDelta{ReasoningContent: &e.Text, Reasoning: &e.Text})
			}
		case chat.CallStart:
			list = append(list, chunkDelta{ToolCalls: []toolCallDelta{{Index: e.Call, ID: callID(e.ID), Type: "function", Function: functionDelta{Name: e.Name}}}})
		case chat.CallArguments:
			list = append(list, chunkDelta{ToolCalls: []toolCallDelta{{Index: e.Call, Function: functionDelta{Arguments: e.Text}}}})
		}
	}
	quiet := d.InMarkup && !s.req.ReturnTokenIDs || len(d.Tokens) == 0
	if len(d.Events) == 0 && d.Finish == nil && !quiet {
		empty := ""
		list = append(list, chunkDelta{Content: &empty})
	}
	return list
}

// chunk returns one chunk of d's choice. The first one of a step tells of its tokens, the last one of its end.
func (s *ChatStream) chunk(d chat.Delta, delta chunkDelta, last bool) []byte {
	chunk := s.base()
	choice := chunkChoice{Index: d.Choice, Delta: delta}
	tokens := s.pending[d.Choice]
	s.pending[d.Choice] = nil
	if s.req.Chat.Logprobs != nil && !s.req.HideReasoning && len(tokens) > 0 {
		choice.Logprobs = s.req.chatLogprobs(nil, tokens)
	}
	if s.req.ReturnTokenIDs && !s.req.HideReasoning {
		choice.TokenIDs = tokenIDs(tokens)
	}
	if last && d.Finish != nil {
		choice.FinishReason, choice.StopReason = &d.Finish.Reason, stopReason(*d.Finish)
		chunk.Sampo = newTimings(d.Timings).explained(s.prompt)
	}
	chunk.Choices = []chunkChoice{choice}
	chunk.Usage = s.usage(d.Usage)
	return event(chunk)
}
