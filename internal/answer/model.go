// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"context"
	"slices"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// A Template renders conversations.
type Template interface {
	// Render returns the prompt, each segment with its provenance, or the error of ctx once that is over.
	Render(ctx context.Context, conv chat.Conversation) ([]tokenizer.Segment, error)
	// TakesTools reports whether tools have a place in the prompt.
	TakesTools() bool
}

// Config says what a model is made of.
type Config struct {
	Name      string // as clients say it
	Engine    inference.Engine
	Tokenizer *tokenizer.Tokenizer
	Template  Template // nil: a base model, which does not chat
	Source    string   // of the template, "" without one
	Format    parser.Format
	Defaults  bundle.GenerationDefaults
}

// A Model answers requests. It does not change once made, but for the answers that it remembers; its methods may be called from many goroutines at once.
type Model struct {
	Config
	info    inference.Info
	efforts efforts
	eos     token.ID          // primary end of text, or token.None
	moreEOS []token.ID        // further ones
	shown   map[token.ID]bool // markers that the parser must see although they may be special tokens
	turns   *turns
	real    *token.Mask // tokens that have a spelling, where some rows of logits have none; else nil
}

// New returns a model. The markers of its format and its template become control tokens of the tokenizer: no user can
// write them. See bundle.MarkControl.
func New(c Config) *Model {
	m := &Model{Config: c, info: c.Engine.Info(), efforts: effortsOf(c.Source), eos: token.None, shown: map[token.ID]bool{}, turns: &turns{}}
	bundle.MarkControl(c.Tokenizer, c.Source)
	c.Tokenizer.MarkControl(c.Format.Markers()...) // it may be another than the template's own
	if id, ok := c.Tokenizer.EOS(); ok {
		m.eos = id
	}
	for _, id := range slices.Concat(c.Defaults.EOS, c.Tokenizer.EOG()) {
		if id != m.eos && !slices.Contains(m.moreEOS, id) {
			m.moreEOS = append(m.moreEOS, id)
		}
	}
	for _, marker := range c.Format.Markers() {
		if id, ok := c.Tokenizer.ID(marker); ok {
			m.shown[id] = true
		}
	}
	m.real = realTokens(c.Tokenizer, m.info.VocabSize)
	return m
}

// realTokens returns the tokens that have a spelling, nil if all of size have one. Rows of logits without a token were never trained,
// and what they mean by chance is no answer, in whatever format a model lies.
func realTokens(t *tokenizer.Tokenizer, size int) *token.Mask {
	mask := token.NewMask(size)
	for id := range token.ID(size) {
		if t.Piece(id) != "" {
			mask.Add(id)
		}
	}
	if mask.Count() == size {
		return nil
	}
	return mask
}

// MaxContext returns the most tokens of prompt plus output.
func (m *Model) MaxContext() int { return m.info.MaxContext }

// Tier names the kind of machine code or the engine behind the model.
func (m *Model) Tier() string { return m.info.Tier }

// Chats reports whether the model has a template for conversations.
func (m *Model) Chats() bool { return m.Template != nil }

// TakesTools reports whether tools have a place in the model's prompts, and its calls a form that is understood.
func (m *Model) TakesTools() bool {
	return m.Template != nil && m.Template.TakesTools() && m.Format.ToolOpen != ""
}

// hidden reports whether a token's text is left out of answers.
func (m *Model) hidden(id token.ID) bool {
	return m.Tokenizer.Special(id) && !m.shown[id]
}
