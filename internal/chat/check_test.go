// SPDX-License-Identifier: Apache-2.0

package chat

import (
	"errors"
	"math"
	"testing"
)

func ptr[T any](v T) *T { return &v }

func TestCheckNamesTheParameterThatIsOutOfRange(t *testing.T) {
	for _, tt := range []struct {
		params Params
		want   string // "" is fine
	}{
		{Params{}, ""},
		{Params{Temperature: ptr(0.0), TopP: ptr(1.0), TopK: ptr(-1), MinP: ptr(1.0), Logprobs: ptr(AllLogprobs), MaxTokens: ptr(0)}, ""},
		{Params{Temperature: ptr(-0.1)}, "temperature"},
		{Params{Temperature: ptr(math.Inf(1))}, "temperature"},
		{Params{Temperature: ptr(math.NaN())}, "temperature"},
		{Params{TopP: ptr(0.0)}, "top_p"},
		{Params{TopP: ptr(1.1)}, "top_p"},
		{Params{TopK: ptr(-2)}, "top_k"},
		{Params{MinP: ptr(1.5)}, "min_p"},
		{Params{RepetitionPenalty: ptr(0.0)}, "repetition_penalty"},
		{Params{PresencePenalty: 2.5}, "presence_penalty"},
		{Params{FrequencyPenalty: -2.5}, "frequency_penalty"},
		{Params{MaxTokens: ptr(-1)}, "max_tokens"},
		{Params{MinTokens: -1}, "min_tokens"},
		{Params{MinTokens: 5, MaxTokens: ptr(4)}, "min_tokens"},
		{Params{Logprobs: ptr(-2)}, "logprobs"},
		{Params{PromptLogprobs: ptr(-1)}, "prompt_logprobs"},
		{Params{Stop: []string{"a", ""}}, "stop and bad_words"},
	} {
		got := ""
		var bad *ParamError
		if err := tt.params.Check(); errors.As(err, &bad) {
			got = bad.Param
		}
		if got != tt.want {
			t.Errorf("Check(%+v) names %q, want %q", tt.params, got, tt.want)
		}
	}
}
