// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"encoding/json"
	"math"
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

func (c *Common) chatLogprobs(tokens []chat.Token) *chatLogprobs {
	l := &chatLogprobs{Content: make([]chatLogprob, len(tokens))}
	for i, t := range tokens {
		top := make([]topLogprob, len(t.Top))
		for j, e := range t.Top {
			top[j] = c.topLogprob(e)
		}
		l.Content[i] = chatLogprob{c.topLogprob(t.TokenLogprob), top}
	}
	return l
}

func (c *Common) topLogprob(t chat.TokenLogprob) topLogprob {
	b := make([]int, len(t.Bytes))
	for i, x := range t.Bytes {
		b[i] = int(x)
	}
	return topLogprob{Token: c.tokenString(t), Logprob: clamp(t.Logprob), Bytes: b}
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

// completionLogprobs takes the number of code points before the tokens and returns that after them. A negative top
// asks for the whole vocabulary.
func (c *Common) completionLogprobs(tokens []chat.Token, top, offset int) (*completionLogprobs, int) {
	l := &completionLogprobs{
		Tokens: make([]string, len(tokens)), Logprobs: make([]*float32, len(tokens)),
		Top: make([]logprobMap, len(tokens)), TextOffset: make([]int, len(tokens)),
	}
	for i, t := range tokens {
		l.Tokens[i], l.TextOffset[i] = c.tokenString(t.TokenLogprob), offset
		offset += utf8.RuneCountInString(t.Text)
		if t.Scored {
			x := clamp(t.Logprob)
			l.Logprobs[i] = &x
			l.Top[i] = c.logprobMap(t, top)
		}
	}
	return l, offset
}

// A logprobMap is a JSON object from token strings to logprobs that keeps its order; null if it is nil.
type logprobMap []struct {
	name    string
	logprob float32
}

// logprobMap lists the best tokens and the token itself. Where two tokens have one string, the token itself counts,
// or, in a list of the whole vocabulary, the better one, and the other goes by its id.
func (c *Common) logprobMap(t chat.Token, top int) logprobMap {
	m := logprobMap{}
	at := map[string]int{}
	add := func(name string, logprob float32) {
		at[name] = len(m)
		m = append(m, struct {
			name    string
			logprob float32
		}{name, clamp(logprob)})
	}
	for i, e := range t.Top {
		if top >= 0 && i >= top {
			break
		}
		name := c.tokenString(e)
		if _, taken := at[name]; !taken {
			add(name, e.Logprob)
		} else if top < 0 {
			add(tokenID(e), e.Logprob)
		}
	}
	own := c.tokenString(t.TokenLogprob)
	if i, taken := at[own]; !taken {
		add(own, t.Logprob)
	} else if top >= 0 {
		m[i].logprob = clamp(t.Logprob)
	}
	return m
}

// MarshalJSON writes the entries in order.
func (m logprobMap) MarshalJSON() ([]byte, error) {
	if m == nil {
		return null, nil
	}
	b := []byte{'{'}
	for i, e := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encode(e.name)...)
		b = append(b, ':')
		b = append(b, encode(e.logprob)...)
	}
	return append(b, '}'), nil
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
		for _, e := range t.Top[:min(len(t.Top), *r.Explain)] {
			list[i].Candidates = append(list[i].Candidates, candidateToken{e.ID, e.Text, math.Exp(float64(e.Logprob)), e.Rank, e.Kept})
		}
	}
	return list
}

// promptLogprobs returns, for each token of a prompt, an object from token ids to their logprobs. The first is null.
func promptLogprobs(tokens []chat.Token, top int) []json.RawMessage {
	list := make([]json.RawMessage, len(tokens))
	for i, t := range tokens {
		if !t.Scored {
			list[i] = null
			continue
		}
		list[i] = promptLogprob(t, top)
	}
	return list
}

func promptLogprob(t chat.Token, top int) json.RawMessage {
	b := []byte{'{'}
	seen := map[string]bool{}
	add := func(e chat.TokenLogprob) {
		key := strconv.Itoa(int(e.ID))
		if seen[key] {
			return
		}
		if seen[key] = true; len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), key...), `":`...)
		b = append(b, encode(struct {
			Logprob float32 `json:"logprob"`
			Rank    int     `json:"rank"`
			Text    string  `json:"decoded_token"`
		}{clamp(e.Logprob), e.Rank, e.Text})...)
	}
	add(t.TokenLogprob)
	for i, e := range t.Top {
		if i >= top {
			break
		}
		if e.Rank == 0 {
			e.Rank = i + 1
		}
		add(e)
	}
	return append(b, '}')
}
