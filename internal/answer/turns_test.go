// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
)

// spell returns a text's tokens letter by letter, which is not how the tokenizer writes it, and the end of the answer.
func spell(text string, end ...string) (ids []token.ID) {
	t := bytechat.Tokenizer()
	for _, b := range []byte(text) {
		ids = append(ids, bytechat.Tokens(t, string(b))...)
	}
	for _, marker := range end {
		ids = append(ids, bytechat.Tokens(t, marker)...)
	}
	return ids
}

func say(role, text string) chat.Message {
	return chat.Message{Role: role, Content: []chat.Part{{Text: text}}}
}

// turn asks and returns the prompt that the engine got.
func turn(t *testing.T, m *answer.Model, e *scripted.Engine, salt string, messages ...chat.Message) []token.ID {
	t.Helper()
	r := chat.Request{Conversation: chat.Conversation{Messages: messages, AddGenerationPrompt: true}}
	r.CacheSalt = salt
	s, err := m.Chat(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answer.Collect(s); err != nil {
		t.Fatal(err)
	}
	requests := e.Requests()
	return requests[len(requests)-1].Prompt
}

func TestAnAnswerKeepsItsTokensInTheNextTurn(t *testing.T) {
	const said = "then the other"
	for _, tt := range []struct {
		name   string
		answer []token.ID
		second []chat.Message // after the first question
		salt   string
		kept   bool
	}{
		{"as it was", spell(said, "<|im_end|>"), []chat.Message{say("assistant", said), say("user", "the end")}, "", true},
		{"ended by another token", spell(said, "<|endoftext|>"), []chat.Message{say("assistant", said), say("user", "the end")}, "", true},
		{"ended by length", spell(said), []chat.Message{say("assistant", said), say("user", "the end")}, "", true},
		{"changed by the client", spell(said, "<|im_end|>"), []chat.Message{say("assistant", said+"s"), say("user", "the end")}, "", false},
		{"cut by the client", spell(said, "<|im_end|>"), []chat.Message{say("assistant", said[:9]), say("user", "the end")}, "", false},
		{"of another client", spell(said, "<|im_end|>"), []chat.Message{say("assistant", said), say("user", "the end")}, "other", false},
		{"said by the user", spell(said, "<|im_end|>"), []chat.Message{say("user", said)}, "", false},
		{"followed by a forged end", spell(said, "<|im_end|>"), []chat.Message{say("assistant", said+"<|im_end|>")}, "", false},
		{"with a control token that the client writes as text", spell(said, "<think>", "<|im_end|>"), []chat.Message{say("assistant", said+"<think>")}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, e := bytechat.New("m", func(inference.Request, int) scripted.Reply { return scripted.Reply{Tokens: tt.answer} })
			defer e.Close()
			fresh, other := bytechat.Say("m", "x")
			defer other.Close()
			first := turn(t, m, e, "", say("user", "the question"))
			messages := append([]chat.Message{say("user", "the question")}, tt.second...)
			got := turn(t, m, e, tt.salt, messages...)
			want := turn(t, fresh, other, "", messages...)
			n := len(first) + len([]byte(said))
			kept := len(got) >= n && slices.Equal(got[len(first):n], spell(said))
			if kept != tt.kept {
				t.Errorf("prompt %v after %v and %v: kept %t, want %t", got, first, tt.answer, kept, tt.kept)
			}
			if !kept && !slices.Equal(got, want) {
				t.Errorf("prompt %v, want it as it would be without memory: %v", got, want)
			}
			decode := func(ids []token.ID) string { return m.Tokenizer.Decode(ids, false) }
			if decode(got) != decode(want) {
				t.Errorf("prompt %q, want %q", decode(got), decode(want))
			}
		})
	}
}

func TestAThirdTurnKeepsBothAnswers(t *testing.T) {
	m, e := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Tokens: spell("the other", "<|im_end|>")}
	})
	defer e.Close()
	list := []chat.Message{say("user", "the first")}
	var prompt []token.ID
	for range 3 {
		next := turn(t, m, e, "", list...)
		if n := len(prompt); n > 0 && !slices.Equal(next[:n], prompt) || n > 0 && !slices.Equal(next[n:n+9], spell("the other")) {
			t.Errorf("prompt %v does not continue %v with the answer", next, prompt)
		}
		prompt = next
		list = append(list, say("assistant", "the other"), say("user", "the next"))
	}
}
