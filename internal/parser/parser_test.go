// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/chat"
)

var qwen = Format{ThinkOpen: "<think>", ThinkClose: "</think>", ToolOpen: "<tool_call>", ToolClose: "</tool_call>"}

// parse runs pieces through a parser and writes the events down, neighbours of one kind joined.
func parse(start State, pieces []string) string {
	p := New(qwen, start)
	var events []chat.Event
	for _, piece := range pieces {
		events = append(events, p.Add(piece)...)
	}
	return describe(append(events, p.Flush()...))
}

func describe(events []chat.Event) string {
	var b strings.Builder
	last := chat.Kind(0)
	for _, e := range events {
		if e.Kind != last || e.Kind == chat.CallStart {
			if b.Len() > 0 {
				b.WriteString(" | ")
			}
			b.WriteString([]string{"", "text ", "reasoning ", "call ", "args "}[e.Kind])
		}
		last = e.Kind
		if e.Kind == chat.CallStart {
			fmt.Fprintf(&b, "%d %s", e.Call, e.Name)
		}
		b.WriteString(e.Text)
	}
	return strings.ReplaceAll(b.String(), "\n", "⏎")
}

func TestParserSplitsAnswers(t *testing.T) {
	const call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"
	for _, tt := range []struct {
		name  string
		start State
		in    string
		want  string
	}{
		{"plain text", Undecided, "a < b <thin", "text a < b <thin"},
		{"reasoning, then text", Undecided, "<think>\nhm\nm\n</think>\n\nyes", "reasoning hm⏎m | text yes"},
		{"white space before reasoning is dropped", Undecided, "\n <think>x</think>y", "reasoning x | text y"},
		{"reasoning only at the start", Undecided, "a<think>b</think>", "text a<think>b</think>"},
		{"the prompt opened the reasoning", Thinking, "\nhm\n</think>\n\nyes", "reasoning hm | text yes"},
		{"a repeated opening marker is dropped", Thinking, "<think>\nhm</think>yes", "reasoning hm | text yes"},
		{"a repeated closing marker is dropped", Thinking, "hm</think>yes</think>!", "reasoning hm | text yes!"},
		{"thinking is off", Answering, "a</think>b<think>c", "text a</think>b<think>c"},
		{"it ends inside the reasoning", Undecided, "<think>\nhm\n", "reasoning hm⏎"},
		{"an empty reasoning", Undecided, "<think>\n\n</think>\n\nyes", "text yes"},
		{"a call", Undecided, call, `call 0 f | args {"a": 1}`},
		{"text before a call", Undecided, "let me see\n" + call, `text let me see | call 0 f | args {"a": 1}`},
		{"two calls", Undecided, call + "\n" + call + "\n", `call 0 f | args {"a": 1} | call 1 f | args {"a": 1}`},
		{"text after a call", Undecided, call + "\nso  it is", `call 0 f | args {"a": 1} | text so  it is`},
		{"a call inside the reasoning ends it", Undecided, "<think>x\n" + call, `reasoning x | call 0 f | args {"a": 1}`},
		{"a call without its closing marker", Undecided, "<tool_call>\n{\"name\":\"f\"}", "call 0 f | args {}"},
		{"two objects in one block", Undecided, `<tool_call>{"name":"f"} {"arguments":{},"name":"g"}</tool_call>`, "call 0 f | args {} | call 1 g | args {}"},
		{"arguments inside a string", Undecided, `<tool_call>{"name":"f","arguments":"{\"a\":1}"}</tool_call>`, `call 0 f | args {"a":1}`},
		{"the closing marker inside a string", Undecided, `<tool_call>{"name":"f","arguments":{"a":"</tool_call>\""}}</tool_call>`, `call 0 f | args {"a":"</tool_call>\""}`},
		{"broken JSON stays text", Undecided, "a\n<tool_call>{name}</tool_call>b", "text a⏎<tool_call>{name}</tool_call>b"},
		{"arguments that are no object stay text", Undecided, `<tool_call>{"name":"f","arguments":[1]}</tool_call>`, `text <tool_call>{"name":"f","arguments":[1]}</tool_call>`},
		{"it ends inside a call", Undecided, `<tool_call>{"name":"f","argu`, `text <tool_call>{"name":"f","argu`},
		{"it ends inside the arguments", Undecided, `<tool_call>{"name":"f","arguments":{"a":"b`, `call 0 f | args {"a":"b`},
		{"it ends inside the closing marker", Undecided, `<tool_call>{"name":"f"}</tool_`, `call 0 f | args {}`},
		{"arguments before the name", Undecided, `<tool_call>{"arguments":{"a":[1,"}"]},"name":"f"}</tool_call>`, `call 0 f | args {"a":[1,"}"]}`},
		{"further keys", Undecided, `<tool_call>{"id":1,"name":"f","arguments":{},"x":{"y":"{"},"z":null}</tool_call>!`, `call 0 f | args {} | text !`},
		{"the brace of the object is missing", Undecided, `<tool_call>{"name":"f","arguments":{"a":1}</tool_call>!`, `call 0 f | args {"a":1} | text !`},
		{"braces of the arguments are missing", Undecided, `<tool_call>{"name":"f","arguments":{"a":{"b":1}</tool_call>!`, `call 0 f | args {"a":{"b":1} | text !`},
		{"text in place of the closing marker", Undecided, `<tool_call>{"name":"f","arguments":{}} so`, `call 0 f | args {} | text so`},
		{"an escape in the name", Undecided, `<tool_call>{"name":"\u0066\"","arguments":{}}</tool_call>`, `call 0 f" | args {}`},
		{"no object at all", Undecided, `a <tool_call> b </tool_call> c`, `text a <tool_call> b </tool_call> c`},
		{"an empty block", Undecided, `<tool_call></tool_call>`, `text <tool_call></tool_call>`},
		{"a block opens where another was no call", Undecided, `<tool_call>x<tool_call>{"name":"f"}</tool_call>`, `text <tool_call>x | call 0 f | args {}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parse(tt.start, []string{tt.in})); diff != "" {
				t.Errorf("parse(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// split cuts text at random places between runes.
func split(rng *rand.Rand, text string) []string {
	var pieces []string
	start := 0
	for i := range text {
		if i > start && rng.IntN(3) == 0 {
			pieces = append(pieces, text[start:i])
			start = i
		}
	}
	return append(pieces, text[start:])
}

// randomText strings words together that mean something to the parser.
func randomText(rng *rand.Rand) string {
	words := []string{
		"<think>", "</think>", "<tool_call>", "</tool_call>", "\n", "\n\n", " ", "a", "ä", "<", "<t", "</", `{"name":"f"}`,
		`{"name":"g","arguments":{"x":"y"}}`, `{"name":"g","arguments":{"x":[`, `}`, `{`, `]`, `,`, `:`, `"arguments"`, `"`, `\`, "<tool_call>\n{\"name\":\"h\",\"arguments\":{}}\n</tool_call>",
	}
	var b strings.Builder
	for range rng.IntN(20) {
		b.WriteString(words[rng.IntN(len(words))])
	}
	return b.String()
}

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		text := randomText(rng)
		for _, start := range []State{Undecided, Thinking, Answering} {
			want := parse(start, []string{text})
			pieces := split(rng, text)
			if got := parse(start, pieces); got != want {
				t.Fatalf("start %d, pieces %q:\ngot  %s\nwant %s", start, pieces, got, want)
			}
		}
	}
}

func TestArgumentsStreamAsTheyCome(t *testing.T) {
	p := New(qwen, Answering)
	for _, step := range []struct{ piece, want string }{
		{"<tool_call>\n{\"name\": \"f\"", ""},
		{", \"arguments\": {", "call 0 f | args {"},
		{"\"city\": \"Ou", "args \"city\": \"Ou"},
		{"lu\"}}", "args lu\"}"},
		{"\n</tool", ""},
		{"_call>", ""},
	} {
		if got := describe(p.Add(step.piece)); got != step.want {
			t.Errorf("Add(%q) = %q, want %q", step.piece, got, step.want)
		}
	}
	if p.InCall() || p.Calls() != 1 {
		t.Errorf("%d calls, one open: %v, want one that is closed", p.Calls(), p.InCall())
	}
}

func TestSpanCoversTheReasoning(t *testing.T) {
	const text = "\n<think>\nhm\n</think>\n\nyes"
	for _, pieces := range [][]string{{text}, strings.Split(text, "")} {
		p := New(qwen, Undecided)
		for _, piece := range pieces {
			p.Add(piece)
		}
		if got := text[p.Span().Open:p.Span().Close]; got != "\nhm\n" {
			t.Errorf("span holds %q, want %q", got, "\nhm\n")
		}
	}
}

func TestStartStateComesFromTheEndOfThePrompt(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		want   State
	}{
		{"<|im_start|>assistant\n", Undecided},
		{"<|im_start|>assistant\n<think>\n", Thinking},
		{"<|im_start|>assistant\n<think>\n\n</think>\n\n", Answering},
	} {
		if got := qwen.StartState(tt.prompt); got != tt.want {
			t.Errorf("StartState(%q) = %d, want %d", tt.prompt, got, tt.want)
		}
	}
}

func FuzzParser(f *testing.F) {
	f.Add("<think>a</think>\n<tool_call>{\"name\":\"f\"}</tool_call>", uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		text = strings.ToValidUTF8(text, "?")
		rng := rand.New(rand.NewPCG(seed, 2))
		for _, start := range []State{Undecided, Thinking, Answering} {
			want := parse(start, []string{text})
			if got := parse(start, split(rng, text)); got != want {
				t.Errorf("text %q:\ngot  %s\nwant %s", text, got, want)
			}
		}
	})
}

// Reasoning that ended in many newlines, and an answer that began with white space, took the square of their length.
func TestWhiteSpaceTakesTimeByItsLength(t *testing.T) {
	const pieces = 200_000 // less than 0.1 s; it was minutes
	format := DetectFormat("<think></think><tool_call>")
	for _, start := range []State{Undecided, Thinking} {
		began := time.Now()
		p := New(format, start)
		if start == Thinking {
			p.Add("a")
		}
		for range pieces {
			p.Add("\n")
			p.InMarkup()
		}
		text := ""
		for _, e := range append(p.Add("b"), p.Flush()...) {
			text += e.Text
		}
		if want := strings.Repeat("\n", pieces) + "b"; text != want {
			t.Errorf("state %d: got %d bytes, want %d", start, len(text), len(want))
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("state %d: %d newlines took %v", start, pieces, took)
		}
	}
}
