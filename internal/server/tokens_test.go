// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// With several keys /tokenize did not know the answers that a key had got, and counted their usual tokens.
func TestTokenizeCountsWhatChatCountsWithSeveralKeys(t *testing.T) {
	letters := []token.ID{'t', 'h', 'e', 'n'} // as a text: "th", "e", "n"
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply { return scripted.Reply{Tokens: letters} })
	s := start(t, m, engine, func(c *Config) { c.Keys = []Key{{Secret: "one"}, {Secret: "two"}} })
	s.post("/v1/chat/completions", `{`+hello+`}`, "x-api-key: one")
	conversation := `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"then"},{"role":"user","content":"go on"}]`
	var counts []int
	for _, key := range []string{"x-api-key: one", "x-api-key: two"} {
		chat := s.post("/v1/chat/completions", `{"max_tokens":1,`+conversation+`}`, key)
		told := s.post("/tokenize", `{`+conversation+`}`, key)
		count := countOf(t, told.body, `"count":`)
		if used := countOf(t, chat.body, `"prompt_tokens":`); count != used {
			t.Errorf("%s: /tokenize counts %d tokens, the chat %d", key, count, used)
		}
		counts = append(counts, count)
	}
	if counts[0] != counts[1]+1 {
		t.Errorf("counts %v, want one more for the key that got the answer", counts)
	}
}

// /tokenize counted the usual tokens of an answer that chat had given under a salt.
func TestTokenizeCountsWhatChatCountsUnderASalt(t *testing.T) {
	letters := []token.ID{'t', 'h', 'e', 'n'} // as a text: "th", "e", "n"
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply { return scripted.Reply{Tokens: letters} })
	s := start(t, m, engine, nil)
	s.post("/v1/chat/completions", `{"cache_salt":"x",`+hello+`}`)
	conversation := `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"then"},{"role":"user","content":"go on"}]`
	var counts []int
	for _, salt := range []string{`"cache_salt":"x",`, `"cache_salt":"y",`, ``} {
		chat := s.post("/v1/chat/completions", `{"max_tokens":1,`+salt+conversation+`}`)
		told := s.post("/tokenize", `{"mm_processor_kwargs":{},"media_io_kwargs":{},`+salt+conversation+`}`, "X-Sampo-Strict: 1")
		count := countOf(t, told.body, `"count":`)
		if used := countOf(t, chat.body, `"prompt_tokens":`); count != used {
			t.Errorf("%s /tokenize counts %d tokens, the chat %d", salt, count, used)
		}
		counts = append(counts, count)
	}
	if counts[0] != counts[1]+1 || counts[1] != counts[2] {
		t.Errorf("counts %v, want one more under the salt of the answer", counts)
	}
}

// A client that left let the server tokenise its text to the end, however long.
func TestTokenizingEndsWhenTheClientLeaves(t *testing.T) {
	m, _ := bytechat.Say("m", "")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	long := strings.Repeat("a long text ", 1<<16)
	for name, req := range map[string]*openai.TokenizeRequest{
		"text": {Text: &long},
		"conversation": {Chat: &chat.Request{Conversation: chat.Conversation{Messages: []chat.Message{
			{Role: "user", Content: []chat.Part{{Text: long}}},
		}}}},
	} {
		if ids, err := tokensOf(ctx, Model{Model: m}, req); !errors.Is(err, context.Canceled) || len(ids) > len(long)/4 {
			t.Errorf("%s: %d tokens, %v", name, len(ids), err)
		}
	}
}

// countOf returns the number that follows a key.
func countOf(t *testing.T, body, key string) int {
	t.Helper()
	_, rest, _ := strings.Cut(body, key)
	digits, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("no number behind %s in %s", key, body)
	}
	return n
}
