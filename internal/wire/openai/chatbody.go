// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"encoding/json"
	"io"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/token"
)

type chatBody struct {
	ID             string                    `json:"id"`
	Object         string                    `json:"object"`
	Created        int64                     `json:"created"`
	Model          string                    `json:"model"`
	Choices        []chatChoice              `json:"choices"`
	Usage          usageBody                 `json:"usage"`
	Fingerprint    string                    `json:"system_fingerprint"`
	PromptLogprobs *later[[]json.RawMessage] `json:"prompt_logprobs,omitempty"`
	PromptTokenIDs *[]token.ID               `json:"prompt_token_ids,omitempty"`
	PromptText     *string                   `json:"prompt_text,omitempty"`
	Sampo          *timingsBody              `json:"sampo"`
}

type chatChoice struct {
	Index        int                  `json:"index"`
	Message      chatMessage          `json:"message"`
	Logprobs     *later[chatLogprobs] `json:"logprobs"`
	FinishReason chat.Reason          `json:"finish_reason"`
	StopReason   json.RawMessage      `json:"stop_reason"`
	TokenIDs     *[]token.ID          `json:"token_ids,omitempty"`
}

type chatMessage struct {
	Role             string     `json:"role"`
	Content          *string    `json:"content"`
	Refusal          *string    `json:"refusal"`
	ReasoningContent *string    `json:"reasoning_content,omitempty"`
	Reasoning        *string    `json:"reasoning,omitempty"`
	ToolCalls        []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function toolCallFunction `json:"function"`
}

type toolCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// WriteBody writes the answer to a request that does not stream. Its error is the writer's.
func (r *ChatRequest) WriteBody(w io.Writer, h Head, a *chat.Answer) error {
	p := newParts()
	body := chatBody{
		ID: h.ID, Object: "chat.completion", Created: h.Created.Unix(), Model: h.Model, Fingerprint: h.Fingerprint,
		Usage: newUsage(a.Usage), Sampo: newTimings(a.Timings).explained(&a.Prompts[0]),
	}
	prompt := a.Prompts[0]
	if n := r.Chat.PromptLogprobs; n != nil {
		body.PromptLogprobs = promptLogprobs(p, prompt.Logprobs, *n)
	}
	if r.ReturnTokenIDs {
		body.PromptTokenIDs = promptIDs(prompt.Tokens)
	}
	if r.PromptText {
		body.PromptText = &prompt.Text
	}
	for i, c := range a.Choices {
		body.Choices = append(body.Choices, r.choice(p, i, c, prompt.Echo))
	}
	return p.send(w, body)
}

func (r *ChatRequest) choice(p *parts, i int, c chat.Choice, echo string) chatChoice {
	out := chatChoice{Index: i, Message: r.message(c, echo), FinishReason: c.Finish.Reason, StopReason: stopReason(c.Finish)}
	if r.Chat.Logprobs != nil && !r.HideReasoning {
		out.Logprobs = r.chatLogprobs(p, c.Tokens)
	}
	if r.ReturnTokenIDs && !r.HideReasoning {
		out.TokenIDs = tokenIDs(c.Tokens)
	}
	return out
}

func (r *ChatRequest) message(c chat.Choice, echo string) chatMessage {
	text := echo + c.Text
	m := chatMessage{Role: "assistant", Content: &text}
	if text == "" && len(c.Calls) > 0 {
		m.Content = nil
	}
	if c.Reasoning != "" && !r.HideReasoning {
		m.ReasoningContent, m.Reasoning = &c.Reasoning, &c.Reasoning
	}
	for _, call := range c.Calls {
		m.ToolCalls = append(m.ToolCalls, toolCall{callID(call.ID), "function", toolCallFunction{call.Name, call.Arguments}})
	}
	return m
}

// callID gives the id of a call the form that this API's clients know.
func callID(id string) string { return "chatcmpl-tool-" + id }
