// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
)

// A block is what stands between the markers of calls: JSON objects, each a call.
type block struct {
	lead   string // what was dropped before the opening marker
	body   []byte // read, but not part of a call so far
	scan   objectScan
	called bool // it has a call
}

// stepCall takes text into the open block. Once an object has told its name and opens its arguments it is a call for
// good: from there on the arguments stream through as they were written.
func (p *Parser) stepCall() bool {
	b := &p.block
	arguments := 0 // where those begin that were not emitted
	for i := range len(p.buf) {
		c := p.buf[i]
		if b.scan.stage == between && c != '{' && !isSpace(c) {
			return p.leaveBlock(p.buf[i:])
		}
		switch b.scan.next(c) {
		case scanOn:
			b.body = append(b.body, c)
		case scanCommits:
			b.body = b.body[:0]
			p.startCall(b.scan.name)
			arguments = i
		case scanArgument:
		case scanArgumentsEnd:
			p.addArguments(p.buf[arguments : i+1])
			p.calls++
		case scanEnds:
			b.body = append(b.body, c)
			if !p.closeObject() {
				return p.noCall("", p.buf[i+1:])
			}
		case scanFails:
			if !b.scan.committed {
				return p.noCall("", p.buf[i:])
			}
			if b.scan.stage == inArguments {
				p.addArguments(p.buf[arguments:i])
			}
			b.scan = objectScan{}
			return p.leaveBlock(p.buf[i:])
		}
	}
	if b.scan.stage == inArguments {
		p.addArguments(p.buf[arguments:])
	}
	p.buf = ""
	return false
}

// leaveBlock looks at the text that follows an object: the closing marker, the beginning of one, or what belongs to
// no call. It reports whether there is more to do.
func (p *Parser) leaveBlock(rest string) bool {
	closing := p.format.ToolClose
	switch {
	case strings.HasPrefix(rest, closing) && p.block.called:
		p.state, p.gap = Answering, true
		p.buf = rest[len(closing):]
		return true
	case strings.HasPrefix(rest, closing):
		return p.noCall(closing, rest[len(closing):])
	case strings.HasPrefix(closing, rest):
		p.buf = rest
		return false
	}
	return p.noCall("", rest)
}

// noCall ends the block. What it holds beside calls is text, markers included; rest comes after it.
func (p *Parser) noCall(closing, rest string) bool {
	text := string(p.block.body) + closing
	p.state = Answering
	if p.block.called {
		p.gap = true
	} else {
		text = p.block.lead + p.format.ToolOpen + text
	}
	p.emit(text)
	p.buf = rest
	return true
}

// flushCall ends the text inside of a block.
func (p *Parser) flushCall(rest string) {
	if !p.block.called || strings.IndexByte(string(p.block.body), '{') >= 0 {
		p.noCall(rest, "")
	}
}

// closeObject handles the end of an object. It reports false if the object is no call.
func (p *Parser) closeObject() bool {
	b := &p.block
	committed := b.scan.committed
	b.scan = objectScan{}
	if !committed {
		call, ok := readCall(bytes.TrimSpace(b.body))
		if !ok {
			return false
		}
		p.startCall(call.Name)
		p.addArguments(call.Arguments)
		p.calls++
	}
	b.body = b.body[:0]
	return true
}

func (p *Parser) startCall(name string) {
	p.block.called = true
	p.events = append(p.events, chat.Event{Kind: chat.CallStart, Call: p.started, Name: name})
	p.started++
}

func (p *Parser) addArguments(text string) {
	if text != "" {
		p.events = append(p.events, chat.Event{Kind: chat.CallArguments, Call: p.started - 1, Text: text})
	}
}

// readCall reads an object with a name and arguments. The arguments stay as they were written.
func readCall(object []byte) (chat.ToolCall, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return chat.ToolCall{}, false
	}
	var name string
	if json.Unmarshal(fields["name"], &name) != nil || name == "" {
		return chat.ToolCall{}, false
	}
	raw, ok := fields["arguments"]
	if !ok {
		raw = fields["parameters"]
	}
	arguments, ok := readArguments(raw)
	return chat.ToolCall{Name: name, Arguments: arguments}, ok
}

// readArguments takes an object, an object inside a string, or nothing.
func readArguments(raw json.RawMessage) (string, bool) {
	text := string(bytes.TrimSpace(raw))
	var inner string
	if json.Unmarshal(raw, &inner) == nil && strings.HasPrefix(text, `"`) {
		text = strings.TrimSpace(inner)
	}
	if text == "" || text == "null" {
		return "{}", true
	}
	return text, text[0] == '{' && json.Valid([]byte(text))
}
