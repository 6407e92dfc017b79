// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"context"
	"time"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// SpecialTokens are the texts that a template knows as bos_token and so on. An empty one is undefined.
type SpecialTokens struct{ BOS, EOS, UNK, PAD string }

// Options of a Template.
type Options struct {
	Name   string // for error messages
	Tokens SpecialTokens
	// ToolUse is the source of a template for conversations with tools, "" if the main one is for all.
	ToolUse string
	Strict  bool             // transformers' own environment: lists can't be changed, no from_json
	Limits  jinja.Limits     // of one rendering
	Clock   func() time.Time // for strftime_now; nil: the time is the Unix epoch
}

// A Template is a chat template. It does not change once made; its methods may be called from many goroutines.
type Template struct {
	tpl    *jinja.Template
	source string
	opt    Options
	facts  Facts

	toolUse *Template // for conversations with tools; nil: none
}

// New parses a template and finds out what it can do. Errors are *jinja.SyntaxError.
func New(source string, opt Options) (*Template, error) {
	if opt.Name == "" {
		opt.Name = "chat template"
	}
	env := jinja.Extended()
	if opt.Strict {
		env = jinja.Strict()
	}
	tpl, err := jinja.Parse(opt.Name, source, env)
	if err != nil {
		return nil, err
	}
	t := &Template{tpl: tpl, source: source, opt: opt}
	t.facts = probe(t)
	if opt.ToolUse == "" {
		return t, nil
	}
	opt.Name, opt.ToolUse = opt.Name+" (tool_use)", ""
	if t.toolUse, err = New(t.opt.ToolUse, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// of returns the template of conversations with or without tools.
func (t *Template) of(tools bool) *Template {
	if tools && t.toolUse != nil {
		return t.toolUse
	}
	return t
}

// Source returns the text of the template.
func (t *Template) Source() string { return t.source }

// Facts returns what probing found.
func (t *Template) Facts() Facts { return t.facts }

// TakesTools reports whether tools have a place in the prompt.
func (t *Template) TakesTools() bool { return t.of(true).facts.Tools }

// Render returns the prompt of a conversation, as segments of text with their origin. Errors are those of
// jinja.Template.Render, a *ContinueError, an *ArgumentsError or a *RequestError; that of ctx once it is over, which a
// template notices within a millisecond.
func (t *Template) Render(ctx context.Context, conv chat.Conversation) ([]tokenizer.Segment, error) {
	t = t.of(len(conv.Tools) > 0)
	messages, err := t.adapt(conv.Messages)
	if err != nil {
		return nil, err
	}
	if n := len(messages); conv.ContinueFinal && n > 0 && len(messages[n-1].ToolCalls) > 0 {
		return nil, &ContinueError{"its tool calls would be left out"} // they follow the text, where the prompt ends
	}
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = t.message(m)
	}
	vars := jinja.NewDict()
	vars.Set("messages", list)
	vars.Set("tools", t.toolList(conv.Tools))
	vars.Set("documents", nil)
	if conv.Documents != nil {
		vars.Set("documents", jinja.FromJSON(conv.Documents))
	}
	vars.Set("add_generation_prompt", conv.AddGenerationPrompt)
	t.opt.Tokens.put(vars)
	if err := putKwargs(vars, conv.Kwargs); err != nil {
		return nil, err
	}
	limits := t.opt.Limits
	limits.Stop = ctx.Done()
	segments, err := t.render(jinja.Input{Vars: vars, Now: t.now(), Limits: limits}, conv.ContinueFinal)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return segments, err
}

func (t *Template) now() time.Time {
	if t.opt.Clock == nil {
		return time.Unix(0, 0).UTC()
	}
	return t.opt.Clock()
}

// put sets the variables of the special tokens. They are the template's: the model's maker chose them.
func (s SpecialTokens) put(vars *jinja.Dict) {
	for name, text := range s.all() {
		if text != "" {
			vars.Set(name, jinja.Text(text))
		}
	}
}

func (s SpecialTokens) all() map[string]string {
	return map[string]string{"bos_token": s.BOS, "eos_token": s.EOS, "unk_token": s.UNK, "pad_token": s.PAD}
}

// render runs the template, with the last message left open if asked to.
func (t *Template) render(in jinja.Input, open bool) ([]tokenizer.Segment, error) {
	final := ""
	if open {
		var err error
		if final, err = tagFinal(in.Vars); err != nil {
			return nil, err
		}
	}
	out, err := t.tpl.Render(in)
	if err != nil {
		return nil, err
	}
	if open {
		if out, err = cutAtTag(out, final); err != nil {
			return nil, err
		}
	}
	segments := make([]tokenizer.Segment, len(out))
	for i, s := range out {
		segments[i] = tokenizer.Segment{Text: s.Text, Data: s.Data}
	}
	return segments, nil
}

// Text joins segments to the plain prompt.
func Text(segments []tokenizer.Segment) string {
	n := 0
	for _, s := range segments {
		n += len(s.Text)
	}
	buf := make([]byte, 0, n)
	for _, s := range segments {
		buf = append(buf, s.Text...)
	}
	return string(buf)
}
