// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/testkit"
)

// What differs from run to run is replaced before the comparison.
var changing = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`"created":\d+`), `"created":1`},
	{regexp.MustCompile(`("(queue|prefill|decode)_ms"|"(prefill|decode)_tokens_per_second"):[0-9.e+-]+`), `$1:0`},
	{regexp.MustCompile(`chatcmpl-tool-[0-9a-f]{32}`), `chatcmpl-tool-0`},
	{regexp.MustCompile(`"sampo-0\.1\.0-[0-9a-f]{8}"`), `"sampo-0.1.0-0"`},
}

func TestAnswersMatchTheirGoldenFiles(t *testing.T) {
	const (
		tools    = `,"tools":[{"type":"function","function":{"name":"f"}}]`
		stream   = `,"stream":true,"stream_options":{"include_usage":true}`
		call     = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"
		chat     = "/v1/chat/completions"
		complete = "/v1/completions"
	)
	for _, tt := range []struct{ name, said, path, body string }{
		{"chat", "Hé <b>&amp;<|im_end|>", chat, `{` + hello + `}`},
		{"chat_stream", "Hé.<|im_end|>", chat, `{` + hello + stream + `}`},
		{"chat_stream_plain", "ab<|im_end|>", chat, `{"stream":true,` + hello + `}`},
		{"chat_stream_continuous", "ab<|im_end|>", chat, `{"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},` + hello + `}`},
		{"chat_n_stream", "ab<|im_end|>", chat, `{"n":2,` + hello + stream + `}`},
		{"chat_reasoning", "<think>\nhm\n</think>\n\nyes<|im_end|>", chat, `{` + hello + `}`},
		{"chat_reasoning_stream", "<think>\nhm\n</think>\n\nyes<|im_end|>", chat, `{` + hello + stream + `}`},
		{"chat_reasoning_hidden", "<think>\nhm\n</think>\n\nyes<|im_end|>", chat, `{"include_reasoning":false,"logprobs":true,` + hello + `}`},
		{"chat_tools", call + "<|im_end|>", chat, `{` + hello + tools + `}`},
		{"chat_tools_stream", "ok\n" + call + "\n" + call + "<|im_end|>", chat, `{` + hello + tools + stream + `}`},
		{"chat_stop_stream", "abXYcXYZd", chat, `{"stop":["XYZ"],` + hello + stream + `}`},
		{"chat_logprobs", "é<|im_end|>", chat, `{"logprobs":true,"top_logprobs":2,` + hello + `}`},
		{"chat_logprobs_stream", "é<|im_end|>", chat, `{"logprobs":true,"stream":true,` + hello + `}`},
		{"chat_tokens", "ab<|im_end|>", chat, `{"return_token_ids":true,"logprobs":true,"return_tokens_as_token_ids":true,"prompt_logprobs":1,` + hello + `}`},
		{"chat_tokens_stream", "ab<|im_end|>", chat, `{"return_token_ids":true,"return_prompt_text":true,` + hello + stream + `}`},
		{"chat_continue_echo", "bc<|im_end|>", chat, `{"echo":true,"continue_final_message":true,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"a"}]}`},
		{"chat_continue_echo_stream", "bc<|im_end|>", chat, `{"echo":true,"stream":true,"continue_final_message":true,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"a"}]}`},
		{"complete", "bc<|im_end|>", complete, `{"prompt":"a"}`},
		{"complete_many", "bc<|im_end|>", complete, `{"prompt":[[97],[98,99]],"n":2,"echo":true}`},
		{"complete_echo_logprobs", "c🦔<|im_end|>", complete, `{"prompt":"aé","max_tokens":6,"echo":true,"logprobs":1}`},
		{"complete_echo_logprobs_stream", "c🦔<|im_end|>", complete, `{"prompt":"aé","max_tokens":6,"echo":true,"logprobs":1` + stream + `}`},
		{"complete_score", "x", complete, `{"prompt":"the sky","max_tokens":0,"echo":true,"logprobs":0}`},
		{"complete_score_stream", "x", complete, `{"prompt":"the","max_tokens":0,"echo":true,"logprobs":0,"stream":true}`},
		{"complete_stream", "bc<|im_end|>", complete, `{"prompt":["a","b"],"return_token_ids":true` + stream + `}`},
		{"complete_prompt_logprobs", "b", complete, `{"prompt":"abc","prompt_logprobs":0}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := say(t, tt.said)
			a := s.post(tt.path, tt.body, "X-Request-Id: 1")
			body := a.body
			for _, c := range changing {
				body = c.pattern.ReplaceAllString(body, c.with)
			}
			if a.StatusCode != 200 {
				t.Fatalf("status %d: %s", a.StatusCode, a.body)
			}
			text := a.Header.Get("Content-Type") + "\n\n" + byChoice(body)
			testkit.Golden(t, filepath.Join("testdata", "golden", tt.name+".txt"), []byte(text))
		})
	}
}

var choiceIndex = regexp.MustCompile(`"object":"text_completion",.*"choices":\[\{"index":(\d+)`)

// byChoice puts the events of completions in the order of their choices: those of several prompts come as they are made.
func byChoice(body string) string {
	events := strings.SplitAfter(body, "\n\n")
	place := func(event string) int {
		if m := choiceIndex.FindStringSubmatch(event); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(events, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return strings.Join(events, "")
}

func TestStreamsAreWellFormed(t *testing.T) {
	for _, said := range []string{"Hé <b>日本 🦔<|im_end|>", "<think>\nhm\n</think>\n\nyes<|im_end|>", "ok\n<tool_call>{\"name\":\"f\"}</tool_call><|im_end|>"} {
		s := say(t, said)
		body := `{"stream":true,"n":2,"stream_options":{"include_usage":true},"tools":[{"function":{"name":"f"}}],` + hello + `}`
		a := s.post("/v1/chat/completions", body)
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") || strings.Contains(a.body, "\r") || !strings.HasSuffix(a.body, "\n\ndata: [DONE]\n\n") {
			t.Fatalf("not a stream: %s", a.body)
		}
		for e := range strings.SplitSeq(strings.TrimSuffix(a.body, "\n\n"), "\n\n") {
			if !strings.HasPrefix(e, "data: ") || strings.Count(e, "\n") != 0 || strings.Contains(e, `"error"`) || strings.Contains(e, "\uFFFD") {
				t.Errorf("event %q", e)
			}
		}
		if got := strings.Count(a.body, `"role":"assistant"`); got != 2 {
			t.Errorf("%d roles, want one for each choice", got)
		}
		if got := strings.Count(a.body, `"finish_reason":"`); got != 2 {
			t.Errorf("%d finish reasons, want one for each choice", got)
		}
		if got := strings.Count(a.body, `"sampo":`); got != 3 {
			t.Errorf("%d timings, want one with each finish and one with the usage", got)
		}
	}
}
