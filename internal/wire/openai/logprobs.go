// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/token"
)

// lowest stands for minus infinity.
const lowest = -9999

func clamp(x float32) float32 {
	if x >= lowest {
		return x
	}
	return lowest // NaN too
}

// A chatLogprobs is the logprobs object of a chat choice.
type chatLogprobs struct {
	Content []chatLogprob `json:"content"`
	Refusal *string       `json:"refusal"`
}

type chatLogprob struct {
	topLogprob
	Top []topLogprob `json:"top_logprobs"`
}

type topLogprob struct {
	Token   string  `json:"token"`
	Logprob float32 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// chatLogprobs writes what its name says of each token.
func (c *Common) chatLogprobs(p *parts, tokens []chat.Token) *later[chatLogprobs] {
	return postpone[chatLogprobs](p, func(s *sink) {
		s.raw(`{"content":[`)
		for i, t := range tokens {
			s.comma(i)
			s.raw(`{`)
			c.topLogprob(s, t.TokenLogprob)
			s.raw(`,"top_logprobs":[`)
			for j := range t.Top.Len() {
				s.comma(j)
				s.raw(`{`)
				c.topLogprob(s, t.Top.At(j))
				s.raw(`}`)
				if !s.flushed() {
					return
				}
			}
			s.raw(`]}`)
		}
		s.raw(`],"refusal":null}`)
	})
}

func (c *Common) topLogprob(s *sink, t chat.TokenLogprob) {
	s.raw(`"token":`)
	s.string(c.tokenString(t))
	s.raw(`,"logprob":`)
	s.float(clamp(t.Logprob))
	s.raw(`,"bytes":[`)
	for i, b := range t.Bytes {
		s.comma(i)
		s.int(int(b))
	}
	s.raw(`]`)
}

func (c *Common) tokenString(t chat.TokenLogprob) string {
	if c.TokensAsIDs {
		return tokenID(t)
	}
	return t.Text
}

func tokenID(t chat.TokenLogprob) string { return "token_id:" + strconv.Itoa(int(t.ID)) }

// A completionLogprobs is the logprobs object of a completion choice: four arrays of one length.
type completionLogprobs struct {
	Tokens     []string     `json:"tokens"`
	Logprobs   []*float32   `json:"token_logprobs"`
	Top        []logprobMap `json:"top_logprobs"`
	TextOffset []int        `json:"text_offset"`
}

// completionLogprobs writes about the tokens of a prompt that is echoed, and those of an answer. offset is the number of
// code points before them. A negative top asks for the whole vocabulary.
func (c *Common) completionLogprobs(p *parts, prompt, tokens []chat.Token, top, offset int) *later[completionLogprobs] {
	return postpone[completionLogprobs](p, func(s *sink) {
		tokens := slices.Concat(prompt, tokens)
		list := func(name string, item func(t *chat.Token)) {
			s.raw(name)
			for i := range tokens {
				s.comma(i)
				item(&tokens[i])
				s.flushed()
			}
			s.raw(`]`)
		}
		list(`{"tokens":[`, func(t *chat.Token) { s.string(c.tokenString(t.TokenLogprob)) })
		list(`,"token_logprobs":[`, func(t *chat.Token) {
			if !t.Scored {
				s.raw(`null`)
				return
			}
			s.float(clamp(t.Logprob))
		})
		seen := map[string]struct{}{}
		list(`,"top_logprobs":[`, func(t *chat.Token) { c.logprobMap(s, t, top, seen) })
		list(`,"text_offset":[`, func(t *chat.Token) {
			s.int(offset)
			offset += utf8.RuneCountInString(t.Text)
		})
		s.raw(`}`)
	})
}

// codePoints counts those of tokens.
func codePoints(tokens []chat.Token) (n int) {
	for _, t := range tokens {
		n += utf8.RuneCountInString(t.Text)
	}
	return n
}

// A logprobMap is a JSON object from token strings to logprobs, in order, or null.
type logprobMap map[string]float32

// logprobMap lists the best tokens and the token itself. Where two tokens have one string, the token itself counts,
// or, in a list of the whole vocabulary, the better one, and the other goes by its id. It leaves strings in seen.
func (c *Common) logprobMap(s *sink, t *chat.Token, top int, seen map[string]struct{}) {
	if !t.Scored {
		s.raw(`null`)
		return
	}
	clear(seen)
	s.raw(`{`)
	add := func(name string, logprob float32) {
		s.comma(len(seen))
		seen[name] = struct{}{}
		s.string(name)
		s.raw(`:`)
		s.float(clamp(logprob))
	}
	own := c.tokenString(t.TokenLogprob)
	for i := range t.Top.Len() {
		if top >= 0 && i >= top || !s.flushed() {
			break
		}
		e := t.Top.At(i)
		name := c.tokenString(e)
		_, taken := seen[name]
		switch {
		case taken && top < 0:
			add(tokenID(e), e.Logprob)
		case taken:
		case top >= 0 && name == own:
			add(name, t.Logprob)
		default:
			add(name, e.Logprob)
		}
	}
	if _, taken := seen[own]; !taken {
		add(own, t.Logprob)
	}
	s.raw(`}`)
}

// An explainedToken is an output token with the candidates that it was chosen from. Probabilities are the model's own, at
// temperature 1 over the whole vocabulary, before any filter.
type explainedToken struct {
	ID          token.ID         `json:"id"`
	Text        string           `json:"text"`
	Probability float64          `json:"probability"`
	Rank        int              `json:"rank"`
	Candidates  []candidateToken `json:"candidates"`
}

type candidateToken struct {
	ID          token.ID `json:"id"`
	Text        string   `json:"text"`
	Probability float64  `json:"probability"`
	Rank        int      `json:"rank"`
	Kept        bool     `json:"kept"` // the filters left it in play
}

// explainedTokens returns nil unless an explanation was asked for.
func (r *CompletionRequest) explainedTokens(tokens []chat.Token) []explainedToken {
	if r.Explain == nil {
		return nil
	}
	list := make([]explainedToken, len(tokens))
	for i, t := range tokens {
		list[i] = explainedToken{t.ID, t.Text, math.Exp(float64(t.Logprob)), t.Rank, []candidateToken{}}
		for j := range min(t.Top.Len(), *r.Explain) {
			e := t.Top.At(j)
			list[i].Candidates = append(list[i].Candidates, candidateToken{e.ID, e.Text, math.Exp(float64(e.Logprob)), e.Rank, e.Kept})
		}
	}
	return list
}

// promptLogprobs writes, for each token of a prompt, an object from token ids to their logprobs. The first is null.
func promptLogprobs(p *parts, tokens []chat.Token, top int) *later[[]json.RawMessage] {
	if len(tokens) == 0 {
		return nil
	}
	return postpone[[]json.RawMessage](p, func(s *sink) {
		s.raw(`[`)
		for i := range tokens {
			s.comma(i)
			promptLogprob(s, &tokens[i], top)
			if !s.flushed() {
				return
			}
		}
		s.raw(`]`)
	})
}

func promptLogprob(s *sink, t *chat.Token, top int) {
	if !t.Scored {
		s.raw(`null`)
		return
	}
	add := func(e chat.TokenLogprob) {
		s.raw(`"`)
		s.int(int(e.ID))
		s.raw(`":{"logprob":`)
		s.float(clamp(e.Logprob))
		s.raw(`,"rank":`)
		s.int(e.Rank)
		s.raw(`,"decoded_token":`)
		s.string(e.Text)
		s.raw(`}`)
	}
	s.raw(`{`)
	add(t.TokenLogprob)
	for i := range min(top, t.Top.Len()) {
		if e := t.Top.At(i); e.ID != t.ID {
			s.raw(`,`)
			add(e)
		}
	}
	s.raw(`}`)
}
