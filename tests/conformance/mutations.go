// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// A mutation breaks one property of a server, as seen through a proxy. The case of that property must then fail: else
// it proves nothing.
type mutation struct {
	number int // of the case
	what   string
	ask    func(q *question)
	answer func(q *question, a *reaction)
}

// earlyStatus is the one mutation that is a matter of time.
const earlyStatus = "the status comes first"

// A question is a request on its way to the server.
type question struct {
	path   string
	header http.Header
	body   string
	fields obj // of the body; nil if it is no JSON object
}

// A reaction is an answer on its way back.
type reaction struct {
	status int
	header http.Header
	body   string
}

// without takes fields out of every request: the server then can't honour them.
func without(names ...string) func(*question) {
	return func(q *question) {
		if q.fields == nil {
			return
		}
		for _, name := range names {
			delete(q.fields, name)
		}
		data, _ := json.Marshal(q.fields)
		q.body = string(data)
	}
}

// swap replaces a text in every answer.
func swap(old, with string) func(*question, *reaction) {
	return func(_ *question, a *reaction) { a.body = strings.ReplaceAll(a.body, old, with) }
}

// rewrite replaces what an expression matches in every answer.
func rewrite(expression, with string) func(*question, *reaction) {
	re := regexp.MustCompile(expression)
	return func(_ *question, a *reaction) { a.body = re.ReplaceAllString(a.body, with) }
}

// status changes one status into another.
func status(from, to int) func(*question, *reaction) {
	return func(_ *question, a *reaction) {
		if a.status == from {
			a.status = to
		}
	}
}

// where limits a change to requests whose body has a text.
func where(text string, change func(*question, *reaction)) func(*question, *reaction) {
	return func(q *question, a *reaction) {
		if strings.Contains(q.body, text) {
			change(q, a)
		}
	}
}

// on limits a change to a path.
func on(path string, change func(*question, *reaction)) func(*question, *reaction) {
	return func(q *question, a *reaction) {
		if q.path == path {
			change(q, a)
		}
	}
}

// dropEvent takes one event out of every stream.
func dropEvent(n int) func(*question, *reaction) {
	return func(_ *question, a *reaction) {
		events := strings.Split(a.body, "\n\n")
		if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") && len(events) > n+3 {
			a.body = strings.Join(append(events[:n:n], events[n+1:]...), "\n\n")
		}
	}
}

// dropHeader takes a header out of every answer.
func dropHeader(name string) func(*question, *reaction) {
	return func(_ *question, a *reaction) { a.header.Del(name) }
}

// together makes several changes.
func together(changes ...func(*question, *reaction)) func(*question, *reaction) {
	return func(q *question, a *reaction) {
		for _, change := range changes {
			change(q, a)
		}
	}
}

var (
	otherContent = rewrite(`"content":"[^"]`, `"content":"#`)
	otherPrompt  = together(
		rewrite(`"prompt_tokens":(\d+)`, `"prompt_tokens":9$1`), rewrite(`"count":(\d+)`, `"count":9$1`),
		rewrite(`"tokens":\[\d+`, `"tokens":[1`), rewrite(`"prompt_token_ids":\[\d+`, `"prompt_token_ids":[1`))
)

