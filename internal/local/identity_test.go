// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/tensor"
)

func TestIdentityFollowsTheModelAndItsConfiguration(t *testing.T) {
	of := func(cache tensor.KVType) []byte {
		b := openDraft(t)
		defer b.Close()
		b.Config.CacheType = cache
		id, err := identity(b)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if !bytes.Equal(of(tensor.KVF16), of(tensor.KVF16)) {
		t.Errorf("the same model has two identities")
	}
	if bytes.Equal(of(tensor.KVF16), of(tensor.KVBF16)) {
		t.Errorf("two configurations have one identity")
	}
}

func TestAConversationIsFoundOnTheDiskAfterARestart(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	dir := t.TempDir()
	zero := 0.0
	r := chat.Request{Params: chat.Params{Temperature: &zero}}
	r.AddGenerationPrompt = true
	r.Messages = []chat.Message{{Role: "user", Content: []chat.Part{{Text: string(bytes.Repeat([]byte("What is the capital of Finland? "), 20))}}}}
	var texts []string
	for round := range 2 {
		m, err := openMini(t, pool, Options{CacheBytes: 32 << 20, DiskCache: dir})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Chat(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := answer.Collect(s)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, a.Choices[0].Text)
		if round == 1 && a.Usage.CachedTokens < 32 {
			t.Errorf("%d cached tokens after a restart", a.Usage.CachedTokens)
		}
		blocks := (a.Usage.PromptTokens - 1) / 32
		for files := []string{}; len(files) < blocks; time.Sleep(time.Millisecond) {
			if files, err = filepath.Glob(filepath.Join(dir, "*", "*-0.kv")); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("%q, and %q after a restart", texts[0], texts[1])
	}
}
