// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
)

// A Format names the markers of a model's answers. Markers that a model does not have are empty.
type Format struct {
	ThinkOpen, ThinkClose string
	ToolOpen, ToolClose   string
}

// Markers returns the markers that are set.
func (f Format) Markers() []string {
	var list []string
	for _, m := range []string{f.ThinkOpen, f.ThinkClose, f.ToolOpen, f.ToolClose} {
		if m != "" {
			list = append(list, m)
		}
	}
	return list
}

// otherCalls are tags of syntaxes other than JSON inside of <tool_call>: those of Qwen's coder models, GLM 4.5 and others of its
// kind, and MiniMax.
var otherCalls = []string{"<function=", "<arg_key>", "<invoke"}

// DetectFormat finds out from the source of a chat template which markers its model writes.
func DetectFormat(template string) Format {
	var f Format
	if strings.Contains(template, "<think>") || strings.Contains(template, "</think>") {
		f.ThinkOpen, f.ThinkClose = "<think>", "</think>"
	}
	if strings.Contains(template, "<tool_call>") && !slices.ContainsFunc(otherCalls, func(tag string) bool { return strings.Contains(template, tag) }) {
		f.ToolOpen, f.ToolClose = "<tool_call>", "</tool_call>"
	}
	return f
}

// A State is where in an answer a parser stands.
type State uint8

// The states in which a parser can start: what the prompt left open.
const (
	Undecided State = iota // the model may open its reasoning
	Thinking               // the prompt opened the reasoning
	Answering              // reasoning is over or off: its markers are text
	inCall
)

// StartState tells from the end of a prompt how the answer begins.
func (f Format) StartState(prompt string) State {
	if f.ThinkOpen == "" {
		return Answering
	}
	tail := strings.TrimRight(prompt, " \n\r\t")
	switch {
	case strings.HasSuffix(tail, f.ThinkOpen):
		return Thinking
	case strings.HasSuffix(tail, f.ThinkClose):
		return Answering
	}
	return Undecided
}

// A Parser splits the text of an answer into events.
type Parser struct {
	format  Format
	state   State
	closed  bool   // reasoning has ended: a second closing marker is dropped
	skipNL  bool   // newlines come next that the template puts back
	gap     bool   // a call came last: white space around calls is dropped
	blank   blank  // before buf
	buf     string // not yet certain
	pos     int    // bytes taken so far, those in blank, buf and the block included
	block   block  // of the open calls
	calls   int    // complete ones
	started int    // calls that were told of
	span    Span
	events  []chat.Event
}

// A blank is white space that a marker behind it would drop. It is held apart: a model may write nothing else for long, and to
// look through all of it for each piece would take the square of its length.
type blank struct {
	text   []byte
	spaced bool // there is more than newlines
}

func (b *blank) add(text string) {
	b.text = append(b.text, text...)
	b.spaced = b.spaced || strings.Trim(text, "\n") != ""
}

// A Span is the part of the raw text, in bytes, that holds the reasoning without its markers. Open is -1 before it
// begins; Close is -1 while it lasts.
type Span struct{ Open, Close int }

// New returns a parser that starts in the given state.
func New(f Format, start State) *Parser {
	p := &Parser{format: f, state: start, span: Span{Open: -1, Close: -1}}
	switch {
	case f.ThinkOpen == "":
		p.state = Answering
	case start == Thinking:
		p.span.Open = 0
		p.skipNL = true
	}
	return p
}

// Calls returns how many tool calls are complete.
func (p *Parser) Calls() int { return p.calls }

// InMarkup reports whether what is held back is a tool call or may be a marker.
func (p *Parser) InMarkup() bool {
	return p.state == inCall || p.blank.spaced || strings.Trim(p.buf, "\n") != ""
}

// InCall reports whether a tool call is open.
func (p *Parser) InCall() bool { return p.state == inCall }

// Span tells where the reasoning stands.
func (p *Parser) Span() Span { return p.span }

// Add takes the next piece of text and returns what is certain now. The events are the caller's.
func (p *Parser) Add(piece string) []chat.Event {
	p.buf += piece
	p.pos += len(piece)
	for p.step() {
	}
	return p.take()
}

// Flush ends the text. A call that lacks only its closing marker counts; one whose arguments were not complete keeps
// what there is of them; any other open markup is text.
func (p *Parser) Flush() []chat.Event {
	rest := p.afterBlank(p.buf)
	p.buf = ""
	switch p.state {
	case inCall:
		p.flushCall(rest)
	case Undecided:
		p.state = Answering
		p.emit(rest)
	default:
		p.emit(rest)
	}
	return p.take()
}

