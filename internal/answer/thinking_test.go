// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

func TestEffortMeansWhatTheModelKnows(t *testing.T) {
	on, off := true, false
	const (
		qwen3    = "<|im_start|> enable_thinking"
		qwen38   = "<|im_start|> reasoning_effort"
		glm      = "[gMASK] reasoning_effort"
		deepseek = "<\uFF5CUser\uFF5C> reasoning_effort"
		gptoss   = "<|channel|> reasoning_effort"
	)
	for _, tt := range []struct {
		template string
		effort   string
		thinking *bool
		want     any
		refused  bool
	}{
		{qwen3, "low", nil, nil, false},
		{qwen3, "70", nil, nil, true},
		{qwen38, "", nil, nil, false},
		{qwen38, "minimal", nil, "low", false},
		{qwen38, "max", nil, "xhigh", false},
		{qwen38, "xhigh", nil, "xhigh", false},
		{qwen38, "none", &off, nil, false},
		{deepseek, "70", nil, ordjson.Int(70), false},
		{deepseek, "", &on, "high", false},
		{deepseek, "max", nil, "max", false},
		{glm, "", nil, "max", false},
		{glm, "", &off, "high", false},
		{glm, "none", &off, "high", false},
		{glm, "medium", nil, "max", false},
		{glm, "7", nil, nil, true},
		{gptoss, "xhigh", nil, "high", false},
		{gptoss, "none", &off, nil, true},
	} {
		e := effortsOf(tt.template)
		got, err := e.value(&chat.Request{Effort: tt.effort, Thinking: tt.thinking})
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.refused {
			t.Errorf("%s, effort %q: error %v, want one: %v; value (-want +got):\n%s", tt.template, tt.effort, err, tt.refused, diff)
		}
	}
}
