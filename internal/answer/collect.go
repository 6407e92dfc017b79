// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"io"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
)

// A gathering is a choice whose text still grows.
type gathering struct {
	chat.Choice
	text, reasoning strings.Builder
	arguments       []*strings.Builder // of each call
}

// A Source gives the deltas of an answer, io.EOF after the last.
type Source interface {
	Next() (chat.Delta, error)
	Close()
}

// Collect reads an answer to its end and puts it together.
func Collect(s Source) (*chat.Answer, error) {
	defer s.Close()
	a := &chat.Answer{}
	var choices []*gathering
	for {
		d, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if d.Prompt != nil {
			for len(a.Prompts) <= d.Prompt.Index {
				a.Prompts = append(a.Prompts, chat.PromptInfo{})
			}
			a.Prompts[d.Prompt.Index] = *d.Prompt
		}
		for len(choices) <= d.Choice {
			choices = append(choices, &gathering{})
		}
		choices[d.Choice].add(d)
		a.Usage, a.Timings = d.Total, d.Timings
	}
	for _, g := range choices {
		a.Choices = append(a.Choices, g.whole())
	}
	return a, nil
}

func (g *gathering) add(d chat.Delta) {
	for _, e := range d.Events {
		switch e.Kind {
		case chat.Text:
			g.text.WriteString(e.Text)
		case chat.Reasoning:
			g.reasoning.WriteString(e.Text)
		case chat.CallStart:
			g.Calls = append(g.Calls, chat.ToolCall{ID: e.ID, Name: e.Name})
			g.arguments = append(g.arguments, &strings.Builder{})
		case chat.CallArguments:
			g.arguments[len(g.arguments)-1].WriteString(e.Text)
		}
	}
	g.Tokens = append(g.Tokens, d.Tokens...)
	if d.Finish != nil {
		g.Finish = *d.Finish
	}
}

func (g *gathering) whole() chat.Choice {
	c := g.Choice
	c.Text, c.Reasoning = g.text.String(), g.reasoning.String()
	for i, b := range g.arguments {
		c.Calls[i].Arguments = b.String()
	}
	return c
}
