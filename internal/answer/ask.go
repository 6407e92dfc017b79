// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// Chat asks for answers to a conversation. Cancelling ctx ends the stream with its error.
func (m *Model) Chat(ctx context.Context, r chat.Request) (*Stream, error) {
	begun := time.Now()
	req, err := m.request(&r.Params)
	if err != nil {
		return nil, err
	}
	prompt, err := m.Prompt(ctx, r)
	if err != nil {
		return nil, err
	}
	ids, err := m.fit(prompt.Tokens, &r.Params)
	if err != nil {
		return nil, err
	}
	if err := m.checkLogprobs(&r.Params, [][]token.ID{ids}); err != nil {
		return nil, err
	}
	whole := len(ids) == len(prompt.Tokens)
	continued := prompt.Text
	if !whole {
		prompt.Tokens, prompt.Text = ids, m.leftText(prompt.Text, ids)
	}
	if r.TruncateRight {
		continued = prompt.Text
	}
	prompt.Echo = echoOf(r)
	format := m.Format
	if r.NoToolParsing || len(r.Tools) == 0 {
		format.ToolOpen, format.ToolClose = "", ""
	}
	start := format.StartState(tail(continued))
	if r.ContinueFinal {
		start = openState(format, continued)
	}
	if req.Budget, err = m.budget(r.Budget, start); err != nil {
		return nil, err
	}
	s := newStream(m, &r.Params, begun)
	s.oneCall, s.remember = r.OneCall, whole
	s.parse = func() *parser.Parser { return parser.New(format, start) }
	return s, s.submit(ctx, req, []chat.PromptInfo{prompt})
}

// tail returns the end of a prompt, where open markers stand.
func tail(prompt string) string {
	const enough = 64
	return prompt[max(0, len(prompt)-enough):]
}

// openState tells whether a message that is to be continued is still reasoning.
func openState(f parser.Format, prompt string) parser.State {
	if f.ThinkOpen != "" && strings.LastIndex(prompt, f.ThinkOpen) > strings.LastIndex(prompt, f.ThinkClose) {
		return parser.Thinking
	}
	return parser.Answering
}

// Prompt renders a conversation and tokenises it. Nothing is cut and no length is checked but that of absurd inputs.
// Answers of the model in it keep the tokens that they were generated with, as long as those are remembered.
func (m *Model) Prompt(ctx context.Context, r chat.Request) (chat.PromptInfo, error) {
	if m.Template == nil {
		return chat.PromptInfo{}, ErrNoTemplate
	}
	if len(r.Tools) > 0 && !r.NoToolParsing && !m.TakesTools() {
		return chat.PromptInfo{}, &InputError{Param: "tools", Message: "tools is not supported with this model: " + m.noTools(), Unsupported: true}
	}
	if err := m.checkBytes(sizeOf(r.Messages), &r.Params); err != nil {
		return chat.PromptInfo{}, err
	}
	conv := r.Conversation
	var err error
	if conv.Kwargs, err = m.kwargs(r); err != nil {
		return chat.PromptInfo{}, err
	}
	segments, err := m.Template.Render(ctx, conv)
	if ctx.Err() != nil {
		return chat.PromptInfo{}, ctx.Err()
	}
	if err != nil {
		return chat.PromptInfo{}, &TemplateError{err}
	}
	var text strings.Builder
	for _, s := range segments {
		text.WriteString(s.Text)
	}
	if err := m.checkBytes(text.Len(), &r.Params); err != nil {
		return chat.PromptInfo{}, err
	}
	special := r.AddSpecialTokens != nil && *r.AddSpecialTokens
	ids := m.Tokenizer.EncodeSegments(segments, tokenizer.Options{AddSpecial: special, Stop: ctx.Done()})
	if ctx.Err() != nil {
		return chat.PromptInfo{}, ctx.Err()
	}
	info := chat.PromptInfo{Text: text.String(), Tokens: m.recall(ids, r.CacheSalt)}
	if r.Explain {
		info.Explanation = &chat.Explanation{Template: hashOf(m.Source)}
		for _, s := range segments {
			info.Explanation.Segments = append(info.Explanation.Segments, chat.Segment(s))
		}
	}
	return info, nil
}

// noTools says why a model takes no tools.
func (m *Model) noTools() string {
	if m.Template.TakesTools() {
		return "the form of its calls is not understood yet."
	}
	return "its chat template has no place for them."
}

// sizeOf returns the bytes of text in messages.
func sizeOf(messages []chat.Message) int {
	n := 0
	for _, msg := range messages {
		for _, part := range msg.Content {
			n += len(part.Text)
		}
	}
	return n
}

