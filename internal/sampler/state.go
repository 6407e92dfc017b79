// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"slices"

	"github.com/sampo-ai/sampo/internal/token"
)

// Params say how tokens are chosen. The zero value is greedy and restricts nothing.
type Params struct {
	Temperature float32 // 0 is greedy; less than 0.01 counts as 0.01
	TopP        float32 // 0 or 1 is off
	TopK        int     // 0 or less is off
	MinP        float32 // 0 is off
	Repetition  float32 // divides positive logits of tokens seen, multiplies others; 0 or 1 is off
	Presence    float32 // subtracted once for a token in the output
	Frequency   float32 // subtracted for each time it is there
	Bias        []Bias
	Allowed     *token.Mask  // nil: every token
	BadWords    [][]token.ID // sequences that the output must not complete
	MinTokens   int          // Ends are forbidden until so many output tokens
	Ends        []token.ID
	Budget      *Budget // of the thinking; nil: none
}

// A Bias is added to one token's logit.
type Bias struct {
	Token token.ID
	Value float32
}

// A State is one choice's parameters and what they remember of its tokens.
type State struct {
	params Params
	seed   uint64
	count  int        // output tokens
	output []token.ID // kept for bad words only
	prompt []token.ID // its different tokens in rising order, kept for the repetition penalty only; siblings share it
	seen   []seen     // kept for penalties only
	index  map[token.ID]int

	thinking bool // between the markers
	thought  int  // tokens there
	forced   []token.ID
}

// seen is a token of the output.
type seen struct {
	id    token.ID
	times float32
	old   bool // the prompt has it, too
}

// NewState returns the state of a choice that has no output yet. The seed decides its draws.
func NewState(params Params, prompt []token.ID, seed uint64) *State {
	s := &State{params: params, seed: seed}
	if s.repeats() {
		s.prompt = slices.Clone(prompt)
		slices.Sort(s.prompt)
		s.prompt = slices.Compact(s.prompt)
	}
	s.beginThinking()
	return s
}

// Sibling returns the state of another choice that continues the same prompt, which is kept once for all of them. Neither s
// nor the choice has any output yet.
func (s *State) Sibling(seed uint64) *State {
	other := *s
	other.seed = seed
	return &other
}

// Add says that id is the next output token.
func (s *State) Add(id token.ID) {
	s.count++
	s.think(id)
	if len(s.params.BadWords) > 0 {
		s.output = append(s.output, id)
	}
	if s.repeats() || s.params.Presence != 0 || s.params.Frequency != 0 {
		i := s.see(id)
		s.seen[i].times++
	}
}

// Ahead returns the state as it will be n tokens later, as far as that is known now: it draws with the numbers of that
// position, and knows nothing of the tokens in between. It must not be added to.
func (s *State) Ahead(n int) State {
	later := *s
	later.count += n
	return later
}

func (s *State) repeats() bool { return s.params.Repetition != 0 && s.params.Repetition != 1 }

// see returns the place of id in seen.
func (s *State) see(id token.ID) int {
	if i, ok := s.index[id]; ok {
		return i
	}
	if s.index == nil {
		s.index = map[token.ID]int{}
	}
	_, old := slices.BinarySearch(s.prompt, id)
	s.index[id] = len(s.seen)
	s.seen = append(s.seen, seen{id: id, old: old})
	return len(s.seen) - 1
}

// plain reports whether Sample may use the row as it is.
func (s *State) plain() bool {
	p := &s.params
	return p.Allowed == nil && len(p.BadWords) == 0 && s.count >= p.MinTokens && len(p.Bias) == 0 &&
		len(s.prompt)+len(s.seen)+len(s.forced) == 0
}

// completes reports whether the last token of word would complete it now.
func (s *State) completes(word []token.ID) bool {
	m := len(word) - 1
	return m >= 0 && len(s.output) >= m && slices.Equal(s.output[len(s.output)-m:], word[:m])
}
