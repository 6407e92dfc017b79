// SPDX-License-Identifier: Apache-2.0

// Package inference is the contract between everything that knows text and everything that knows tensors: token
// IDs go in, token IDs and logprobs come out.
//
// An Engine accepts a Request and gives a Stream of Events. A request may ask for several choices: independent
// continuations of one prompt, numbered from 0. A stream ends each choice with exactly one event whose Finish is
// set, or the whole request with one error.
//
// Templates, tokenizers, stop strings and APIs sit above this contract and behave the same on every engine.
package inference

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sampo-ai/sampo/internal/token"
)

// ErrBusy says that the engine's waiting queue is full.
var ErrBusy = errors.New("inference: waiting queue is full")

// ErrExpired says that the request waited for its first step longer than the engine lets requests wait.
var ErrExpired = errors.New("inference: request waited too long")

// ErrClosed says that the engine is shutting down or has stopped.
var ErrClosed = errors.New("inference: engine is closed")

// ErrEngine says that a step failed; the request is lost, the engine goes on.
var ErrEngine = errors.New("inference: engine failure")

// ErrNoToken says that a request forbids every token at some point of an answer.
var ErrNoToken = errors.New("inference: every token is forbidden")

// A LengthError says that a request cannot fit, and by how much.
type LengthError struct{ PromptTokens, OutputTokens, MaxContext int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("inference: prompt of %d tokens and %d output tokens exceed context length %d",
		e.PromptTokens, e.OutputTokens, e.MaxContext)
}

// An Engine turns token IDs into token IDs.
type Engine interface {
	// Info describes the model and its limits. It does not change while the engine lives.
	Info() Info
	// Submit queues a request. It returns at once: ErrBusy when the queue is full, ErrClosed after Close, a
	// *LengthError when the request cannot fit. Cancelling ctx aborts the request within one step.
	Submit(ctx context.Context, req Request) (Stream, error)
	// Load returns how many sequences run and how many wait.
	Load() (running, waiting int)
	// Err is nil while the engine is well, else why it is not, or ErrClosed. An engine that is not closed still takes requests.
	Err() error
	// Close ends all requests with ErrClosed and frees the engine. It waits for the engine's goroutine.
	Close() error
}

// Info describes an engine's model and limits.
type Info struct {
	VocabSize  int    // rows of the output matrix
	MaxContext int    // most tokens of prompt plus output
	Tier       string // "cpu-avx512", "cpu-avx2", "cpu-generic", ...
	Blocks     int    // cache blocks in all
	BlockSize  int    // tokens a cache block
}

// Unlimited as Request.MaxTokens means the rest of the context.
const Unlimited = -1

// A Request asks for one or more continuations of a prompt.
type Request struct {
	ID        string     // for logs; need not be unique
	Prompt    []token.ID // at least one token
	Choices   int        // independent continuations, at least 1; 0 means 1
	Sampling  Sampling
	MaxTokens int        // per choice; Unlimited: the rest of the context; 0: score the prompt only
	MinTokens int        // EOS, MoreEOS and Stop are masked until so many output tokens
	EOS       token.ID   // the primary end of text, token.None if the model has none
	MoreEOS   []token.ID // further ends of text that the model names; dropped under IgnoreEOS
	Stop      []token.ID // stop tokens of the request; hold under IgnoreEOS too
	IgnoreEOS bool
	Logprobs  int // -1 none; N >= 0: that of the token and the N best; AllLogprobs: the whole vocabulary
	// Kept asks for the entries of Event.Top to say which tokens could have been drawn.
	Kept bool
	// PromptLogprobs is as Logprobs, for each prompt token but the first. The prefix cache is then not read.
	PromptLogprobs int
	SkipCache      bool            // compute the prompt anew: the prefix cache is not read
	CacheSalt      string          // requests share cached blocks only under the same salt
	Session        string          // conversation whose blocks are evicted later than others; may be empty
	Priority       int64           // lower runs first
	Budget         *ThinkingBudget // nil: the model thinks as long as it wants
	Tenant         string          // who pays, such as an API key's name: tenants get equal shares; may be empty
}

// NoLogprobs and AllLogprobs are special values of Request.Logprobs and PromptLogprobs.
const (
	NoLogprobs  = -1
	AllLogprobs = 1 << 30
)

// Sampling says how the next token is chosen from logits. The zero value is greedy. Values are resolved: defaults
// and nulls were dealt with above.
type Sampling struct {
	Temperature       float32 // 0 is greedy
	TopP              float32 // 0 or 1 is off
	TopK              int     // 0 or less is off
	MinP              float32 // 0 is off
	RepetitionPenalty float32 // 0 or 1 is off
	PresencePenalty   float32
	FrequencyPenalty  float32
	Seed              *int64 // choice i uses Seed+i, wrapping; nil: fresh entropy for each choice
	Bias              []Bias
	Allowed           *token.Mask  // nil: every token
	BadWords          [][]token.ID // sequences that must not be completed
}

// A ThinkingBudget ends the model's thinking after a number of tokens.
type ThinkingBudget struct {
	Tokens  int        // of thinking in a choice; 0 closes it at once
	Open    token.ID   // begins the thinking; token.None if the prompt has begun it
	Close   token.ID   // ends it
	Closing []token.ID // what the choice must go on with when the budget is used up; Close is among them
}

// A Bias is added to one token's logit.
type Bias struct {
	Token token.ID
	Value float32
}

// A Finish says why a choice ended.
type Finish uint8

// The reasons why a choice ends.
const (
	Running      Finish = iota // not ended yet
	FinishEOS                  // the primary EOS, or Stream.Stop
	FinishStop                 // a stop token or one of MoreEOS; the event's Token says which
	FinishLength               // MaxTokens or the end of the context
)

// An Event is one token of one choice, or what came before the first.
type Event struct {
	Choice  int
	Token   token.ID // token.None on an event without a token
	Logprob float32  // of Token, raw model; when asked for
	Rank    int      // of Token in the whole vocabulary, from 1; with Logprob
	Top     []TokenLogprob
	Finish  Finish
	Prompt  *PromptInfo // on the first event of a stream only
	Time    time.Time   // when the step that made it ended
}

// A TokenLogprob is a token and its raw log-probability.
type TokenLogprob struct {
	Token   token.ID
	Logprob float32
	Rank    int  // 1-based in the whole vocabulary; 0 where it was not counted
	Kept    bool // it was in play when the token was drawn; set where Request.Kept asked for it
}

// PromptInfo tells what became of the prompt.
type PromptInfo struct {
	CachedTokens int       // prompt tokens read from the prefix cache
	Started      time.Time // when the first step worked on the request
	// Logprobs has, for each prompt token but the first, its own entry first and then the best ones, descending
	// (its own may appear again among them). Nil unless asked for.
	Logprobs [][]TokenLogprob
}

// A Stream gives a request's events. Its methods may be called from one goroutine at a time, Stop and Close from any.
type Stream interface {
	// Next waits for the next event. After the last choice ended it returns io.EOF; after an abort the context's
	// error; after a failure an error that wraps ErrEngine or ErrClosed, or ErrExpired.
	Next() (Event, error)
	// Ready reports whether Next would return at once. If not, wake is called when it would; it must not block, nor use
	// the stream. The latest wake counts.
	Ready(wake func()) bool
	// Stop ends a choice that met a stop string. Events of that choice that were made but not read are dropped, and
	// the choice ends with an event that has no token and FinishEOS. If its end was read before, Stop does nothing.
	Stop(choice int)
	// Close aborts what still runs. It may be called more than once. Next then gives what was made before, without
	// waiting.
	Close()
}
