// SPDX-License-Identifier: Apache-2.0

package openai

// A requestField describes a field of a request for the API's document. A test holds the lists against the decoders.
type requestField struct {
	name string
	// kind is a short form: "string", "string[]", "integer LOW HIGH", "number LOW HIGH" with bounds that may be left out,
	// or a JSON Schema.
	kind string
	text string
}

var samplingFields = []requestField{
	{"model", "string", "Name of the model. Left out: the only one in memory."},
	{"stream", "boolean", "Send the answer as server-sent events."},
	{"stream_options", `{"type":"object","properties":{"include_usage":{"type":"boolean","description":"A last chunk tells the usage."},"continuous_usage_stats":{"type":"boolean","description":"With include_usage: every chunk tells the usage so far."},"include_obfuscation":{"type":"boolean","description":"Changes nothing."}}}`, "Only with stream."},
	{"n", "integer 1 64", "Choices for each prompt; choice i uses seed + i. Default 1."},
	{"best_of", "integer 1", "Must be equal to n."},
	{"seed", "integer", "Makes sampling repeatable. -1 counts as none."},
	{"temperature", "number 0", "0 takes the most likely token; values below 0.01 count as 0.01. Default: the model's own, else 1."},
	{"top_p", `{"type":"number","exclusiveMinimum":0,"maximum":1}`, "Keep the most likely tokens that together reach this probability. Above 0."},
	{"top_k", "integer -1", "Keep so many of the most likely tokens; 0 and -1 keep all."},
	{"min_p", "number 0 1", "Drop tokens less likely than this share of the most likely one."},
	{"presence_penalty", "number -2 2", "Taken from the logit of each token of the answer so far."},
	{"frequency_penalty", "number -2 2", "Taken as often as the token stands in the answer so far."},
	{"repetition_penalty", `{"type":"number","exclusiveMinimum":0}`, "Divides the logits of tokens in prompt and answer. Above 0; 1 is neutral."},
	{"use_beam_search", "boolean", "Look for the most probable answers instead of sampling."},
	{"beam_width", "integer 1 64", "Beams to follow, at least n. Turns beam search on; refused beside use_beam_search false."},
	{"length_penalty", "number", "With beams: the sum of logprobs is divided by the length to this power. Default 1."},
	{"early_stopping", `{}`, "Must be false with beams; without them it changes nothing."},
	{"logit_bias", `{"type":"object","maxProperties":1024,"additionalProperties":{"type":"number"}}`, "From token id to what is added to its logit, clamped to -100 and 100."},
	{"allowed_token_ids", `{"type":"array","items":{"type":"integer","minimum":0},"minItems":1}`, "Only these tokens may be chosen."},
	{"bad_words", `{"type":"array","items":{"type":"string","minLength":1},"maxItems":1024}`, "Texts that must not be written, up to 1,024."},
	{"stop", `{"anyOf":[{"type":"string","minLength":1,"maxLength":1024},{"type":"array","items":{"type":"string","minLength":1,"maxLength":1024},"maxItems":16}]}`, "Texts of up to 1 KiB that end the answer."},
	{"stop_token_ids", `{"type":"array","items":{"type":"integer","minimum":0},"maxItems":128}`, "Tokens that end the answer, up to 128."},
	{"ignore_eos", "boolean", "Do not end at the model's own end of text."},
	{"include_stop_str_in_output", "boolean", "Leave the stop in the text."},
	{"min_tokens", "integer 0", "Do not end before so many tokens."},
	{"skip_special_tokens", "boolean", "False shows special tokens in the text. Default true."},
	{"spaces_between_special_tokens", "boolean", "Changes nothing."},
	{"prompt_logprobs", "integer 0 20", "Logprobs of the prompt's tokens, with so many alternatives each."},
	{"return_token_ids", "boolean", "Tell the ids of prompt and answer."},
	{"return_tokens_as_token_ids", "boolean", "Spell tokens in logprobs as token_id:N."},
	{"return_prompt_text", "boolean", "Tell the prompt's text."},
	{"echo", "boolean", "Begin with the prompt, or with the last message if the answer continues it."},
	{"add_special_tokens", "boolean", "Put the tokens around the prompt that the model expects. Default: true for texts, false for conversations."},
	{"truncate_prompt_tokens", "integer -1", "Keep so many tokens of the prompt; -1: as many as fit."},
	{"truncation_side", `{"type":"string","enum":["left","right"]}`, "Which side is cut. Default left."},
	{"cache_salt", `{"type":"string","minLength":1}`, "Only requests with the same salt share cached prompts."},
	{"priority", "integer", "Lower runs first. Default 0."},
	{"request_id", "string", "Becomes part of the answer's id, unless the header X-Request-Id does."},
	{"session_id", `{"type":"string","maxLength":512}`, "Names the conversation, in up to 512 characters: its cache is kept longer."},
}

