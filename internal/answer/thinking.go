// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// efforts say what the words for a reasoning effort mean to a model's template.
type efforts struct {
	words   map[string]string // what the template is given; a word that is not there is refused
	numbers bool              // 1 to 100 are taken too
	unset   string            // given when nothing was asked for; "" leaves it to the template
	off     string            // given when thinking is off
	always  bool              // the model can't do without thinking
}

// effortsOf finds the table for a template by what only its family has. Templates that don't look at the effort take
// every word: it turns thinking on, and nothing else.
func effortsOf(template string) efforts {
	switch {
	case !strings.Contains(template, "reasoning_effort"):
		return efforts{words: map[string]string{"minimal": "", "low": "", "medium": "", "high": "", "xhigh": "", "max": ""}}
	case strings.Contains(template, "[gMASK]"):
		return efforts{
			words: map[string]string{"low": "low", "high": "high", "minimal": "max", "medium": "max", "xhigh": "max", "max": "max"},
			unset: "max", off: "high",
		}
	case strings.Contains(template, "\uFF5C"): // the wide bar of DeepSeek's markers
		return efforts{
			words:   map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max"},
			numbers: true, unset: "high",
		}
	case strings.Contains(template, "<|channel|>"):
		return efforts{
			words:  map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"},
			always: true,
		}
	}
	return efforts{words: map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "xhigh", "xhigh": "xhigh", "max": "xhigh"}}
}

// value returns what the template is given for a request; nil is nothing.
func (e *efforts) value(r *chat.Request) (any, error) {
	off := r.Thinking != nil && !*r.Thinking
	const param = "reasoning_effort"
	switch r.Effort {
	case "none":
		if e.always {
			return nil, invalid(param, "reasoning_effort \"none\" is not supported with this model: it always thinks.")
		}
		return orNil(e.off), nil
	case "":
		if off {
			return orNil(e.off), nil
		}
		return orNil(e.unset), nil
	}
	if n, err := strconv.Atoi(r.Effort); err == nil {
		if !e.numbers {
			return nil, invalid(param, "reasoning_effort must be a word with this model, such as \"low\" or \"high\", got %d.", n)
		}
		return ordjson.Int(n), nil
	}
	word, ok := e.words[r.Effort]
	if !ok {
		return nil, invalid(param, "reasoning_effort %q is not supported with this model.", r.Effort)
	}
	return orNil(word), nil
}

func orNil(word string) any {
	if word == "" {
		return nil
	}
	return word
}

// kwargs returns the template's variables with the switches of the request among them.
func (m *Model) kwargs(r chat.Request) (*ordjson.Object, error) {
	o := ordjson.NewObject()
	if r.Kwargs != nil {
		o = r.Kwargs.Clone()
	}
	if r.Thinking != nil {
		o.Set("enable_thinking", *r.Thinking)
		o.Set("thinking", *r.Thinking) // DeepSeek's and Kimi's name
	}
	effort, err := m.efforts.value(&r)
	if err != nil {
		return nil, err
	}
	if effort != nil {
		o.Set("reasoning_effort", effort)
	}
	return o, nil
}

// budget returns how the thinking of an answer is bounded that starts in the given state.
func (m *Model) budget(tokens *int, start parser.State) (*inference.ThinkingBudget, error) {
	if tokens == nil || start == parser.Answering && m.Format.ThinkOpen != "" {
		return nil, nil
	}
	refused := &InputError{Param: "thinking_token_budget", Message: "thinking_token_budget is not supported with this model.", Unsupported: true}
	open, hasOpen := m.Tokenizer.ID(m.Format.ThinkOpen)
	closing, hasClose := m.Tokenizer.ID(m.Format.ThinkClose)
	if m.Format.ThinkOpen == "" || !hasOpen || !hasClose {
		return nil, refused
	}
	b := &inference.ThinkingBudget{Tokens: *tokens, Open: open, Close: closing}
	if start == parser.Thinking {
		b.Open = token.None
	}
	phrase := m.Format.ThinkClose
	if strings.Contains(m.Source, "<|im_start|>") { // ChatML models put it on a line of its own
		phrase = "\n" + phrase + "\n\n"
	}
	b.Closing = m.Tokenizer.Encode(phrase, tokenizer.Options{ParseSpecial: true})
	return b, nil
}