// echoOf returns the text that an echo puts before the answer: the last message if it is the answer's own beginning.
func echoOf(r chat.Request) string {
	if !r.Echo || len(r.Messages) == 0 {
		return ""
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role != "assistant" {
		return ""
	}
	texts := make([]string, len(last.Content))
	for i, part := range last.Content {
		texts[i] = part.Text
	}
	return strings.Join(texts, "\n")
}

// Complete asks for continuations of raw prompts. The prompts run beside each other; if one is refused, all are.
func (m *Model) Complete(ctx context.Context, c chat.Completion) (*Stream, error) {
	begun := time.Now()
	req, err := m.request(&c.Params)
	if err != nil {
		return nil, err
	}
	if c.Echo {
		req.PromptLogprobs = max(req.PromptLogprobs, req.Logprobs)
	}
	prompts := make([]chat.PromptInfo, 0, len(c.Prompts))
	ids := make([][]token.ID, 0, len(c.Prompts))
	for i, p := range c.Prompts {
		info, err := m.rawPrompt(ctx, p, &c.Params)
		if err != nil {
			return nil, err
		}
		info.Index = i
		prompts = append(prompts, info)
		ids = append(ids, info.Tokens)
	}
	if err := m.checkLogprobs(&c.Params, ids); err != nil {
		return nil, err
	}
	s := newStream(m, &c.Params, begun)
	return s, s.submit(ctx, req, prompts)
}

// rawPrompt tokenises a text as it is, control tokens included, or takes the ids as they are.
func (m *Model) rawPrompt(ctx context.Context, p chat.Prompt, params *chat.Params) (chat.PromptInfo, error) {
	info := chat.PromptInfo{Text: p.Text, Tokens: p.Tokens}
	if p.Tokens == nil {
		if err := m.checkBytes(len(p.Text), params); err != nil {
			return info, err
		}
		special := params.AddSpecialTokens == nil || *params.AddSpecialTokens
		info.Tokens = m.Tokenizer.Encode(p.Text, tokenizer.Options{ParseSpecial: true, AddSpecial: special, Stop: ctx.Done()})
	}
	if ctx.Err() != nil {
		return info, ctx.Err()
	}
	if i := slices.IndexFunc(p.Tokens, func(id token.ID) bool { return !m.inVocabulary(id) }); i >= 0 {
		return info, m.outside("prompt", p.Tokens[i])
	}
	left, err := m.fit(info.Tokens, params)
	switch {
	case err != nil:
		return info, err
	case p.Tokens != nil:
		info.Text = m.Tokenizer.Decode(left, false)
	case len(left) < len(info.Tokens):
		info.Text = m.leftText(info.Text, left)
	}
	info.Tokens = left
	if params.Echo {
		info.Echo = info.Text
	}
	if params.Explain {
		info.Explanation = &chat.Explanation{Segments: []chat.Segment{{Text: info.Text, Data: true}}}
	}
	return info, nil
}

// leftText returns what is left of a text that was cut to these tokens. A BOS that was added to it has no text.
func (m *Model) leftText(text string, left []token.ID) string {
	if bos, ok := m.Tokenizer.BOS(); ok && left[0] == bos && !strings.HasPrefix(text, m.Tokenizer.Piece(bos)) {
		left = left[1:]
	}
	return m.Tokenizer.Decode(left, false)
}

// promptTokens makes the prompt's logprobs into tokens. A BOS that was added has no text: it is not in the prompt.
func (m *Model) promptTokens(info chat.PromptInfo, logprobs [][]inference.TokenLogprob, p *chat.Params) []chat.Token {
	if logprobs == nil && len(info.Tokens) > 1 {
		return nil
	}
	list := make([]chat.Token, len(info.Tokens))
	for i, id := range info.Tokens {
		list[i].TokenLogprob = m.describe(inference.TokenLogprob{Token: id})
		if i == 0 || i > len(logprobs) || len(logprobs[i-1]) == 0 {
			continue
		}
		list[i].Scored = true
		list[i].TokenLogprob = m.describe(logprobs[i-1][0])
		list[i].Top = m.ranking(logprobs[i-1][1:])
	}
	bos, ok := m.Tokenizer.BOS()
	added := p.AddSpecialTokens == nil || *p.AddSpecialTokens
	if ok && added && info.Tokens[0] == bos && !strings.HasPrefix(info.Text, list[0].Text) {
		list[0].Text, list[0].Bytes = "", nil
	}
	return list
}

// describe adds the text to a token's logprob.
func (m *Model) describe(t inference.TokenLogprob) chat.TokenLogprob {
	d := chat.Describe(t.Token, m.Tokenizer.Bytes(t.Token))
	d.Logprob, d.Rank, d.Kept = t.Logprob, t.Rank, t.Kept
	return d
}

// ranking keeps the best tokens of a row.
func (m *Model) ranking(top []inference.TokenLogprob) chat.Ranking {
	if len(top) == 0 {
		return chat.Ranking{}
	}
	r := chat.Ranking{Entries: make([]chat.Candidate, len(top)), Bytes: m.Tokenizer.Bytes}
	for i, e := range top {
		r.Entries[i] = chat.Candidate{ID: e.Token, Logprob: e.Logprob, Kept: e.Kept}
	}
	return r
}