var chatFields = []requestField{
	{"messages", `{"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/ChatMessage"}}`, "The conversation."},
	{"max_tokens", "integer 1", "Most output tokens of a choice. Default: the rest of the context."},
	{"max_completion_tokens", "integer 1", "The same; wins over max_tokens."},
	{"logprobs", "boolean", "Tell the logprob of each token."},
	{"top_logprobs", "integer -1 20", "So many of the most likely tokens at each place; -1: the whole vocabulary. Needs logprobs."},
	{"tools", `{"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/Tool"}}`, "Functions that the model may call."},
	{"tool_choice", `{"type":"string","enum":["none","auto"]}`, "Whether calls are looked for."},
	{"parallel_tool_calls", "boolean", "False ends the answer after the first call."},
	{"documents", "object[]", "Passed to the template."},
	{"add_generation_prompt", "boolean", "End the prompt with the beginning of an answer. Default true."},
	{"continue_final_message", "boolean", "Leave the last message open and continue it."},
	{"chat_template_kwargs", "object", "Variables of the template."},
	{"enable_thinking", "boolean", "Whether the model may think first."},
	{"thinking", `{"type":"object","required":["type"],"properties":{"type":{"type":"string","enum":["enabled","disabled"]},"budget_tokens":{"type":"integer","minimum":-1}}}`, "The same; wins over all other switches."},
	{"reasoning_effort", `{"anyOf":[{"type":"string"},{"type":"integer","minimum":1,"maximum":100}]}`, "none, minimal, low, medium, high, xhigh, max or a number, as far as the model's template knows it."},
	{"thinking_token_budget", "integer -1", "Most tokens of thinking; -1: no limit."},
	{"include_reasoning", "boolean", "False leaves the thinking out of the answer."},
	{"response_format", `{"type":"object","required":["type"],"properties":{"type":{"type":"string","const":"text"}}}`, "Only text."},
	{"modalities", `{"type":"array","items":{"type":"string","const":"text"}}`, "Only text."},
	{"function_call", `{"type":"string","const":"none"}`, "Only none; use tool_choice."},
}

var completionFields = []requestField{
	{"prompt", `{"anyOf":[{"type":"string","minLength":1},{"type":"array","items":{"type":"string","minLength":1},"minItems":1,"maxItems":64},{"type":"array","items":{"type":"integer","minimum":0},"minItems":1},{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":0},"minItems":1},"minItems":1,"maxItems":64}]}`, "A text, texts, token ids or lists of token ids."},
	{"max_tokens", "integer 0", "Most output tokens of a choice. Left out: 16; null: the rest of the context; 0 with echo: score the prompt."},
	{"logprobs", "integer -1 20", "Logprobs with so many of the most likely tokens at each place; -1: the whole vocabulary."},
	{"suffix", `{"type":"string","maxLength":0}`, "Only the empty text."},
	{"response_format", `{"type":"object","required":["type"],"properties":{"type":{"type":"string","const":"text"}}}`, "Only text."},
	{"thinking_token_budget", "integer -1 -1", "Completions are raw text: only -1, no limit."},
}

var playgroundFields = []requestField{
	{"prompt", `{"anyOf":[{"type":"string","minLength":1},{"type":"array","items":{"type":"integer","minimum":0},"minItems":1},{"type":"array","items":{"type":"string","minLength":1},"minItems":1,"maxItems":1},{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":0},"minItems":1},"minItems":1,"maxItems":1}]}`, "One text or one list of token ids."},
	{"explain", "integer 0 20", "Tell for each output token so many candidates: their probability, their rank, and whether the filters kept them."},
	{"fresh", "boolean", "Compute the prompt anew: nothing is read from the cache."},
}

