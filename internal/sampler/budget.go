// SPDX-License-Identifier: Apache-2.0

package sampler

import "github.com/sampo-ai/sampo/internal/token"

// A Budget ends a stretch of output, the model's thinking, after a number of tokens.
type Budget struct {
	Tokens  int        // that it may have; 0 closes it at once
	Open    token.ID   // begins it; token.None if the prompt has begun it
	Close   token.ID   // ends it
	Closing []token.ID // forced when the budget is used up; Close is among them
}

// beginThinking starts to count where the prompt has opened the thinking.
func (s *State) beginThinking() {
	if b := s.params.Budget; b != nil && b.Open == token.None {
		s.thinking = true
		s.bound()
	}
}

// think counts the output token id, if it is part of the thinking.
func (s *State) think(id token.ID) {
	b := s.params.Budget
	switch {
	case b == nil:
	case len(s.forced) > 0:
		s.forced = s.forced[1:]
		s.thinking = s.thinking && id != b.Close
	case !s.thinking:
		s.thinking = id == b.Open && id != token.None
	case id == b.Close:
		s.thinking = false
	default:
		s.thought++
	}
	if b != nil && len(s.forced) == 0 {
		s.bound()
	}
}

// bound forces the end of the thinking once its budget is used up.
func (s *State) bound() {
	if b := s.params.Budget; s.thinking && s.thought >= b.Tokens {
		s.forced = b.Closing
	}
}
