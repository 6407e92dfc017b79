// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
)

func ptr[T any](v T) *T { return &v }

// ask returns a request with one message.
func ask(text string) chat.Request {
	return chat.Request{Conversation: chat.Conversation{
		Messages:            []chat.Message{{Role: "user", Content: []chat.Part{{Text: text}}}},
		AddGenerationPrompt: true,
	}}
}

func withTools(r chat.Request) chat.Request {
	r.Tools = []chat.Tool{{Name: "f"}}
	return r
}

// collect answers a request with a text.
func collect(t *testing.T, said string, r chat.Request) *chat.Answer {
	t.Helper()
	m, engine := bytechat.Say("m", said)
	defer engine.Close()
	s, err := m.Chat(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	a, err := answer.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestChatAnswers(t *testing.T) {
	const call = `<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>`
	for _, tt := range []struct {
		name      string
		said      string
		change    func(r *chat.Request)
		text      string
		reasoning string
		calls     []chat.ToolCall
		finish    chat.Finish
		output    int
		thought   int
	}{
		{name: "the end of text is counted but not shown", said: "hi<|im_end|>", text: "hi", finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 3},
		{name: "another end of text tells its id", said: "hi<|endoftext|>", text: "hi", finish: chat.Finish{Reason: "stop", StopToken: 261}, output: 3},
		{
			name: "a stop string cuts", said: "abXYZdef", change: func(r *chat.Request) { r.Stop = []string{"XYZ"} },
			text: "ab", finish: chat.Finish{Reason: "stop", StopString: "XYZ", StopToken: token.None}, output: 5,
		},
		{
			name: "a stop string is kept when asked", said: "abXYZdef", change: func(r *chat.Request) { r.Stop, r.IncludeStop = []string{"XYZ"}, true },
			text: "abXYZ", finish: chat.Finish{Reason: "stop", StopString: "XYZ", StopToken: token.None}, output: 5,
		},
		{
			name: "a stop token is kept when asked", said: "ab<|im_end|>", change: func(r *chat.Request) { r.IncludeStop = true },
			text: "ab<|im_end|>", finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 3,
		},
		{
			name: "no stop string before min_tokens", said: "XYZaXYZ", change: func(r *chat.Request) { r.Stop, r.MinTokens = []string{"XYZ"}, 4 },
			text: "XYZa", finish: chat.Finish{Reason: "stop", StopString: "XYZ", StopToken: token.None}, output: 7,
		},
		{
			name: "the limit ends", said: "abcdef", change: func(r *chat.Request) { r.MaxTokens = ptr(3) },
			text: "abc", finish: chat.Finish{Reason: "length", StopToken: token.None}, output: 3,
		},
		{
			name: "a stop string beats the limit", said: "abcdef", change: func(r *chat.Request) { r.MaxTokens, r.Stop = ptr(3), []string{"bc"} },
			text: "a", finish: chat.Finish{Reason: "stop", StopString: "bc", StopToken: token.None}, output: 3,
		},
		{
			name: "a rune cut by the limit is dropped", said: "a🦔", change: func(r *chat.Request) { r.MaxTokens = ptr(3) },
			text: "a", finish: chat.Finish{Reason: "length", StopToken: token.None}, output: 3,
		},
		{name: "reasoning", said: "<think>\nhmm\n</think>\n\nyes<|im_end|>", text: "yes", reasoning: "hmm", finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 13, thought: 5},
		{name: "control tokens are hidden", said: "a<|im_start|>b<|im_end|>", text: "ab", finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 4},
		{
			name: "control tokens show when asked", said: "a<|im_start|>b<|im_end|>", change: func(r *chat.Request) { r.KeepSpecialTokens = true },
			text: "a<|im_start|>b", finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 4,
		},
		{
			name: "a hidden token's text is no stop string", said: "a<|im_start|>b<|im_end|>", change: func(r *chat.Request) { r.Stop = []string{"<|im_start|>"} },
			text: "ab", finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 4,
		},
		{
			name: "a call", said: call + "<|im_end|>", change: func(r *chat.Request) { *r = withTools(*r) },
			calls: []chat.ToolCall{{Name: "f", Arguments: `{"a":1}`}}, finish: chat.Finish{Reason: "tool_calls", StopToken: token.None}, output: 35,
		},
		{name: "a call is text without tools", said: call + "<|im_end|>", text: call, finish: chat.Finish{Reason: "stop", StopToken: token.None}, output: 35},
		{
			name: "only the first call when asked", said: call + "\n" + call + "<|im_end|>", change: func(r *chat.Request) { *r = withTools(*r); r.OneCall = true },
			calls: []chat.ToolCall{{Name: "f", Arguments: `{"a":1}`}}, finish: chat.Finish{Reason: "tool_calls", StopToken: token.None}, output: 32,
		},
		{
			name: "a limit inside a call is a length", said: call + call, change: func(r *chat.Request) { *r = withTools(*r); r.MaxTokens = ptr(41) },
			calls: []chat.ToolCall{{Name: "f", Arguments: `{"a":1}`}}, text: `<tool_call>{"name`, finish: chat.Finish{Reason: "length", StopToken: token.None}, output: 41,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ask("x")
			if tt.change != nil {
				tt.change(&r)
			}
			a := collect(t, tt.said, r)
			c := a.Choices[0]
			for i := range c.Calls {
				if len(c.Calls[i].ID) != 32 {
					t.Errorf("call %d has the id %q, want 32 digits", i, c.Calls[i].ID)
				}
				c.Calls[i].ID = ""
			}
			got := chat.Choice{Text: c.Text, Reasoning: c.Reasoning, Calls: c.Calls, Finish: c.Finish}
			want := chat.Choice{Text: tt.text, Reasoning: tt.reasoning, Calls: tt.calls, Finish: tt.finish}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("choice (-want +got):\n%s", diff)
			}
			if a.Usage.OutputTokens != tt.output || a.Usage.ReasoningTokens != tt.thought || len(c.Tokens) != tt.output {
				t.Errorf("usage %+v and %d tokens, want %d output and %d reasoning tokens", a.Usage, len(c.Tokens), tt.output, tt.thought)
			}
		})
	}
}

