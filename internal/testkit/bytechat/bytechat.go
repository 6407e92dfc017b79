// SPDX-License-Identifier: Apache-2.0

// Package bytechat is a chat model for tests: a byte-level vocabulary, a ChatML template and a scripted engine behind
// package answer. What it says is written down as text.
//
// Tokens 0 to 255 are bytes in the order of their alphabet; then come a few words, and the control tokens. Every
// text can be said, split at any byte.
package bytechat

import (
	"context"
	"strings"
	"unicode"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// MaxContext is the context length of the models.
const MaxContext = 1024

// controls are the control tokens, the end of text first.
var controls = []string{"<|im_end|>", "<|im_start|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "</tool_call>"}

// A Template renders ChatML.
type Template struct{}

// TakesTools implements answer.Template.
func (Template) TakesTools() bool { return true }

// Render implements answer.Template. The switch enable_thinking, set to false, closes the reasoning.
func (Template) Render(_ context.Context, conv chat.Conversation) ([]tokenizer.Segment, error) {
	var segments []tokenizer.Segment
	say := func(text string, data bool) {
		segments = append(segments, tokenizer.Segment{Text: text, Data: data})
	}
	for _, t := range conv.Tools {
		say("<tools>", false)
		say(t.Name, true)
		say("</tools>\n", false)
	}
	for i, m := range conv.Messages {
		role := m.Role
		if role == "developer" {
			role = "system"
		}
		say("<|im_start|>", false)
		say(role, true)
		say("\n", false)
		if m.Reasoning != "" {
			say("<think>", false)
			say(m.Reasoning, true)
			say("</think>", false)
		}
		say(textOf(m), true)
		if !conv.ContinueFinal || i < len(conv.Messages)-1 {
			say("<|im_end|>\n", false)
		}
	}
	if conv.AddGenerationPrompt {
		say("<|im_start|>assistant\n", false)
	}
	if on, ok := conv.Kwargs.Get("enable_thinking"); ok && on == false {
		say("<think>\n\n</think>\n\n", false)
	}
	return segments, nil
}

func textOf(m chat.Message) string {
	var texts []string
	for _, p := range m.Content {
		texts = append(texts, p.Text)
	}
	for _, c := range m.ToolCalls {
		texts = append(texts, c.Name+c.Arguments)
	}
	return strings.Join(texts, "\n")
}

// Tokenizer returns the vocabulary's tokenizer.
func Tokenizer() *tokenizer.Tokenizer {
	v := tokenizer.NewVocab()
	v.Model, v.Pre = "gpt2", "gpt-2"
	next := rune(256)
	for b := range rune(256) {
		r := b
		if b == ' ' || b == 0xAD || b < 256 && !unicode.IsGraphic(b) || b == 0xA0 {
			r, next = next, next+1
		}
		v.Tokens = append(v.Tokens, string(r))
		v.Types = append(v.Types, int32(token.Normal))
	}
	for _, word := range []string{"th", "he", "Ġt"} {
		v.Tokens = append(v.Tokens, word)
		v.Types = append(v.Types, int32(token.Normal))
	}
	v.Merges = []string{"t h", "h e", "Ġ t"}
	for i, c := range controls {
		switch i {
		case 0:
			v.EOS = token.ID(len(v.Tokens))
		case 2:
			v.EOT = token.ID(len(v.Tokens))
		}
		v.Tokens = append(v.Tokens, c)
		v.Types = append(v.Types, int32(token.Control))
	}
	t, err := tokenizer.FromGGUF(v)
	if err != nil {
		panic("bytechat: " + err.Error())
	}
	return t
}

// Tokens returns the tokens of a text that may hold control tokens.
func Tokens(t *tokenizer.Tokenizer, text string) []token.ID {
	return t.Encode(text, tokenizer.Options{ParseSpecial: true})
}

// New returns a model whose choices are answered by script.
func New(name string, script func(req inference.Request, choice int) scripted.Reply) (*answer.Model, *scripted.Engine) {
	t := Tokenizer()
	engine := scripted.New(inference.Info{VocabSize: t.VocabSize(), MaxContext: MaxContext, Tier: "scripted"}, script)
	m := answer.New(answer.Config{
		Name: name, Engine: engine, Tokenizer: t, Template: Template{}, Source: "<think> <tool_call>", Format: parser.DetectFormat("<think> <tool_call>"),
	})
	return m, engine
}

// Say returns a model that answers every request with the same text. Logprobs are made up, but fixed.
func Say(name, text string) (*answer.Model, *scripted.Engine) {
	tokens := Tokens(Tokenizer(), text)
	return New(name, func(req inference.Request, _ int) scripted.Reply {
		return scripted.Reply{Tokens: tokens, Logprob: Logprob(req.Logprobs), Prompt: promptLogprobs(req)}
	})
}

// Logprob returns logprobs for a script: the token itself is best, then come the first tokens of the vocabulary.
func Logprob(n int) func(pos int, id token.ID) (float32, []inference.TokenLogprob) {
	return func(_ int, id token.ID) (float32, []inference.TokenLogprob) {
		top := []inference.TokenLogprob{{Token: id, Logprob: -0.25, Rank: 1}}
		for other := token.ID(0); len(top) < n; other++ {
			if other != id {
				top = append(top, inference.TokenLogprob{Token: other, Logprob: -2 - float32(len(top)), Rank: len(top) + 1})
			}
		}
		return -0.25, top[:max(0, min(n, len(top)))]
	}
}

func promptLogprobs(req inference.Request) [][]inference.TokenLogprob {
	if req.PromptLogprobs < 0 {
		return nil
	}
	list := [][]inference.TokenLogprob{}
	for _, id := range req.Prompt[1:] {
		logprob, top := Logprob(req.PromptLogprobs)(0, id)
		list = append(list, append([]inference.TokenLogprob{{Token: id, Logprob: logprob, Rank: 1}}, top...))
	}
	return list
}
