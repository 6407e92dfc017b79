// SPDX-License-Identifier: Apache-2.0

package scriptmodel

import "strings"

// MaxContext is the context length of the model.
const MaxContext = 131_072

// A Script is what the model says when it is asked to.
type Script struct {
	Name   string
	Pieces []string // one token each; the text of a control token is that token
}

// Text returns the pieces as one text.
func (s Script) Text() string { return strings.Join(s.Pieces, "") }

// Default is the name of the script for messages that name none.
const Default = "plain"

// Say returns the words that ask for scripts.
func Say(names ...string) string { return "say:" + strings.Join(names, " say:") }

// Find returns a script by its name.
func Find(name string) Script {
	for _, s := range Scripts {
		if s.Name == name {
			return s
		}
	}
	panic("scriptmodel: no script " + name)
}

// The control tokens. Only one script may have each: what follows a token depends on the token alone.
const (
	end        = "<|im_end|>"
	start      = "<|im_start|>"
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	toolOpen   = "<tool_call>"
	toolClose  = "</tool_call>"
)

// Scripts are all that the model can say. After each comes the end of text. No two pieces are alike: what follows a token
// depends on the token alone, and other programs want the tokens of a vocabulary to differ.
var Scripts = []Script{
	{Default, []string{"The", " sampo", " grinds", " flour,", " salt", " and", " gold."}},
	// Stop strings that lie across pieces, overlap, and follow each other.
	{"stop", []string{"abc", "XY", "Zd", "ef", " one", " ST", "OP", " two", " HA", "LT", " three."}},
	// Characters cut between and within pieces, beside whole ones.
	{"half", []string{"H\xc3", "\xa9 \xf0", "\x9f\xa6", "\x94", " \xe6\x97", "\xa5\xe6", "\x9c\xac", "\xe8\xaa\x9e", " ok"}},
	// A character that is never completed, and one that turns out to be none.
	{"broken", []string{"aa", "\xf0\x9f", "bb", "\xc3", "\xc3\xa9", "cc", "\xe6\x97"}},
	// A tool call with real markers.
	{"call", []string{toolOpen, "\n{\"name\": \"get_", `weather", "argu`, `ments": {"city"`, `: "Ou`, `lu"}`, "}\n", toolClose}},
	// Two calls after a sentence; the markers come in pieces of text.
	{"calls", []string{
		"Let me", " look.\n", "<tool", "_call>\n", `{"name": "get_weather", "arguments": {"city": "`, `Oulu"}}`, "\n</tool_", "call>\n",
		"<tool_call", ">\n{", `"name": "get_weather", "arguments": {"city": "Os`, `lo"}}`, "\n<", "/tool_call>",
	}},
	// Markup that is no call: it is text.
	{"nocall", []string{"See", " <tool", "_call>\nthis", " is no", " JSON\n", "</tool", "_call>"}},
	// Reasoning between real markers.
	{"think", []string{thinkOpen, "\nThe", " capital", " is", " asked", " for", ".\n", thinkClose, "\n\n", "Hel", "sinki."}},
	// Reasoning between markers in pieces, and a call after it.
	{"thinkcall", []string{
		"<thi", "nk>\n", "A tool", " knows.", "\n</", "think>", "\n\n<tool_", "call>", "\n{\"name\": \"get_weather\", \"arguments\": {}}", "\n</tool_call", ">\n",
	}},
	// An agent's turns: a command that mends a file and, by its output, asks for the next turn; then the end of the task.
	{"edit", []string{
		"I will", " mend", " it.\n", "<tool_c", "all>\n", `{"name": "bash", "arguments": `, `{"command": "sed -i s/helo/hello/ greeting.txt`,
		` && cat greeting.txt && `, `echo say:'submit'"}}`, "\n</tool_c", "all>",
	}},
	{"submit", []string{
		"Done", ".\n\n", "<tool_ca", "ll>\n", `{"name": "bash", "arguments": {"command": `, `"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}}`, "\n</tool_ca", "ll>",
	}},
	// A program in a block of Markdown.
	{"code", []string{"```", "python\n", "def", " double", "(x):\n", "    return", " 2", " *", " x", "\n```"}},
	{"json", []string{`{"a`, `": `, `"x"`, "}\n\n"}},
	{"yes", []string{"ye", "s."}},
	{"no", []string{"no", ", ", "never."}},
	// A text of forty pieces.
	{"count", strings.SplitAfter("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, and 40", " ")},
}

// template is ChatML with thinking and tools. Words that ask for scripts count in the last message only that is not the
// assistant's.
const template = `{%- if tools %}<|im_start|>system
Call a function like <tool_call>
{"name": "f", "arguments": {}}
</tool_call>. You have:
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- set ns = namespace(last=-1) %}
{%- for message in messages %}{% if message.role != 'assistant' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.reasoning_content %}<think>
{{ message.reasoning_content }}
</think>

{% endif %}
{%- if message.content %}{{ message.content if loop.index0 == ns.last else message.content | replace('say:', 'said:') }}{% endif %}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and not enable_thinking %}<think>

</think>

{% endif %}{% endif %}`