func (p *Parser) take() []chat.Event {
	events := p.events
	p.events = nil
	return events
}

// step handles one marker in the buffer, or emits what can be no marker. It reports whether there may be more.
func (p *Parser) step() bool {
	if p.state == inCall {
		return p.stepCall()
	}
	if p.state == Undecided {
		return p.decide()
	}
	markers := p.active()
	at, marker := first(p.buf, markers)
	if marker == "" {
		p.emitCertain(markers)
		return false
	}
	before := p.afterBlank(p.buf[:at])
	p.buf = p.buf[at+len(marker):]
	p.enter(before, marker)
	return true
}

// decide finds out whether the answer opens with reasoning. White space before the marker is dropped.
func (p *Parser) decide() bool {
	text := strings.TrimLeft(p.buf, " \n\r\t")
	p.blank.add(p.buf[:len(p.buf)-len(text)])
	p.buf = text
	open := p.format.ThinkOpen
	switch {
	case strings.HasPrefix(text, open):
		p.blank, p.buf = blank{}, text[len(open):]
		p.state, p.skipNL = Thinking, true
		p.span.Open = p.pos - len(p.buf)
		return true
	case strings.HasPrefix(open, text):
		return false
	}
	p.state, p.buf = Answering, p.afterBlank(text)
	return true
}

// afterBlank puts text behind the white space that was held, of which none is left then.
func (p *Parser) afterBlank(text string) string {
	if len(p.blank.text) > 0 {
		text = string(p.blank.text) + text
		p.blank = blank{}
	}
	return text
}

// active returns the markers that mean something in this state.
func (p *Parser) active() []string {
	var list []string
	if p.state == Thinking {
		list = append(list, p.format.ThinkOpen)
	}
	if p.state == Thinking || p.closed {
		list = append(list, p.format.ThinkClose)
	}
	if p.format.ToolOpen != "" {
		list = append(list, p.format.ToolOpen)
	}
	return list
}

// emitCertain emits what can be no part of a marker. Held are the beginning of one and the newlines that are dropped before it:
// all of them in reasoning, one in an answer.
func (p *Parser) emitCertain(markers []string) {
	longest := 0
	for _, m := range markers {
		longest = max(longest, len(m))
	}
	end := len(p.buf) - partial(p.buf, markers, longest)
	text := p.buf[:end]
	switch {
	case p.state == Thinking:
		text = strings.TrimRight(text, "\n")
		newlines := p.buf[len(text):end]
		p.buf = p.buf[end:]
		if text != "" {
			p.emit(p.afterBlank(text))
		}
		p.blank.add(newlines)
		return
	case p.format.ToolOpen != "":
		text = strings.TrimSuffix(text, "\n")
	}
	p.buf = p.buf[len(text):]
	p.emit(text)
}

// enter handles a marker and the text before it.
func (p *Parser) enter(before, marker string) {
	at := p.pos - len(p.buf) - len(marker)
	thinking := p.state == Thinking
	if thinking && marker != p.format.ThinkOpen {
		// A call inside the reasoning ends it: models forget the closing marker.
		p.emit(strings.TrimRight(before, "\n"))
		before = ""
		p.state, p.closed, p.skipNL = Answering, true, true
		p.span.Close = at
	}
	if marker != p.format.ToolOpen {
		p.emit(before) // a second opening or closing marker is dropped
		return
	}
	text := strings.TrimSuffix(before, "\n")
	p.emit(text)
	p.state = inCall
	p.block = block{lead: before[len(text):], body: p.block.body[:0]}
}

// emit adds text of the present state.
func (p *Parser) emit(text string) {
	if p.skipNL {
		text = strings.TrimLeft(text, "\n")
	}
	if p.gap {
		text = strings.TrimLeft(text, " \n\r\t")
	}
	if text == "" {
		return
	}
	p.skipNL, p.gap = false, false
	kind := chat.Text
	if p.state == Thinking {
		kind = chat.Reasoning
	}
	p.events = append(p.events, chat.Event{Kind: kind, Text: text})
}

// first returns the marker that starts first in text; of two at one place the longer one.
func first(text string, markers []string) (at int, marker string) {
	for _, m := range markers {
		i := strings.Index(text, m)
		if i < 0 {
			continue
		}
		if marker == "" || i < at || i == at && len(m) > len(marker) {
			at, marker = i, m
		}
	}
	return at, marker
}
