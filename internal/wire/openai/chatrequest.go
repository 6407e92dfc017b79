// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"math"
	"slices"
	"strconv"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

// A ChatRequest is the body of POST /v1/chat/completions.
type ChatRequest struct {
	Common
	Chat          chat.Request
	HideReasoning bool
}

// DecodeChat reads and checks a body. What depends on the model is checked later.
func DecodeChat(body []byte) (*ChatRequest, *Error) {
	f, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := f.readChat()
	f.leftovers()
	r.Unknown, r.Refused = f.unknown, f.refused
	return r, f.err
}

func (f *fields) readChat() *ChatRequest {
	r := &ChatRequest{}
	f.readCommon(&r.Common, &r.Chat.Params)
	f.readConversation(&r.Chat)
	f.readChatLimits(&r.Common, &r.Chat.Params)
	f.readChatLogprobs(&r.Chat.Params)
	if b := f.boolean("include_reasoning"); b != nil {
		r.HideReasoning = !*b
	}
	f.refuseMedia()
	f.ignore(ignoredByChat...)
	return r
}

// readConversation reads what the template sees. /tokenize shares it.
func (f *fields) readConversation(r *chat.Request) {
	r.Messages = f.readMessages()
	f.readTools(r)
	f.readDocuments(r)
	f.readPromptEnd(r)
	f.readTemplate(r)
}

func (f *fields) readDocuments(r *chat.Request) {
	r.Documents = f.array("documents")
	for i, d := range r.Documents {
		if _, ok := d.(*ordjson.Object); !ok {
			f.wrongType(index("documents", i), "an object", d)
		}
	}
}

func (f *fields) readPromptEnd(r *chat.Request) {
	either := func(name string) *bool {
		b := f.boolean(name)
		if kwargs := f.object("chat_template_kwargs"); b == nil && kwargs != nil {
			b = kwargs.boolean(name)
		}
		return b
	}
	add, open := either("add_generation_prompt"), either("continue_final_message")
	r.ContinueFinal = open != nil && *open
	r.AddGenerationPrompt = !r.ContinueFinal
	if add != nil {
		r.AddGenerationPrompt = *add
	}
	if r.ContinueFinal && r.AddGenerationPrompt {
		f.fail(CodeInvalidValue, "continue_final_message", "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
	}
}

// readTemplate reads the template's variables. Of the switches the named fields win over those in the object, and of
// those the one that says more: thinking, enable_thinking, reasoning_effort.
func (f *fields) readTemplate(r *chat.Request) {
	f.refuseField("chat_template", "Chat template is passed with request, but this server takes templates from its operator only. "+
		"Leave it out; chat_template_kwargs sets variables of the model's template, and sampo serve --chat-template FILE replaces it.")
	kwargs := f.object("chat_template_kwargs")
	var enabled *bool
	if kwargs != nil {
		r.Kwargs = kwargs.obj.Clone()
		for _, name := range []string{"chat_template", "tokenize"} {
			if kwargs.has(name) {
				f.fail(CodeInvalidValue, kwargs.param(name), "chat_template_kwargs cannot contain %q.", name)
			}
		}
		enabled = kwargs.boolean("enable_thinking")
		r.Effort = kwargs.readEffort()
		f.takeOut(kwargs, r.Kwargs)
	}
	if e := f.readEffort(); e != "" {
		r.Effort = e
	}
	top := f.boolean("enable_thinking")
	r.Thinking = firstSet(f.readThinking(r), top, enabled)
	const budget = "thinking_token_budget"
	if n := f.readBudget(budget); n != nil || f.raw(budget) != nil {
		r.Budget = n
	}
	if r.Thinking == nil && r.Effort != "" {
		on := r.Effort != "none"
		r.Thinking = &on
	}
}

// takeOut deletes the variables that fields of the request set. The conversation itself has no other place than its fields.
func (f *fields) takeOut(kwargs *fields, vars *ordjson.Object) {
	for _, name := range []string{"enable_thinking", "reasoning_effort", "add_generation_prompt", "continue_final_message"} {
		vars.Delete(name)
	}
	for _, name := range []string{"messages", "tools"} {
		if kwargs.raw(name) != nil {
			f.unknown = append(f.unknown, kwargs.param(name))
		}
		vars.Delete(name)
	}
	if f.raw("documents") != nil {
		vars.Delete("documents")
	}
}

func firstSet(list ...*bool) *bool {
	for _, b := range list {
		if b != nil {
			return b
		}
	}
	return nil
}

// readEffort returns a known word or a number from 1 to 100, which may come as a string.
func (f *fields) readEffort() string {
	const name = "reasoning_effort"
	v := f.raw(name)
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		words := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
		if n, err := strconv.Atoi(v); slices.Contains(words, v) || err == nil && n >= 1 && n <= 100 {
			return v
		}
	case ordjson.Number:
		if n, ok := v.Int64(); ok && n >= 1 && n <= 100 {
			return strconv.FormatInt(n, 10)
		}
	default:
		f.wrongType(name, "a string or a number", v)
		return ""
	}
	f.outOfRange(name, "none, minimal, low, medium, high, xhigh, max or a number from 1 to 100")
	return ""
}

// readThinking reads the switch, and a budget that may stand beside it.
func (f *fields) readThinking(r *chat.Request) *bool {
	o := f.object("thinking")
	if o == nil {
		return nil
	}
	r.Budget = o.readBudget("budget_tokens")
	kind := o.str("type")
	o.leftovers()
	on := false
	switch kind {
	case "enabled":
		on = true
	case "disabled":
	default:
		f.fail(CodeInvalidValue, o.param("type"), "thinking.type must be \"enabled\" or \"disabled\".")
		return nil
	}
	return &on
}

func (f *fields) readChatLimits(c *Common, p *chat.Params) {
	c.LimitField = "max_tokens"
	p.MaxTokens = f.count("max_tokens", "at least 1", 1, math.MaxInt64)
	if n := f.count("max_completion_tokens", "at least 1", 1, math.MaxInt64); n != nil {
		p.MaxTokens = n
		c.LimitField = "max_completion_tokens"
	}
	f.readMinTokens(p)
}

func (f *fields) readMinTokens(p *chat.Params) {
	n := f.count("min_tokens", "at least 0", 0, math.MaxInt64)
	if n == nil {
		return
	}
	p.MinTokens = *n
	if p.MaxTokens != nil && *n > *p.MaxTokens {
		f.fail(CodeInvalidValue, "min_tokens", "min_tokens must be less than or equal to max_tokens=%d, got %d.", *p.MaxTokens, *n)
	}
}

func (f *fields) readChatLogprobs(p *chat.Params) {
	on := f.flag("logprobs")
	top := f.readTop("top_logprobs")
	switch {
	case on && top != nil:
		p.Logprobs = top
	case on:
		p.Logprobs = new(int)
	case top != nil && *top != 0:
		f.fail(CodeInvalidValue, "top_logprobs", "when using `top_logprobs`, `logprobs` must be set to true.")
	}
}

// refuseMedia refuses what needs more than text, and OpenAI's hosted services.
func (f *fields) refuseMedia() {
	for i, v := range f.array("modalities") {
		if s, ok := v.(string); !ok || s != "text" {
			f.refuse(CodeUnsupportedValue, "modalities", "This model answers with text only: modalities[%d] is not supported.", i)
		}
	}
	f.refuseField("audio", "audio is not supported: this model answers with text only.")
	f.refuseField("prediction", "prediction is not supported.")
	f.refuseField("web_search_options", "web_search_options is not supported: this server does not search the web.")
	f.refuseField("moderation", "moderation is not supported.")
}
