// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
)

// A callScan looks for the closing marker of a call outside of JSON strings, each byte once.
type callScan struct {
	pos      int
	inString bool
	escaped  bool
}

// find returns where the marker begins in body, or -1 if it is not there yet.
func (s *callScan) find(body []byte, marker string) int {
	for ; s.pos < len(body); s.pos++ {
		c := body[s.pos]
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString && c == '\\':
			s.escaped = true
		case c == '"':
			s.inString = !s.inString
		case s.inString || c != marker[0]:
		case bytes.HasPrefix(body[s.pos:], []byte(marker)):
			return s.pos
		case strings.HasPrefix(marker, string(body[s.pos:])):
			return -1
		}
	}
	return -1
}

// stepCall takes text into the open call and closes it at its marker.
func (p *Parser) stepCall() bool {
	p.body = append(p.body, p.buf...)
	p.buf = ""
	end := p.scan.find(p.body, p.format.ToolClose)
	if end < 0 {
		return false
	}
	p.buf = string(p.body[end+len(p.format.ToolClose):])
	p.closeCall(string(p.body[:end]), p.format.ToolClose)
	return true
}

// closeCall makes the calls in body into events. What is no call stays text, markers included.
func (p *Parser) closeCall(body, closing string) {
	p.state = Answering
	calls, ok := readCalls(body)
	if !ok {
		p.emit(p.lead + p.format.ToolOpen + body + closing)
		return
	}
	for _, c := range calls {
		p.events = append(p.events,
			chat.Event{Kind: chat.CallStart, Call: p.calls, Name: c.Name},
			chat.Event{Kind: chat.CallArguments, Call: p.calls, Text: c.Arguments})
		p.calls++
	}
	p.gap = true
}

// readCalls reads one or more JSON objects with a name and arguments. The arguments stay as they were written.
func readCalls(body string) ([]chat.ToolCall, bool) {
	var calls []chat.ToolCall
	dec := json.NewDecoder(strings.NewReader(body))
	for {
		var fields map[string]json.RawMessage
		err := dec.Decode(&fields)
		if errors.Is(err, io.EOF) {
			return calls, len(calls) > 0
		}
		if err != nil {
			return nil, false
		}
		call, ok := readCall(fields)
		if !ok {
			return nil, false
		}
		calls = append(calls, call)
	}
}

func readCall(fields map[string]json.RawMessage) (chat.ToolCall, bool) {
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
