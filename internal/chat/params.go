// SPDX-License-Identifier: Apache-2.0

package chat

import "github.com/sampo-ai/sampo/internal/token"

// A Request asks a model to continue a conversation.
type Request struct {
	Conversation
	Params
	Thinking      *bool  // nil: the template's own default
	Effort        string // reasoning effort: a word or a number, "" for the model's own default
	Budget        *int   // most tokens of thinking; nil: no limit
	NoToolParsing bool   // tool_choice "none": calls stay text
	OneCall       bool   // keep only the first call of an answer
}

// A Completion asks a model to continue raw texts. Every prompt gets Params.Choices continuations.
type Completion struct {
	Prompts []Prompt
	Params
}

// A Prompt is a raw text or, if Tokens is not nil, a list of tokens to be run exactly as it is.
type Prompt struct {
	Text   string
	Tokens []token.ID
}

// Params are what a client asked of generation. Nil is what it left open: the model's own default holds there, or
// else the neutral value.
type Params struct {
	RequestID string // "" for a fresh one
	Choices   int    // 0 counts as 1
	MaxTokens *int   // output tokens of a choice; nil: the rest of the context; 0: score the prompt only
	MinTokens int

	Temperature       *float64
	TopP              *float64
	TopK              *int
	MinP              *float64
	RepetitionPenalty *float64
	PresencePenalty   float64
	FrequencyPenalty  float64
	Seed              *int64
	Bias              []TokenBias
	Allowed           []token.ID // nil: every token
	BadWords          []string

	Beam *Beam // nil: tokens are sampled

	Stop              []string
	StopTokens        []token.ID
	IgnoreEOS         bool
	IncludeStop       bool // a stop string, or a stop token's text, stays in the text
	KeepSpecialTokens bool // special tokens show in the text

	Logprobs       *int // nil: none; N: the token's own and the N best; AllLogprobs: the whole vocabulary
	PromptLogprobs *int
	Candidates     *int // tell so many best tokens with each, and whether they were in play; nil: none

	Echo             bool
	AddSpecialTokens *bool // nil: true for completions, false for conversations
	TruncatePrompt   *int  // keep so many prompt tokens; -1: as many as fit
	TruncateRight    bool  // keep the first ones instead of the last ones

	Explain bool // tell how the prompt came to be

	CacheSalt string
	Fresh     bool // compute the prompt anew: the prefix cache is not read
	Session   string
	Tenant    string // who pays: tenants get equal shares
	Priority  int64
}

// A Beam asks for the most probable continuations. The Choices best of them are the answer.
type Beam struct {
	Width         int     // continuations that are followed at once
	LengthPenalty float64 // the sum of logprobs is divided by the length to this power
}

// AllLogprobs as Params.Logprobs asks for every entry of the vocabulary.
const AllLogprobs = -1

// A TokenBias is added to the logit of one token.
type TokenBias struct {
	Token token.ID
	Value float64
}
