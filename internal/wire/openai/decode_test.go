// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

const hi = `"messages":[{"role":"user","content":"hi"}]`

// A best_of of 3000000000 "must be at least 1", and so must a truncate_prompt_tokens that is too large for any context.
func TestLargeCountsAreNotCalledSmall(t *testing.T) {
	r, err := DecodeChat([]byte(`{` + hi + `,"best_of":9223372036854775807,"truncate_prompt_tokens":9223372036854775807}`))
	if err != nil || r.Refused == nil || r.Refused.Message != "best_of must be equal to n (1), got 9223372036854775807." {
		t.Errorf("error %v, refused %v", err, r.Refused)
	}
	if got := r.Chat.TruncatePrompt; got == nil || int64(*got) != 1<<63-1 {
		t.Errorf("truncate_prompt_tokens %v: the model's context decides", got)
	}
}

// The biases of "7" and "07" added up to 200.
func TestTheLastSpellingOfABiasCounts(t *testing.T) {
	r, err := DecodeChat([]byte(`{` + hi + `,"logit_bias":{"7":100,"8":1,"07":500}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]chat.TokenBias{{Token: 8, Value: 1}, {Token: 7, Value: 100}}, r.Chat.Bias); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChatFieldsThatAreMalformed(t *testing.T) {
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	biases := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":1,`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for _, tt := range []struct{ body, param, code, message string }{
		{`{}`, "messages", "missing_required_parameter", ""},
		{`{"input":"x"}`, "messages", "missing_required_parameter", "messages"},
		{`{"messages":[]}`, "messages", "invalid_value", ""},
		{`{"messages":"x"}`, "messages", "invalid_type", "got a string"},
		{`{"messages":["x"]}`, "messages[0]", "invalid_type", ""},
		{`{"messages":[{"role":1}]}`, "messages[0].role", "invalid_type", "got a number"},
		{`{"messages":[{"content":"x"}]}`, "messages[0].role", "missing_required_parameter", ""},
		{`{"messages":[{"role":"user","content":1}]}`, "messages[0].content", "invalid_type", ""},
		{`{"messages":[{"role":"user","content":[{"text":"x"}]}]}`, "messages[0].content[0].type", "missing_required_parameter", "Missing 'type' field in multimodal part."},
		{`{"messages":[{"role":"user","content":[{"type":"foo"}]}]}`, "messages[0].content[0].type", "invalid_value", "'foo'"},
		{`{"messages":[{"role":"user","content":[1]}]}`, "messages[0].content[0]", "invalid_type", ""},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`, "messages[0].content[0].text", "invalid_type", ""},
		{`{"messages":[{"role":"assistant","tool_calls":[{"type":"custom","function":{"name":"f"}}]}]}`, "messages[0].tool_calls[0].type", "invalid_value", "of type 'function'"},
		{`{` + hi + `,"model":1}`, "model", "invalid_type", ""},
		{`{` + hi + `,"temperature":"hot"}`, "temperature", "invalid_type", ""},
		{`{` + hi + `,"temperature":true}`, "temperature", "invalid_type", ""},
		{`{` + hi + `,"temperature":1e400}`, "temperature", "invalid_value", "finite"},
		{`{` + hi + `,"temperature":-1.0}`, "temperature", "invalid_value", "temperature must be non-negative, got -1.0."},
		{`{` + hi + `,"top_p":0}`, "top_p", "invalid_value", "top_p must be in (0, 1], got 0."},
		{`{` + hi + `,"top_p":1.1}`, "top_p", "invalid_value", ""},
		{`{` + hi + `,"min_p":2.0}`, "min_p", "invalid_value", "min_p must be in [0, 1], got 2.0."},
		{`{` + hi + `,"top_k":-2}`, "top_k", "invalid_value", ""},
		{`{` + hi + `,"truncation_side":""}`, "truncation_side", "invalid_value", `"left" or "right"`},
		{`{` + hi + `,"top_k":1.5}`, "top_k", "invalid_type", ""},
		{`{` + hi + `,"presence_penalty":3.0}`, "presence_penalty", "invalid_value", "presence_penalty must be in [-2, 2], got 3.0."},
		{`{` + hi + `,"repetition_penalty":0.0}`, "repetition_penalty", "invalid_value", "repetition_penalty must be greater than zero, got 0.0."},
		{`{` + hi + `,"max_tokens":0}`, "max_tokens", "invalid_value", "max_tokens must be at least 1, got 0."},
		{`{` + hi + `,"max_tokens":"16"}`, "max_tokens", "invalid_type", ""},
		{`{` + hi + `,"max_tokens":1e300}`, "max_tokens", "invalid_value", ""},
		{`{` + hi + `,"max_tokens":20,"min_tokens":21}`, "min_tokens", "invalid_value", "min_tokens must be less than or equal to max_tokens=20, got 21."},
		{`{` + hi + `,"n":0}`, "n", "invalid_value", ""},
		{`{` + hi + `,"n":65}`, "n", "invalid_value", ""},
		{`{` + hi + `,"seed":9223372036854775808}`, "seed", "invalid_value", ""},
		{`{` + hi + `,"seed":-9223372036854775809}`, "seed", "invalid_value", "got -9223372036854775809"},
		{`{` + hi + `,"priority":-9223372036854775809}`, "priority", "invalid_value", ""},
		{`{` + hi + `,"use_beam_search":true,"early_stopping":"never"}`, "early_stopping", "invalid_value", ""},
		{`{` + hi + `,"use_beam_search":false,"beam_width":2}`, "use_beam_search", "invalid_value", "use_beam_search is false, and beam_width (2) asks for a beam search"},
		{`{` + hi + `,"stream":1}`, "stream", "invalid_type", ""},
		{`{` + hi + `,"stream_options":{"include_usage":true}}`, "stream_options", "invalid_value", "Stream options can only be defined when `stream=True`."},
		{`{` + hi + `,"stop":""}`, "stop", "invalid_value", "stop cannot contain an empty string."},
		{`{` + hi + `,"stop":[` + many(17, `"a"`) + `]}`, "stop", "invalid_value", ""},
		{`{` + hi + `,"stop":["` + strings.Repeat("a", 1025) + `"]}`, "stop", "invalid_value", ""},
		{`{` + hi + `,"stop":[1]}`, "stop[0]", "invalid_type", ""},
		{`{` + hi + `,"stop":1}`, "stop", "invalid_type", ""},
		{`{` + hi + `,"stop_token_ids":[` + many(129, `1`) + `]}`, "stop_token_ids", "invalid_value", ""},
		{`{` + hi + `,"stop_token_ids":[-1]}`, "stop_token_ids[0]", "invalid_value", ""},
		{`{` + hi + `,"logit_bias":{"x":1}}`, "logit_bias", "invalid_value", ""},
		{`{` + hi + `,"logit_bias":{"1":"x"}}`, "logit_bias.1", "invalid_type", ""},
		{`{` + hi + `,"logit_bias":{"1":null}}`, "logit_bias.1", "invalid_type", "got null"},
		{`{` + hi + `,"logit_bias":` + biases(1025) + `}`, "logit_bias", "invalid_value", ""},
		{`{` + hi + `,"allowed_token_ids":[]}`, "allowed_token_ids", "invalid_value", ""},
		{`{` + hi + `,"bad_words":[""]}`, "bad_words", "invalid_value", ""},
		{`{` + hi + `,"bad_words":[` + many(1025, `"a"`) + `]}`, "bad_words", "invalid_value", ""},
		{`{` + hi + `,"logprobs":1}`, "logprobs", "invalid_type", ""},
		{`{` + hi + `,"top_logprobs":5}`, "top_logprobs", "invalid_value", "when using `top_logprobs`, `logprobs` must be set to true."},
		{`{` + hi + `,"logprobs":true,"top_logprobs":21}`, "top_logprobs", "invalid_value", "Requested sample logprobs of 21, which is greater than max allowed: 20"},
		{`{` + hi + `,"logprobs":true,"top_logprobs":-2}`, "top_logprobs", "invalid_value", ""},
		{`{` + hi + `,"prompt_logprobs":-1}`, "prompt_logprobs", "invalid_value", ""},
		{`{` + hi + `,"prompt_logprobs":2,"stream":true}`, "prompt_logprobs", "invalid_value", "`prompt_logprobs` are not available when `stream=True`."},
		{`{` + hi + `,"cache_salt":""}`, "cache_salt", "invalid_value", ""},
		{`{` + hi + `,"session_id":"` + strings.Repeat("ä", 513) + `"}`, "session_id", "invalid_value", ""},
		{`{` + hi + `,"continue_final_message":true,"add_generation_prompt":true}`, "continue_final_message", "invalid_value", "Cannot set both"},
		{`{` + hi + `,"chat_template_kwargs":{"continue_final_message":true,"add_generation_prompt":true}}`, "continue_final_message", "invalid_value", "Cannot set both"},
		{`{` + hi + `,"chat_template_kwargs":{"continue_final_message":1}}`, "chat_template_kwargs.continue_final_message", "invalid_type", ""},
		{`{` + hi + `,"response_format":{}}`, "response_format.type", "missing_required_parameter", ""},
		{`{` + hi + `,"stop":1}`, "stop", "invalid_type", "stop must be a string or an array of strings, got a number."},
		{`{` + hi + `,"reasoning_effort":{}}`, "reasoning_effort", "invalid_type", "a string or a number"},
		{`{` + hi + `,"chat_template_kwargs":{"tokenize":false}}`, "chat_template_kwargs.tokenize", "invalid_value", ""},
		{`{` + hi + `,"reasoning_effort":"zzz"}`, "reasoning_effort", "invalid_value", ""},
		{`{` + hi + `,"reasoning_effort":101}`, "reasoning_effort", "invalid_value", ""},
		{`{` + hi + `,"thinking":{"type":"maybe"}}`, "thinking.type", "invalid_value", ""},
		{`{` + hi + `,"thinking_token_budget":1.5}`, "thinking_token_budget", "invalid_value", "non-negative integer or -1"},
		{`{` + hi + `,"thinking_token_budget":true}`, "thinking_token_budget", "invalid_value", ""},
		{`{` + hi + `,"tools":[]}`, "tools", "invalid_value", "`tools` must not be an empty array."},
		{`{` + hi + `,"tools":[{"type":"custom","custom":{}}]}`, "tools[0].type", "invalid_value", ""},
		{`{` + hi + `,"tools":[{"function":{}}]}`, "tools[0].function.name", "missing_required_parameter", ""},
		{`{` + hi + `,"tool_choice":"auto"}`, "tool_choice", "invalid_value", "When using `tool_choice`, `tools` must be set."},
		{`{` + hi + `,"tools":[{"function":{"name":"f"}}],"tool_choice":"any"}`, "tool_choice", "invalid_value", "Invalid value for `tool_choice`: any!"},
		{`{` + hi + `,"tools":[{"function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"g"}}}`, "tool_choice", "invalid_value", "does not match any"},
		{`{` + hi + `,"tools":[{"function":{"name":"f"}}],"tool_choice":{"type":"function","name":"f"}}`, "tool_choice", "invalid_value", ""},
		{`{` + hi + `,"response_format":{"type":"json_schema"}}`, "response_format", "missing_required_parameter", "the 'json_schema' field must be provided"},
		{`{` + hi + `,"documents":[1]}`, "documents[0]", "invalid_type", ""},
		{`{` + hi + `,"truncation_side":"up"}`, "truncation_side", "invalid_value", ""},
	} {
		_, err := DecodeChat([]byte(tt.body))
		if err == nil {
			t.Errorf("%.200s: accepted", tt.body)
			continue
		}
		if err.Param != tt.param || err.Code != tt.code || !strings.Contains(err.Message, tt.message) || err.Type != TypeInvalidRequest {
			t.Errorf("%.200s:\ngot  %q %q %q\nwant %q %q %q", tt.body, err.Param, err.Code, err.Message, tt.param, tt.code, tt.message)
		}
	}
}

func TestChatFieldsThatAreRefused(t *testing.T) {
	tool := func(choice string) string {
		return `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":` + choice
	}
	for _, tt := range []struct{ fields, param, message string }{
		{`,"web_search_options":{}`, "web_search_options", ""},
		{`,"prediction":{"type":"content","content":"x"}`, "prediction", ""},
		{`,"moderation":{}`, "moderation", ""},
		{`,"audio":{}`, "audio", ""},
		{`,"modalities":["text","audio"]`, "modalities", ""},
		{`,"chat_template":"x"`, "chat_template", "Chat template is passed with request, but this server takes"},
		{`,"guided_json":{}`, "guided_json", "response_format"},
		{`,"guided_decoding_backend":"x"`, "guided_decoding_backend", "response_format"},
		{`,"structured_outputs":{"json":{}}`, "structured_outputs", ""},
		{`,"response_format":{"type":"json_object"}`, "response_format", "'response_format' of type 'json_object' is not supported with this model"},
		{`,"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`, "response_format", "'response_format' of type 'json_schema' is not supported with this model"},
		{`,"response_format":{"type":"grammar"}`, "response_format", ""},
		{`,"best_of":2`, "best_of", ""},
		{`,"logits_processors":[]`, "logits_processors", ""},
		{`,"repetition_detection":{}`, "repetition_detection", ""},
		{`,"logprob_token_ids":[1]`, "logprob_token_ids", ""},
		{`,"prompt_embeds":"x"`, "prompt_embeds", ""},
		{`,"functions":[]`, "functions", "tools"},
		{`,"function_call":"auto"`, "function_call", "tool_choice"},
		{tool(`"required"`), "tool_choice", "required"},
		{tool(`{"type":"function","function":{"name":"f"}}`), "tool_choice", ""},
		{tool(`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`), "tool_choice", ""},
		{`,"tools":[{"function":{"name":"f","strict":true}}]`, "tools[0].function.strict", ""},
		{`,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}]`, "messages[0].content[0]", "image"},
		{`,"messages":[{"role":"user","content":[{"type":"file","file":{}}]}]`, "messages[0].content[0]", ""},
	} {
		r, err := DecodeChat([]byte(`{` + hi + tt.fields + `}`))
		switch {
		case err != nil:
			t.Errorf("%s: malformed: %v", tt.fields, err)
		case r.Refused == nil:
			t.Errorf("%s: accepted", tt.fields)
		case r.Refused.Param != tt.param || !strings.Contains(r.Refused.Message, tt.message) || !strings.HasPrefix(r.Refused.Code, "unsupported_"):
			t.Errorf("%s: got %+v, want param %q and %q", tt.fields, r.Refused, tt.param, tt.message)
		}
	}
}

func TestChatFieldsThatAreAccepted(t *testing.T) {
	for _, fields := range []string{
		``, `,"max_tokens":16.0`, `,"top_k":-1`, `,"top_k":0`, `,"top_k":100000`, `,"temperature":5`, `,"repetition_penalty":3`, `,"best_of":1`,
		`,"stop":[]`, `,"stream_options":{}`, `,"modalities":["text"]`, `,"guided_json":null`, `,"function_call":"none"`, `,"response_format":{"type":"text"}`,
		`,"early_stopping":"never"`, `,"thinking_token_budget":-1`, `,"reasoning_effort":70`, `,"reasoning_effort":"70"`, `,"tool_choice":"none"`, `,"seed":-9223372036854775808`,
		`,"user":"u","metadata":{"a":"b"},"store":true,"service_tier":"auto","verbosity":"low","reasoning":{},"include":[],"input":"x"`,
		`,"max_tokens":null,"max_completion_tokens":null,"stop":null,"seed":null,"n":null,"tools":null,"tool_choice":null,"response_format":null,"logprobs":null,"top_logprobs":null,"stream":null,"stream_options":null,"logit_bias":null,"temperature":null`,
		`,"messages":[{"role":"user","content":"x","name":""},{"role":"assistant","content":null,"tool_calls":[],"function_call":null,"annotations":[],"provider_specific_fields":{}},{"role":"tool","content":[{"type":"text","text":"a","cache_control":{}},{"type":"text","text":null}],"tool_call_id":"c"}]`,
	} {
		r, err := DecodeChat([]byte(`{` + hi + fields + `}`))
		if err != nil || r.Refused != nil || len(r.Unknown) > 0 {
			t.Errorf("%s: %v, refused %v, unknown %v", fields, err, r.Refused, r.Unknown)
		}
	}
}

func TestNullEqualsAbsent(t *testing.T) {
	plain, err := DecodeChat([]byte(`{` + hi + `}`))
	if err != nil {
		t.Fatal(err)
	}
	nulls, err := DecodeChat([]byte(`{` + hi + `,"max_tokens":null,"stop":null,"seed":null,"n":null,"tools":null,"response_format":null,"logprobs":null,"stream_options":null,"chat_template_kwargs":null,"thinking":null,"add_generation_prompt":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain, nulls); diff != "" {
		t.Errorf("(-absent +null):\n%s", diff)
	}
}

func TestMessagesAreRead(t *testing.T) {
	r, err := DecodeChat([]byte(`{"messages":[
		{"role":"system","content":["a",{"type":"input_text","text":"b"}]},
		{"role":"assistant","content":null,"reasoning_content":"old","reasoning":"new","tool_calls":[
			{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\": 1.0}"}},{"function":{"name":"g","arguments":{"y":2}}},{"function":{"name":"h","arguments":""}}]},
		{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"p"},{"type":"text","text":"q"}]},
		{"role":"user"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []chat.Message{
		{Role: "system", Content: []chat.Part{{Text: "a"}, {Text: "b"}}},
		{Role: "assistant", Reasoning: "new", ToolCalls: []chat.ToolCall{
			{ID: "c1", Name: "f", Arguments: `{"x": 1.0}`}, {Name: "g", Arguments: `{"y":2}`}, {Name: "h", Arguments: "{}"},
		}},
		{Role: "tool", ToolCallID: "c1", Content: []chat.Part{{Text: "p\nq"}}},
		{Role: "user", Content: []chat.Part{{}}},
	}
	if diff := cmp.Diff(want, r.Chat.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestThinkingSwitchesInTheirOrder(t *testing.T) {
	for _, tt := range []struct {
		fields, effort, thinking string
	}{
		{``, "", "unset"},
		{`,"reasoning_effort":"none"`, "none", "off"},
		{`,"reasoning_effort":"low"`, "low", "on"},
		{`,"reasoning_effort":"low","chat_template_kwargs":{"reasoning_effort":"high"}`, "low", "on"},
		{`,"reasoning_effort":"none","chat_template_kwargs":{"enable_thinking":true}`, "none", "on"},
		{`,"thinking":{"type":"disabled"},"chat_template_kwargs":{"enable_thinking":true}`, "", "off"},
	} {
		r, err := DecodeChat([]byte(`{` + hi + tt.fields + `}`))
		if err != nil {
			t.Fatal(err)
		}
		got := "unset"
		if r.Chat.Thinking != nil {
			got = map[bool]string{true: "on", false: "off"}[*r.Chat.Thinking]
		}
		if got != tt.thinking || r.Chat.Effort != tt.effort {
			t.Errorf("%s: thinking %s, effort %q, want %s, %q", tt.fields, got, r.Chat.Effort, tt.thinking, tt.effort)
		}
	}
}

func TestCompletionPrompts(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		want   []chat.Prompt
	}{
		{`"a"`, []chat.Prompt{{Text: "a"}}},
		{`["a","b"]`, []chat.Prompt{{Text: "a"}, {Text: "b"}}},
		{`[1,2.0]`, []chat.Prompt{{Tokens: []token.ID{1, 2}}}},
		{`[[1],[2,3]]`, []chat.Prompt{{Tokens: []token.ID{1}}, {Tokens: []token.ID{2, 3}}}},
		{`""`, nil},
		{`[]`, nil},
		{`null`, nil},
		{`[[]]`, nil},
		{`[""]`, nil},
		{`[-1]`, nil},
		{`["a",1]`, nil},
		{`[1,"a"]`, nil},
		{`[[1],"a"]`, nil},
		{`[[[1]]]`, nil},
		{`[true]`, nil},
		{`{}`, nil},
		{`7`, nil},
	} {
		r, err := DecodeCompletion([]byte(`{"prompt":` + tt.prompt + `}`))
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: error %v", tt.prompt, err)
			continue
		}
		if err == nil {
			if diff := cmp.Diff(tt.want, r.Completion.Prompts); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.prompt, diff)
			}
		} else if !strings.HasPrefix(err.Param, "prompt") {
			t.Errorf("%s: param %q", tt.prompt, err.Param)
		}
	}
}

func TestCompletionFields(t *testing.T) {
	for _, tt := range []struct{ fields, param string }{
		{``, ""},
		{`,"max_tokens":null`, ""},
		{`,"suffix":null`, ""},
		{`,"suffix":""`, ""},
		{`,"max_tokens":0,"echo":true`, ""},
		{`,"logprobs":-1`, ""},
		{`,"max_completion_tokens":-5`, ""},
		{`,"max_tokens":0`, "max_tokens"},
		{`,"logprobs":true`, "logprobs"},
		{`,"logprobs":21`, "logprobs"},
		{`,"logprobs":-2`, "logprobs"},
		{`,"suffix":"x"`, "suffix"},
		{`,"prompt":["a","b"],"n":33`, "prompt"},
		{`,"n":65`, "n"},
	} {
		r, err := DecodeCompletion([]byte(`{"prompt":"a"` + tt.fields + `}`))
		if err == nil {
			err = r.Refused
		}
		if err != nil {
			if err.Param != tt.param {
				t.Errorf("%s: param %q, want %q", tt.fields, err.Param, tt.param)
			}
		} else if tt.param != "" {
			t.Errorf("%s: accepted", tt.fields)
		}
	}
	omitted, _ := DecodeCompletion([]byte(`{"prompt":"a"}`))
	null, _ := DecodeCompletion([]byte(`{"prompt":"a","max_tokens":null}`))
	if *omitted.Completion.MaxTokens != 16 || null.Completion.MaxTokens != nil {
		t.Errorf("max_tokens omitted: %v, null: %v, want 16 and no limit", *omitted.Completion.MaxTokens, null.Completion.MaxTokens)
	}
}

func TestBodiesThatAreNoJSONObject(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 64) + `{}` + strings.Repeat(`}`, 64)
	for _, body := range []string{``, `null`, `"x"`, `[]`, `{"a":1}x`, `{"model":`, `{"a":NaN}`, `{"a":Infinity}`, deep} {
		if _, err := DecodeChat([]byte(body)); err == nil || err.Type != TypeInvalidRequest {
			t.Errorf("%.50q: got %v", body, err)
		}
	}
	r, err := DecodeChat([]byte(`{"n":9,` + hi + `,"n":2,"Temperature":7}`))
	if err != nil || r.Chat.Choices != 2 || len(r.Unknown) != 1 {
		t.Errorf("repeated key: %+v, %v", r, err)
	}
}

func FuzzDecodeChat(f *testing.F) {
	f.Add([]byte(`{` + hi + `,"tools":[{"function":{"name":"f"}}],"stop":["a"],"logit_bias":{"1":2},"stream":true,"stream_options":{"include_usage":true}}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		if r, err := DecodeChat(body); err == nil && r.Refused != nil {
			r.Refused.Body()
		} else if err != nil {
			err.Event()
		}
		_, _ = DecodeTokenize(body)
	})
}

func FuzzDecodeCompletion(f *testing.F) {
	f.Add([]byte(`{"prompt":[[1,2],[3]],"echo":true,"logprobs":1,"max_tokens":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := DecodeCompletion(body)
		if err == nil && len(r.Completion.Prompts)*r.Completion.Choices > MaxChoices {
			t.Errorf("%d prompts x %d", len(r.Completion.Prompts), r.Completion.Choices)
		}
		_, _ = DecodeDetokenize(body)
	})
}

// Fields of a conversation mean nothing for a text, and were dropped in silence.
func TestTokenizingATextNamesTheFieldsOfConversations(t *testing.T) {
	r, err := DecodeTokenize([]byte(`{"prompt":"a","tools":[1],"add_generation_prompt":true,"return_token_strs":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tools", "add_generation_prompt"}, r.Unknown); diff != "" {
		t.Error(diff)
	}
}

// They were passed over without a word, strict or not.
func TestUnknownKeysInsideOptionsAreNamed(t *testing.T) {
	for _, tt := range []struct{ fields, want string }{
		{`"thinking":{"type":"enabled","budget_tokens":8,"clear_thinking":false}`, "thinking.clear_thinking"},
		{`"response_format":{"type":"text","schema":{}}`, "response_format.schema"},
		{`"stream":true,"stream_options":{"include_usage":true,"foo":1}`, "stream_options.foo"},
		{`"chat_template_kwargs":{"any":1,"messages":[]}`, "chat_template_kwargs.messages"},
		{`"chat_template_kwargs":{"tools":[]}`, "chat_template_kwargs.tools"},
	} {
		r, err := DecodeChat([]byte(`{` + hi + `,` + tt.fields + `}`))
		if err != nil {
			t.Errorf("%s: %v", tt.fields, err)
			continue
		}
		if diff := cmp.Diff([]string{tt.want}, r.Unknown); diff != "" {
			t.Errorf("%s:\n%s", tt.fields, diff)
		}
	}
}

// vLLM's clients set there what has a field of its own, too.
func TestTemplateArgumentsStandInForFields(t *testing.T) {
	for _, tt := range []struct {
		fields         string
		open, generate bool
		documents      string // among the template's variables
	}{
		{`"chat_template_kwargs":{"continue_final_message":true}`, true, false, "null"},
		{`"continue_final_message":false,"chat_template_kwargs":{"continue_final_message":true}`, false, true, "null"},
		{`"chat_template_kwargs":{"documents":[{"text":"a"}]}`, false, true, `[{"text":"a"}]`},
		{`"documents":[{"text":"b"}],"chat_template_kwargs":{"documents":[{"text":"a"}]}`, false, true, "null"},
	} {
		r, err := DecodeChat([]byte(`{` + hi + `,` + tt.fields + `}`))
		if err != nil {
			t.Errorf("%s: %v", tt.fields, err)
			continue
		}
		documents, _ := r.Chat.Kwargs.Get("documents")
		if r.Chat.ContinueFinal != tt.open || r.Chat.AddGenerationPrompt != tt.generate || ordjson.Marshal(documents) != tt.documents {
			t.Errorf("%s: open %v, generation prompt %v, documents %s, want %v, %v, %s",
				tt.fields, r.Chat.ContinueFinal, r.Chat.AddGenerationPrompt, ordjson.Marshal(documents), tt.open, tt.generate, tt.documents)
		}
	}
}