func TestUserTextNeverBecomesAControlToken(t *testing.T) {
	m, engine := bytechat.Say("m", "ok<|im_end|>")
	defer engine.Close()
	p, err := m.Prompt(t.Context(), ask("<|im_end|><think><tool_call>"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, id := range p.Tokens {
		if m.Tokenizer.Kind(id) == token.Control {
			counts[m.Tokenizer.Piece(id)]++
		}
	}
	if diff := cmp.Diff(map[string]int{"<|im_start|>": 2, "<|im_end|>": 1}, counts); diff != "" {
		t.Errorf("control tokens (-want +got):\n%s", diff)
	}
}

func TestStreamGivesTheSameTextAsTheWhole(t *testing.T) {
	m, engine := bytechat.Say("m", "<think>a\n</think>\n\nthe 🦔 日本<|im_end|>")
	defer engine.Close()
	s, err := m.Chat(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	steps, finishes := 0, 0
	for {
		d, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		steps++
		for _, e := range d.Events {
			if strings.ContainsRune(e.Text, '\uFFFD') {
				t.Errorf("step %d has half a rune: %q", steps, e.Text)
			}
			if e.Kind == chat.Text {
				text.WriteString(e.Text)
			}
		}
		if d.Finish != nil {
			finishes++
		}
		if len(d.Tokens) != 1 {
			t.Errorf("step %d has %d tokens, want one", steps, len(d.Tokens))
		}
	}
	if text.String() != "the 🦔 日本" || finishes != 1 {
		t.Errorf("got %q and %d finishes", text.String(), finishes)
	}
}

func TestCompletionIsRaw(t *testing.T) {
	m, engine := bytechat.Say("m", "<think>a</think><tool_call>b<|im_start|>c<|im_end|>")
	defer engine.Close()
	s, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{{Text: "x<|im_end|>"}, {Tokens: []token.ID{1, 2}}}, Params: chat.Params{Choices: 2, Echo: true}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := answer.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Choices) != 4 || a.Choices[3].Text != "<think>a</think><tool_call>bc" || a.Usage.ReasoningTokens != 0 || a.Usage.PromptTokens != 4 {
		t.Errorf("got %d choices, the last %+v, usage %+v", len(a.Choices), a.Choices[3], a.Usage)
	}
	if a.Prompts[0].Echo != "x<|im_end|>" || a.Prompts[1].Index != 1 || a.Prompts[1].Echo == "" {
		t.Errorf("prompts %+v", a.Prompts)
	}
	if got := engine.Requests()[0].Prompt; len(got) != 2 || got[1] != 259 {
		t.Errorf("prompt tokens %v, want the control token at the end", got)
	}
}

// With more prompts than the engine had places for, a stop string of the first was met only once the last had begun: the engine
// went on with what nobody wanted.
func TestAPromptThatWaitsHoldsNoOtherUp(t *testing.T) {
	said := bytechat.Tokens(bytechat.Tokenizer(), "one. two")
	m, engine := bytechat.New("m", func(req inference.Request, _ int) scripted.Reply {
		if len(req.Prompt) > 1 {
			return scripted.Reply{Step: make(chan struct{})}
		}
		return scripted.Reply{Tokens: said}
	})
	defer engine.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, err := m.Complete(ctx, chat.Completion{Prompts: []chat.Prompt{{Text: "a"}, {Text: "waits"}}, Params: chat.Params{Stop: []string{"."}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for tokens := 0; ; tokens++ {
		d, err := s.Next()
		if err != nil || d.Choice != 0 {
			t.Fatalf("after %d tokens of choice 0: choice %d, %v, want its end", tokens, d.Choice, err)
		}
		if d.Finish != nil {
			break
		}
	}
}

func TestLengthIsCheckedBeforeAnyWork(t *testing.T) {
	m, engine := bytechat.Say("m", "x")
	defer engine.Close()
	for _, tt := range []struct {
		name   string
		prompt chat.Prompt
		max    *int
		cut    *int
		want   *answer.LengthError
	}{
		{"the prompt fills the context", chat.Prompt{Text: strings.Repeat("a", 1024)}, nil, nil, &answer.LengthError{MaxContext: 1024, PromptTokens: 1024}},
		{"the answer does not fit", chat.Prompt{Text: "abcd"}, ptr(1021), nil, &answer.LengthError{MaxContext: 1024, PromptTokens: 4, OutputTokens: 1021}},
		{"exactly full", chat.Prompt{Text: "abcd"}, ptr(1020), nil, nil},
		{"the answer leaves nothing of a prompt that may be cut", chat.Prompt{Text: "abcd"}, ptr(1024), ptr(-1), &answer.LengthError{MaxContext: 1024, PromptTokens: 4, OutputTokens: 1024}},
		{"an absurd size is not tokenised", chat.Prompt{Text: strings.Repeat("a", 1<<20)}, nil, nil, &answer.LengthError{MaxContext: 1024, Bytes: 1 << 20, MostBytes: 1024 * 13}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{tt.prompt}, Params: chat.Params{MaxTokens: tt.max, TruncatePrompt: tt.cut}})
			var got *answer.LengthError
			errors.As(err, &got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if err == nil {
				s.Close()
			}
		})
	}
}

func TestDefaultsHoldWhereTheRequestIsSilent(t *testing.T) {
	base, engine := bytechat.Say("m", "x")
	defer engine.Close()
	c := base.Config
	c.Defaults = bundle.GenerationDefaults{Temperature: ptr(float32(0.6)), TopK: ptr(20), TopP: ptr(float32(0.95))}
	m := answer.New(c)
	for _, p := range []chat.Params{
		{},
		{Temperature: ptr(0.0), TopK: ptr(-1), TopP: ptr(1.0)},
		{Temperature: ptr(1e-60), TopK: ptr(100000)},
	} {
		s, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{{Text: "a"}}, Params: p})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	var got []inference.Sampling
	for _, r := range engine.Requests() {
		got = append(got, r.Sampling)
	}
	want := []inference.Sampling{
		{Temperature: 0.6, TopK: 20, TopP: 0.95, RepetitionPenalty: 1},
		{Temperature: 0, TopK: 0, TopP: 1, RepetitionPenalty: 1},
		{Temperature: 0.01, TopK: 0, TopP: 0.95, RepetitionPenalty: 1},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(token.Mask{})); diff != "" {
		t.Errorf("sampling (-want +got):\n%s", diff)
	}
}

// The echo, and with it the offsets of logprobs, was that of the whole prompt; so was the text that the answer was taken to continue.
func TestACutPromptIsToldAsItRan(t *testing.T) {
	m, engine := bytechat.Say("m", "x<|im_end|>")
	defer engine.Close()
	c := chat.Completion{Params: chat.Params{Echo: true, TruncatePrompt: ptr(3)}}
	for _, tt := range []struct {
		prompt chat.Prompt
		right  bool
		want   string
	}{
		{chat.Prompt{Text: "abcdef"}, false, "def"},
		{chat.Prompt{Text: "abcdef"}, true, "abc"},
		{chat.Prompt{Text: "abc"}, false, "abc"},
		{chat.Prompt{Tokens: []token.ID{65, 66, 67, 68}}, false, "BCD"},
	} {
		c.Prompts, c.TruncateRight = []chat.Prompt{tt.prompt}, tt.right
		s, err := m.Complete(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		a, err := answer.Collect(s)
		if err != nil {
			t.Fatal(err)
		}
		if p := a.Prompts[0]; p.Echo != tt.want || p.Text != tt.want || len(p.Tokens) != 3 {
			t.Errorf("%+v, right %v: echo %q and text %q, want %q", tt.prompt, tt.right, p.Echo, p.Text, tt.want)
		}
	}
	r := ask("hello")
	r.TruncatePrompt, r.TruncateRight = ptr(3), true
	r.Kwargs = ordjson.NewObject()
	r.Kwargs.Set("enable_thinking", false) // closes the reasoning, behind the cut
	if a := collect(t, "<think>a</think>b<|im_end|>", r); a.Prompts[0].Text != "<|im_start|>us" || a.Choices[0].Reasoning != "a" {
		t.Errorf("chat: text %q, reasoning %q", a.Prompts[0].Text, a.Choices[0].Reasoning)
	}
}

// top_p and repetition_penalty of 1e-46 became 0 as float32, which turned them off.
func TestTinyParametersAreNotTurnedOff(t *testing.T) {
	m, engine := bytechat.Say("m", "x")
	defer engine.Close()
	tiny := 1e-300
	s, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{{Text: "a"}}, Params: chat.Params{TopP: &tiny, RepetitionPenalty: &tiny}})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := engine.Requests()[0].Sampling; got.TopP <= 0 || got.RepetitionPenalty <= 0 {
		t.Errorf("top_p %g and repetition_penalty %g, want both above 0", got.TopP, got.RepetitionPenalty)
	}
}

func TestIDsOutsideTheVocabularyAreRefused(t *testing.T) {
	m, engine := bytechat.Say("m", "x")
	defer engine.Close()
	for param, p := range map[string]chat.Params{
		"logit_bias":        {Bias: []chat.TokenBias{{Token: 9999}}},
		"allowed_token_ids": {Allowed: []token.ID{9999}},
		"stop_token_ids":    {StopTokens: []token.ID{9999}},
	} {
		_, err := m.Chat(t.Context(), chat.Request{Conversation: ask("x").Conversation, Params: p})
		var input *answer.InputError
		if !errors.As(err, &input) || input.Param != param {
			t.Errorf("%s: got %v", param, err)
		}
	}
	_, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{{Tokens: []token.ID{9999}}}})
	if err == nil || !strings.Contains(err.Error(), "Token id 9999 is out of vocabulary") {
		t.Errorf("prompt: got %v", err)
	}
}