var tokenizeFields = []requestField{
	{"model", "string", "Name of the model. Left out: the only one in memory."},
	{"prompt", "string", "A text. Either this or messages."},
	{"messages", `{"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/ChatMessage"}}`, "A conversation, rendered as for chat."},
	{"add_special_tokens", "boolean", "Put the tokens around the prompt that the model expects. Default: true for texts, false for conversations."},
	{"return_token_strs", "boolean", "Tell the vocabulary's spellings too."},
	{"cache_salt", `{"type":"string","minLength":1}`, "As for chat: its answers that are in the conversation count with the tokens that they were generated with."},
	{"tools", `{"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/Tool"}}`, "As for chat; so are the fields below."},
	{"tool_choice", `{"type":"string","enum":["none","auto"]}`, ""},
	{"parallel_tool_calls", "boolean", ""},
	{"documents", "object[]", ""},
	{"add_generation_prompt", "boolean", ""},
	{"continue_final_message", "boolean", ""},
	{"chat_template_kwargs", "object", ""},
	{"enable_thinking", "boolean", ""},
	{"thinking", "object", ""},
	{"reasoning_effort", `{"anyOf":[{"type":"string"},{"type":"integer","minimum":1,"maximum":100}]}`, ""},
	{"thinking_token_budget", "integer -1", ""},
	{"function_call", `{"type":"string","const":"none"}`, ""},
}

var detokenizeFields = []requestField{
	{"model", "string", "Name of the model. Left out: the only one in memory."},
	{"tokens", `{"type":"array","items":{"type":"integer","minimum":0}}`, "Token ids."},
}

var messageFields = []requestField{
	{"role", `{"type":"string","minLength":1}`, "system, developer, user, assistant, tool, or what the template knows."},
	{"content", `{"anyOf":[{"type":"string"},{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"object","required":["type"],"properties":{"type":{"type":"string"},"text":{"type":["string","null"]}}}]}}]}`, "A text, or parts of type text, input_text, output_text, refusal or thinking."},
	{"name", "string", ""},
	{"reasoning_content", "string", "Of an assistant's message; reasoning is the same."},
	{"reasoning", "string", ""},
	{"tool_calls", `{"type":"array","items":{"type":"object","required":["function"],"properties":{"id":{"type":"string"},"type":{"type":"string","const":"function"},"function":{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1},"arguments":{"type":["string","object","null"]}}}}}}`, "Of an assistant's message."},
	{"tool_call_id", "string", "Of a tool's message."},
}

var toolFields = []requestField{
	{"type", `{"type":"string","const":"function"}`, ""},
	{"function", `{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1},"description":{"type":["string","null"]},"parameters":{"type":["object","null"]},"strict":{"type":["boolean","null"],"const":false}}}`, ""},
}

// Fields that are accepted and change no answer.
var (
	ignoredAnywhere = []string{
		"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
		"prompt_cache_options", "verbosity", "stream_interval", "kv_transfer_params",
		"ec_transfer_params", "vllm_xargs", "routed_experts_prompt_start", "return_token_offsets", "return_assistant_tokens_mask",
		"mm_processor_kwargs", "media_io_kwargs",
	}
	ignoredByChat       = []string{"reasoning", "include", "truncation", "previous_response_id", "input"}
	ignoredByCompletion = []string{"max_completion_tokens"}
	ignoredByTokenize   = []string{"mm_processor_kwargs", "media_io_kwargs"}
)

// Fields that are refused unless they are null.
var (
	refusedAnywhere = []string{
		"logits_processors", "repetition_detection", "logprob_token_ids", "prompt_embeds", "structured_outputs",
		"guided_json", "guided_regex", "guided_choice", "guided_grammar", "guided_json_object", "guided_decoding_backend", "guided_whitespace_pattern",
	}
	refusedByChat     = []string{"chat_template", "functions", "audio", "prediction", "web_search_options", "moderation"}
	refusedByTokenize = []string{"chat_template", "functions"}
)
