// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"math"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

const emptyPrompt = "Either prompt or prompt_embeds must be provided and non-empty."

// A CompletionRequest is the body of POST /v1/completions.
type CompletionRequest struct {
	Common
	Completion chat.Completion
	Explain    *int // tell so many candidates for each token; nil: none
}

// DecodeCompletion reads and checks a body. What depends on the model is checked later.
func DecodeCompletion(body []byte) (*CompletionRequest, *Error) {
	f, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := f.readCompletion()
	f.leftovers()
	r.Unknown, r.Refused = f.unknown, f.refused
	return r, f.err
}

// DecodePlayground reads and checks a body of POST /api/playground/complete: a completion with one prompt, which may ask
// for an explanation. Unknown fields are for the caller to refuse.
func DecodePlayground(body []byte) (*CompletionRequest, *Error) {
	f, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := f.readPlayground()
	f.leftovers()
	r.Unknown, r.Refused = f.unknown, f.refused
	return r, f.err
}

func (f *fields) readPlayground() *CompletionRequest {
	r := f.readCompletion()
	p := &r.Completion.Params
	r.Explain = f.count("explain", "between 0 and 20", 0, maxTop)
	p.Candidates, p.Fresh = r.Explain, f.flag("fresh")
	if n := len(r.Completion.Prompts); n > 1 {
		f.fail(CodeInvalidValue, "prompt", "prompt must be one text or one list of token ids, got %d.", n)
	}
	if p.Candidates != nil && p.Beam != nil {
		f.fail(CodeInvalidValue, "explain", "explain is not available with beam search: no token is drawn.")
	}
	return r
}

func (f *fields) readCompletion() *CompletionRequest {
	r := &CompletionRequest{}
	p := &r.Completion.Params
	f.readCommon(&r.Common, p)
	r.Completion.Prompts = f.readPrompts()
	if p.Beam != nil && len(r.Completion.Prompts)*p.Beam.Width > MaxChoices {
		f.fail(CodeInvalidValue, "prompt", "The number of prompts times beam_width can be at most %d, got %d.", MaxChoices, len(r.Completion.Prompts)*p.Beam.Width)
	}
	if n := len(r.Completion.Prompts) * p.Choices; n > MaxChoices {
		f.fail(CodeInvalidValue, "prompt", "The number of prompts times n can be at most %d, got %d.", MaxChoices, n)
	}
	f.readCompletionLimits(&r.Common, p)
	if p.Logprobs = f.readTop("logprobs"); p.Logprobs != nil && f.err != nil {
		p.Logprobs = nil
	}
	if s := f.str("suffix"); s != "" {
		f.refuse(CodeUnsupportedParameter, "suffix", "suffix is not supported.")
	}
	if n := f.readBudget("thinking_token_budget"); n != nil {
		f.refuse(CodeUnsupportedParameter, "thinking_token_budget", "thinking_token_budget is not supported here: completions are raw text.")
	}
	f.ignore(ignoredByCompletion...)
	return r
}

// readCompletionLimits tells an omitted max_tokens, which is 16, from null, which is the rest of the context.
func (f *fields) readCompletionLimits(c *Common, p *chat.Params) {
	const defaultTokens = 16
	c.LimitField = "max_tokens"
	p.MaxTokens = f.count("max_tokens", "at least 0", 0, math.MaxInt64)
	if !f.has("max_tokens") {
		n := defaultTokens
		p.MaxTokens = &n
	}
	if p.MaxTokens != nil && *p.MaxTokens == 0 && !p.Echo {
		f.fail(CodeInvalidValue, "max_tokens", "max_tokens must be at least 1, got 0.")
	}
	f.readMinTokens(p)
}

// readPrompts reads the four forms: a text, texts, token ids, lists of token ids.
func (f *fields) readPrompts() []chat.Prompt {
	switch v := f.raw("prompt").(type) {
	case nil:
		f.fail(CodeMissing, "prompt", emptyPrompt)
	case string:
		if v != "" {
			return []chat.Prompt{{Text: v}}
		}
		f.fail(CodeInvalidValue, "prompt", emptyPrompt)
	case []any:
		return f.readPromptList(v)
	default:
		f.wrongType("prompt", "a string or an array", v)
	}
	return nil
}

func (f *fields) readPromptList(list []any) []chat.Prompt {
	if len(list) == 0 {
		f.fail(CodeInvalidValue, "prompt", emptyPrompt)
		return nil
	}
	if _, ok := list[0].(ordjson.Number); ok {
		return []chat.Prompt{{Tokens: f.toIDs("prompt", list)}}
	}
	if len(list) > MaxChoices {
		f.fail(CodeInvalidValue, "prompt", "The number of prompts times n can be at most %d, got %d.", MaxChoices, len(list))
		return nil
	}
	prompts := make([]chat.Prompt, 0, len(list))
	for i, v := range list {
		prompts = append(prompts, f.readPrompt(index("prompt", i), v, list[0]))
	}
	return prompts
}

// readPrompt reads one prompt of a list, which must be of the same kind as the first.
func (f *fields) readPrompt(path string, v, first any) chat.Prompt {
	if kindOf(v) != kindOf(first) {
		f.fail(CodeInvalidType, path, "%s is %s, but the first prompt is %s.", path, kindOf(v), kindOf(first))
		return chat.Prompt{}
	}
	switch v := v.(type) {
	case string:
		if v == "" {
			f.fail(CodeInvalidValue, path, "The decoder prompt cannot be empty")
		}
		return chat.Prompt{Text: v}
	case []any:
		if len(v) == 0 {
			f.fail(CodeInvalidValue, path, "The decoder prompt cannot be empty")
		}
		return chat.Prompt{Tokens: f.toIDs(path, v)}
	}
	f.fail(CodeInvalidType, path, "%s must be a string or an array of token ids, got %s.", path, kindOf(v))
	return chat.Prompt{}
}