func TestThinkingBudgetIsHandedToTheEngine(t *testing.T) {
	m, engine := bytechat.Say("m", "<think>a</think>b<|im_end|>")
	defer engine.Close()
	for _, change := range []func(r *chat.Request){
		func(r *chat.Request) { r.Budget = ptr(16) },
		func(r *chat.Request) { r.Budget, r.Thinking = ptr(16), ptr(false) },
		func(*chat.Request) {},
	} {
		r := ask("x")
		change(&r)
		s, err := m.Chat(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	var got []*inference.ThinkingBudget
	for _, r := range engine.Requests() {
		got = append(got, r.Budget)
	}
	open, _ := m.Tokenizer.ID("<think>")
	closing, _ := m.Tokenizer.ID("</think>")
	newline := bytechat.Tokens(m.Tokenizer, "\n")[0]
	phrase := []token.ID{closing}
	if strings.Contains(m.Source, "<|im_start|>") {
		phrase = []token.ID{newline, closing, newline, newline}
	}
	want := []*inference.ThinkingBudget{{Tokens: 16, Open: open, Close: closing, Closing: phrase}, nil, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
}

func TestEngineFailureEndsTheStream(t *testing.T) {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Tokens: []token.ID{65, 66}, Err: inference.ErrEngine}
	})
	defer engine.Close()
	s, err := m.Chat(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answer.Collect(s); !errors.Is(err, inference.ErrEngine) {
		t.Errorf("got %v, want ErrEngine", err)
	}
}

func TestCancellingEndsTheStream(t *testing.T) {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Tokens: []token.ID{65}, Step: make(chan struct{})}
	})
	defer engine.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := m.Chat(ctx, ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
