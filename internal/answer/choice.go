// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"crypto/rand"
	"encoding/hex"
	"slices"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// A choice turns the tokens of one continuation into deltas.
type choice struct {
	model    *Model
	params   *chat.Params
	decoder  *tokenizer.Decoder
	stops    *parser.Stops
	parser   *parser.Parser // nil: raw text
	oneCall  bool
	remember bool
	tokens   int
	ids      []token.ID // of the answer, if it is to be remembered
	starts   []int      // where in the raw text each token begins, while reasoning may last
	size     int        // of the raw text so far, in bytes
	reason   int        // reasoning tokens, once reasoning has ended
	ended    bool
	stopped  bool // the engine is to be told that it ended
}

func (s *Stream) newChoice(prompt []token.ID) *choice {
	const tailTokens = 8 // enough for any rule about what stands before a token
	c := &choice{
		model: s.model, params: s.params, oneCall: s.oneCall, remember: s.remember,
		decoder: s.model.Tokenizer.NewDecoder(prompt[max(0, len(prompt)-tailTokens):], false),
		stops:   parser.NewStops(s.params.Stop, s.params.IncludeStop),
	}
	if s.parse != nil {
		c.parser = s.parse()
	}
	return c
}

// add takes an event of the engine into d.
func (c *choice) add(e inference.Event, d *chat.Delta) {
	finish := chat.Finish{StopToken: token.None}
	if e.Token != token.None {
		c.tokens++
		if c.remember {
			c.ids = append(c.ids, e.Token)
		}
		c.noteStart(e)
		d.Tokens = append(d.Tokens, c.token(e))
		finish.StopString = c.addText(c.text(e), d)
	}
	call := c.parser != nil && c.oneCall && c.parser.Calls() > 0
	switch {
	case finish.StopString != "":
		finish.Reason = chat.ReasonStop
	case call:
		finish.Reason = chat.ReasonToolCalls
	case e.Finish == inference.FinishLength:
		finish.Reason = chat.ReasonLength
	case e.Finish == inference.FinishStop:
		finish.Reason, finish.StopToken = chat.ReasonStop, e.Token
	case e.Finish == inference.FinishEOS:
		finish.Reason = chat.ReasonStop
	default:
		d.InMarkup = c.parser != nil && c.parser.InMarkup() && !c.stops.Holding()
		c.finishEvents(d)
		return
	}
	c.stopped = e.Finish == inference.Running
	c.end(e, finish, d)
}

// noteStart remembers where a token of the text begins, for as long as it may be reasoning.
func (c *choice) noteStart(e inference.Event) {
	ends := e.Finish == inference.FinishEOS || e.Finish == inference.FinishStop
	if c.parser != nil && c.reason == 0 && !ends {
		c.starts = append(c.starts, c.size)
	}
}

// text returns what a token adds to the text. The token that ends a choice adds nothing unless it was asked for.
func (c *choice) text(e inference.Event) string {
	ends := e.Finish == inference.FinishEOS || e.Finish == inference.FinishStop
	switch {
	case ends && !c.params.IncludeStop:
		return ""
	case ends:
		return c.decoder.Flush() + string(c.model.Tokenizer.Bytes(e.Token))
	case c.model.hidden(e.Token) && !c.params.KeepSpecialTokens:
		return ""
	}
	return c.decoder.Add(e.Token)
}

// addText looks for stop strings in a piece and parses what is certain. It returns the stop string that was met.
func (c *choice) addText(piece string, d *chat.Delta) (found string) {
	c.size += len(piece)
	if c.tokens > c.params.MinTokens {
		piece, found = c.stops.Add(piece)
	} else {
		piece = c.stops.Pass(piece)
	}
	c.parseText(piece, d)
	return found
}

func (c *choice) parseText(piece string, d *chat.Delta) {
	switch {
	case piece == "":
	case c.parser == nil:
		d.Events = append(d.Events, chat.Event{Kind: chat.Text, Text: piece})
	default:
		d.Events = append(d.Events, c.parser.Add(piece)...)
	}
}

// end flushes what was held back and says how the choice ended.
func (c *choice) end(e inference.Event, finish chat.Finish, d *chat.Delta) {
	c.ended = true
	if finish.StopString == "" {
		c.parseText(c.stops.Flush(), d)
	}
	if c.parser != nil {
		inCall := c.parser.InCall()
		d.Events = append(d.Events, c.parser.Flush()...)
		if c.parser.Calls() > 0 && !(e.Finish == inference.FinishLength && inCall) {
			finish.Reason = chat.ReasonToolCalls
		}
	}
	c.finishEvents(d)
	d.Finish = &finish
}

// finishEvents joins neighbours and names the calls. Where one call is wanted, nothing follows it.
func (c *choice) finishEvents(d *chat.Delta) {
	events := d.Events[:0]
	for _, e := range d.Events {
		n := len(events)
		if c.oneCall && n > 0 && events[n-1].Kind == chat.CallArguments && e.Kind != chat.CallArguments {
			break
		}
		if n > 0 && events[n-1].Kind == e.Kind && e.Kind != chat.CallStart {
			events[n-1].Text += e.Text
			continue
		}
		if e.Kind == chat.CallStart {
			e.ID = randomHex()
		}
		events = append(events, e)
	}
	d.Events = slices.Clip(events)
}

// usage counts the choice's tokens so far.
func (c *choice) usage() chat.Usage {
	u := chat.Usage{OutputTokens: c.tokens}
	if c.parser != nil {
		u.ReasoningTokens = c.reasoningTokens()
	}
	return u
}

// reasoningTokens counts the tokens between the markers. Where a token begins decides.
func (c *choice) reasoningTokens() int {
	span := c.parser.Span()
	switch {
	case span.Open < 0 || c.reason > 0:
		return c.reason
	case span.Close < 0:
		return len(c.starts) - lowerBound(c.starts, span.Open)
	}
	c.reason = lowerBound(c.starts, span.Close) - lowerBound(c.starts, span.Open)
	return c.reason
}

// lowerBound returns how many of the sorted numbers are below x.
func lowerBound(sorted []int, x int) int {
	i, _ := slices.BinarySearch(sorted, x)
	return i
}

// token returns what is told about an output token.
func (c *choice) token(e inference.Event) chat.Token {
	t := chat.Token{TokenLogprob: c.model.describe(inference.TokenLogprob{Token: e.Token, Logprob: e.Logprob, Rank: e.Rank, Kept: true})}
	t.Scored = c.params.Logprobs != nil
	t.Top = c.model.ranking(e.Top)
	return t
}

// randomHex returns 32 hexadecimal digits, enough to be unique.
func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