// mutations has one at least for each case that a server with a small model can run.
var mutations = []mutation{
	{1, "no refusal key", nil, swap(`"refusal":null`, `"refuse":null`)},
	{2, "max_completion_tokens is ignored", without("max_completion_tokens"), nil},
	{3, "null is a value", nil, where(`"seed":null`, otherContent)},
	{4, "the message does not help", nil, swap("sampo pull", "get")},
	{4, "it names nothing that works today", nil, swap("hf download", "get")},
	{5, "the model is checked first", nil, where(`"nope"`, status(400, 404))},
	{6, "the model's name is lost", nil, rewrite(`"model":"[^"]*"`, `"model":""`)},
	{7, "no param", nil, rewrite(`"param":"messages[^"]*"`, `"param":null`)},
	{8, "no code", nil, swap(`"invalid_json"`, `null`)},
	{9, "any content type will do", func(q *question) { q.header.Set("Content-Type", "application/json") }, nil},
	{6, "the models are not named", nil, swap("chatty, base", "some")},
	{10, "another status", nil, status(413, 400)},
	{11, "no key is needed", nil, status(401, 200)},
	{11, "every key may do everything", nil, status(403, 200)},
	{12, "no notice", nil, dropHeader("X-Sampo-Notice")},
	{13, "no param", nil, rewrite(`"param":"\w+"`, `"param":null`)},
	{14, "no replacement is named", nil, swap("response_format", "something else")},
	{15, "seed is ignored", without("seed"), nil},
	{16, "n is ignored", without("n"), nil},
	{17, "n is ignored", without("n"), nil},
	{18, "seed is ignored", without("seed"), nil},
	{19, "top_p is ignored", without("top_p"), nil},
	{20, "max_tokens is ignored", without("max_tokens"), nil},
	{21, "logit_bias is ignored", without("logit_bias"), nil},
	{22, "allowed_token_ids is ignored", without("allowed_token_ids"), nil},
	{23, "bad_words is ignored", without("bad_words"), nil},
	{24, "min_tokens is ignored", without("min_tokens"), nil},
	{25, "ignore_eos is ignored", without("ignore_eos"), nil},
	{26, "stop is ignored", without("stop"), nil},
	{27, "the beginning is streamed", nil, where(`"stream":true`, rewrite(`"delta":\{"content":"abc"\}`, `"delta":{"content":"abcX"}`))},
	{27, "the stop string is streamed", nil, where(`"stream":true`, rewrite(`"delta":\{\},`, `"delta":{"content":"#"},`))},
	{28, "the stop string is not told", nil, rewrite(`"stop_reason":"[^"]*"`, `"stop_reason":null`)},
	{29, "stop is ignored", without("stop"), nil},
	{30, "special tokens stay hidden", without("include_stop_str_in_output"), nil},
	{30, "the end is told as a stop", nil, swap(`"stop_reason":null`, `"stop_reason":7`)},
	{31, "events end with CRLF", nil, swap("\n\n", "\r\n\r\n")},
	{32, "no role", nil, swap(`"role":"assistant",`, ``)},
	{33, "an event is lost", nil, dropEvent(2)},
	{34, "usage is not sent", without("stream_options"), nil},
	{35, "usage is not sent", without("stream_options"), nil},
	{36, "stream_options is ignored", without("stream_options"), nil},
	{37, "n is ignored", without("n"), nil},
	{38, "an event is lost", nil, dropEvent(2)},
	{39, "another status", nil, status(400, 500)},
	{40, "the error is no error", nil, swap(`"error":{`, `"mistake":{`)},
	{40, "a finish reason is made up", nil, swap("event: error\n", "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")},
	{41, "a request is left over", nil, rewrite(`"server_load":\d+`, `"server_load":1`)},
	{42, "chunks have the key error", nil, swap(`"object":`, `"error":null,"object":`)},
	{43, earlyStatus, nil, nil},
	{43, "the status waits for the end", nil, func(*question, *reaction) {}},
	{44, "top_logprobs is ignored", without("top_logprobs"), nil},
	{45, "top_logprobs is ignored", without("top_logprobs"), nil},
	{46, "bytes are wrong", nil, rewrite(`"bytes":\[\d+`, `"bytes":[7`)},
	{47, "logprobs follow the bias", nil, where(`"logit_bias"`, rewrite(`"logprob":-`, `"logprob":-1`))},
	{48, "no rank", nil, swap(`"rank":`, `"place":`)},
	{49, "the cache is read", nil, rewrite(`"cached_tokens":\d+`, `"cached_tokens":9`)},
	{50, "return_token_ids is ignored", without("return_token_ids"), nil},
	{51, "parts are counted otherwise", nil, where(`"type":"text"`, otherPrompt)},
	{52, "parts are joined otherwise", nil, where(`"type":"text"`, rewrite(`"count":(\d+)`, `"count":9$1`))},
	{53, "answers can't be sent back", nil, where(`"tool_calls"`, status(200, 400))},
	{54, "one name of reasoning is ignored", nil, where(`"reasoning":`, otherPrompt)},
	{55, "images are accepted", nil, where(`"image_url"`, status(400, 200))},
	{56, "developer is another role", nil, where(`"developer"`, otherPrompt)},
	{57, "echo is ignored", without("echo"), nil},
	{58, "one name is missing", nil, rewrite(`"reasoning":"`, `"thoughts":"`)},
	{59, "thinking is ignored", without("thinking"), nil},
	{60, "the budget is ignored", without("thinking_token_budget"), nil},
	{61, "include_reasoning is ignored", without("include_reasoning"), nil},
	{62, "another finish reason", nil, swap(`"finish_reason":"tool_calls"`, `"finish_reason":"stop"`)},
	{63, "the id is repeated", nil, rewrite(`"tool_calls":\[\{"index":0,"function":\{"arguments"`, `"tool_calls":[{"index":0,"id":"x","function":{"arguments"`)},
	{64, "tool_choice is ignored", without("tool_choice"), nil},
	{65, "tool_choice is ignored", without("tool_choice"), nil},
	{66, "parallel_tool_calls is ignored", without("parallel_tool_calls"), nil},
	{67, "a cut call is a call", nil, swap(`"finish_reason":"length"`, `"finish_reason":"tool_calls"`)},
	{68, "other words", nil, swap("is not supported with this model", "can't be had")},
	{68, "response_format is ignored", without("response_format"), nil},
	{70, "response_format is ignored", without("response_format"), nil},
	{69, "response_format is ignored", without("response_format"), nil},
	{71, "ids are another prompt", nil, where(`"prompt":[`, rewrite(`"text":"`, `"text":"#`))},
	{72, "n is ignored", without("n"), nil},
	{73, "no param", nil, rewrite(`"param":"prompt[^"]*"`, `"param":null`)},
	{74, "null is the default", func(q *question) { q.body = strings.ReplaceAll(q.body, `"max_tokens":null`, `"max_tokens":16`) }, nil},
	{75, "echo is ignored", without("echo"), nil},
	{76, "the token's own value differs", nil, rewrite(`"token_logprobs":\[null,-`, `"token_logprobs":[null,-1`)},
	{77, "logprobs is ignored", without("logprobs"), nil},
	{78, "offsets are wrong", nil, swap(`"text_offset":[0,`, `"text_offset":[1,`)},
	{79, "an event is lost", nil, dropEvent(2)},
	{80, "suffix is ignored", without("suffix"), nil},
	{81, "other words", nil, swap("(context_length_exceeded)", "")},
	{82, "no param", nil, rewrite(`"param":"max_\w+"`, `"param":"prompt"`)},
	{83, "another finish reason", nil, swap(`"finish_reason":"length"`, `"finish_reason":"stop"`)},
	{84, "another status", nil, status(400, 500)},
	{85, "other words", nil, swap("maximum context length", "longest context")},
	{86, "no root", nil, swap(`"root":`, `"base":`)},
	{87, "a wrong count", nil, rewrite(`"count":(\d+)`, `"count":9$1`)},
	{88, "a wrong count", nil, rewrite(`"count":(\d+)`, `"count":9$1`)},
	{89, "another text", nil, swap(`"prompt":""`, `"prompt":" "`)},
	{90, "another code", nil, swap("unsupported_endpoint", "invalid_value")},
	{91, "another code", nil, swap("unsupported_endpoint", "invalid_value")},
	{92, "another content type", nil, on("/metrics", func(_ *question, a *reaction) { a.header.Set("Content-Type", "text/plain") })},
	{92, "a dead engine is healthy", nil, on("/health", status(503, 200))},
	{93, "no Allow", nil, dropHeader("Allow")},
	{94, "no Retry-After", nil, dropHeader("Retry-After")},
	{95, "no header", nil, dropHeader("X-Request-Id")},
	{96, "beam_width is ignored", without("beam_width"), nil},
	{97, "length_penalty is ignored", without("length_penalty"), nil},
	{98, "session_id is ignored", without("session_id"), nil},
	{99, "the holders are not named", nil, swap(`"holders":`, `"others":`)},
	{100, "another code", nil, swap("chat_template_missing", "invalid_value")},
	{101, "a key more", nil, swap(`"queue_ms":`, `"x":1,"queue_ms":`)},
	{102, "tokens too many are counted", nil, on("/metrics", func(q *question, a *reaction) { a.body = doubled(a.body) })},
	{103, "completions are parsed", nil, swap("</think>", "")},
	{104, "user text becomes control tokens", nil, where(`x\u003c`, rewrite(`"prompt_token_ids":\[([\d,]+)\]`, `"prompt_token_ids":[$1,$1]`))},
	{105, "the origin may not read the answer", nil, dropHeader("Access-Control-Allow-Origin")},
	{105, "any page may ask", func(q *question) { q.header.Del("Origin") }, nil},
}

// doubled makes twice the figure of the tokens generated.
func doubled(page string) string {
	return regexp.MustCompile(`(?m)^(vllm:generation_tokens_total\{.*\}) (\d+)$`).ReplaceAllStringFunc(page, func(line string) string {
		name, value, _ := strings.Cut(line, "} ")
		n, _ := strconv.Atoi(value)
		return fmt.Sprintf("%s} %d", name, 2*n)
	})
}
