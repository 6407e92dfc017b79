// SPDX-License-Identifier: Apache-2.0

package chat

import (
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A Kind says what an Event adds to an answer.
type Kind uint8

// The kinds of events.
const (
	Text          Kind = iota + 1 // visible text
	Reasoning                     // thinking, without its markers
	CallStart                     // a tool call opens: Call, ID and Name are set
	CallArguments                 // JSON text of the call's arguments
)

// An Event is a piece of an answer. Pieces of one kind are to be joined.
type Event struct {
	Kind Kind
	Text string
	Call int    // which tool call of the choice, from 0
	ID   string // of the call, on CallStart
	Name string // of the function, on CallStart
}

// A Delta is what one output token added to one choice, or how a choice or a prompt began or ended. The first delta
// of each prompt carries Prompt; the last one of each choice carries Finish.
type Delta struct {
	Choice   int // prompt index × choices of a prompt + number of the choice
	Prompt   *PromptInfo
	Events   []Event // none while a stop string or markup may be under way
	InMarkup bool    // what is held back is markup, a tool call for example
	Tokens   []Token // the output tokens behind this delta
	Finish   *Finish
	Usage    Usage // of this choice alone, so far; prompt tokens included
	Total    Usage // of all choices and prompts so far
	Timings  Timings
	At       time.Time // when the engine made the token
}

// PromptInfo tells what a prompt became.
type PromptInfo struct {
	Index  int // which prompt of the request
	Tokens []token.ID
	Text   string // rendered, or as sent; ids are decoded with their special tokens
	Echo   string // what an echo puts before the answer
	// Logprobs has one entry for each prompt token if they were asked for; the first has no logprob.
	Logprobs []Token
	// Explanation is there if it was asked for.
	Explanation *Explanation
}

// An Explanation tells how a prompt came to be and what the engine was asked.
type Explanation struct {
	Template string // hash of the chat template, "" for a raw prompt
	Segments []Segment
	Plan     *ordjson.Object // what the request became with all defaults resolved
}

// A Segment is a piece of a prompt.
type Segment struct {
	Text string
	Data bool // from the client; else from the template
}

// A Token is one token of a prompt or an answer.
type Token struct {
	TokenLogprob
	Scored bool    // Logprob is known
	Top    Ranking // the best ones, descending, if they were asked for
}

// A Ranking lists tokens from the best down. It may hold the whole vocabulary for each of many tokens, so it keeps twelve
// bytes of each and looks texts up when an entry is read.
type Ranking struct {
	Entries []Candidate
	Bytes   func(token.ID) []byte // of a token; needed if there are entries
}

// A Candidate is an entry of a Ranking.
type Candidate struct {
	ID      token.ID
	Logprob float32
	Kept    bool // see TokenLogprob
}

// Len returns the number of entries.
func (r Ranking) Len() int { return len(r.Entries) }

// At returns the entry of rank i+1.
func (r Ranking) At(i int) TokenLogprob {
	e := r.Entries[i]
	t := Describe(e.ID, r.Bytes(e.ID))
	t.Logprob, t.Kept, t.Rank = e.Logprob, e.Kept, i+1
	return t
}

// Describe returns a token with its text.
func Describe(id token.ID, raw []byte) TokenLogprob {
	return TokenLogprob{ID: id, Text: strings.ToValidUTF8(string(raw), "\uFFFD"), Bytes: raw}
}

// A TokenLogprob is a token with its text and its raw log-probability.
type TokenLogprob struct {
	ID      token.ID
	Text    string // decoded alone; special tokens as their literal text
	Bytes   []byte // joined over an answer they give exactly its text
	Logprob float32
	Rank    int  // 1-based in the whole vocabulary; 0 where it is unknown
	Kept    bool // it was in play when the token was drawn; known for Params.Candidates only
}

// A Reason says why a choice ended.
type Reason string

// The reasons why a choice ends, as the APIs spell them.
const (
	ReasonStop      Reason = "stop"
	ReasonLength    Reason = "length"
	ReasonToolCalls Reason = "tool_calls"
)

// A Finish tells how a choice ended. At most one of the two stops is set.
type Finish struct {
	Reason     Reason
	StopString string   // the stop string that was met
	StopToken  token.ID // the stop token that was met; token.None for the primary end of text
}

// Usage counts tokens.
type Usage struct {
	PromptTokens    int
	CachedTokens    int // of the prompt tokens
	OutputTokens    int
	ReasoningTokens int // of the output tokens
}

// Timings tell how long the stages of a request took so far.
type Timings struct {
	Queue         time.Duration // from the request read whole to the first step that works on it
	Prefill       time.Duration // from there to the first output token
	Decode        time.Duration // from the first output token to the last
	PrefillTokens int           // prompt tokens that were not read from the cache
	DecodeTokens  int           // output tokens after the first of each choice
	CachedTokens  int
}

// An Answer is a whole answer: the deltas of a stream put together.
type Answer struct {
	Prompts []PromptInfo
	Choices []Choice
	Usage   Usage
	Timings Timings
}

// A Choice is one of the continuations of an Answer.
type Choice struct {
	Text      string
	Reasoning string
	Calls     []ToolCall
	Tokens    []Token
	Finish    Finish
}
