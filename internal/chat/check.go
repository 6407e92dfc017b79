// SPDX-License-Identifier: Apache-2.0

package chat

import (
	"fmt"
	"math"
)

// A ParamError names a parameter whose value no model could take. Parameters have the names of the OpenAI API.
type ParamError struct{ Param, Want, Got string }

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s must be %s, got %s", e.Param, e.Want, e.Got)
}

// Check reports the first parameter that is out of its range.
func (p *Params) Check() error {
	for _, c := range []struct {
		param string
		value *float64
		want  string
		ok    func(x float64) bool
	}{
		{"temperature", p.Temperature, "at least 0", func(x float64) bool { return x >= 0 }},
		{"top_p", p.TopP, "above 0 and at most 1", func(x float64) bool { return x > 0 && x <= 1 }},
		{"min_p", p.MinP, "between 0 and 1", func(x float64) bool { return x >= 0 && x <= 1 }},
		{"repetition_penalty", p.RepetitionPenalty, "above 0", func(x float64) bool { return x > 0 }},
		{"presence_penalty", &p.PresencePenalty, "between -2 and 2", func(x float64) bool { return math.Abs(x) <= 2 }},
		{"frequency_penalty", &p.FrequencyPenalty, "between -2 and 2", func(x float64) bool { return math.Abs(x) <= 2 }},
	} {
		if c.value != nil && (!c.ok(*c.value) || math.IsInf(*c.value, 0)) {
			return &ParamError{c.param, c.want, fmt.Sprint(*c.value)}
		}
	}
	if err := p.checkCounts(); err != nil {
		return err
	}
	for _, s := range append(append([]string{}, p.Stop...), p.BadWords...) {
		if s == "" {
			return &ParamError{"stop and bad_words", "non-empty strings", `""`}
		}
	}
	return nil
}

// checkCounts checks the whole numbers.
func (p *Params) checkCounts() error {
	for _, c := range []struct {
		param string
		value *int
		least int
	}{
		{"top_k", p.TopK, -1},
		{"max_tokens", p.MaxTokens, 0},
		{"min_tokens", &p.MinTokens, 0},
		{"n", &p.Choices, 0},
		{"logprobs", p.Logprobs, AllLogprobs},
		{"prompt_logprobs", p.PromptLogprobs, 0},
	} {
		if c.value != nil && *c.value < c.least {
			return &ParamError{c.param, fmt.Sprintf("at least %d", c.least), fmt.Sprint(*c.value)}
		}
	}
	if p.MaxTokens != nil && p.MinTokens > *p.MaxTokens {
		return &ParamError{"min_tokens", fmt.Sprintf("at most max_tokens=%d", *p.MaxTokens), fmt.Sprint(p.MinTokens)}
	}
	return nil
}
