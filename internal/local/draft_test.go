// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/token"
)

func openDraft(t *testing.T) *bundle.Bundle {
	t.Helper()
	b, err := bundle.OpenBytes("draft", assets.MiniChat(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestADraftModelChangesNoToken(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	var answers [][]token.ID
	for _, opt := range []Options{{DraftTokens: -1}, {Draft: openDraft(t)}} {
		opt.CacheBytes = 32 << 20
		m, err := openMini(t, pool, opt)
		if err != nil {
			t.Fatal(err)
		}
		seed := int64(3)
		s, err := m.Engine.Submit(t.Context(), inference.Request{
			Prompt: []token.ID{5, 6, 7}, MaxTokens: 60, EOS: token.None, Logprobs: inference.NoLogprobs, PromptLogprobs: inference.NoLogprobs,
			Sampling: inference.Sampling{Temperature: 1, Seed: &seed},
		})
		if err != nil {
			t.Fatal(err)
		}
		var ids []token.ID
		for {
			e, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.Token)
		}
		answers = append(answers, ids)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(answers[0], answers[1]) {
		t.Errorf("without a draft model %v, with one %v", answers[0], answers[1])
	}
}

// The weights of a draft model were loaded into memory that the cache was to take.
func TestTheWeightsOfADraftModelCount(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	size := int64(len(assets.MiniChat()))
	_, err := openMini(t, pool, Options{Reserved: 1 << 60, Draft: openDraft(t)})
	var full *MemoryError
	if !errors.As(err, &full) || full.Need != 2*size {
		t.Errorf("Open = %v, want a MemoryError that needs %d bytes", err, 2*size)
	}
	m, err := openMini(t, pool, Options{CacheBytes: 32 << 20, Draft: openDraft(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.HeldBytes() - m.CacheBytes; got != 2*size {
		t.Errorf("weights hold %d bytes, want %d", got, 2*size)
	}
}

// The draft model's cache, of up to 256 MiB, was taken beside the budget, and no figure told of it.
func TestTheCacheOfADraftModelCounts(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	for _, budget := range []int64{1 << 20, 32 << 20, 2 << 30} {
		plain, err := openMini(t, pool, Options{CacheBytes: budget})
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		m, err := openMini(t, pool, Options{CacheBytes: budget, Draft: openDraft(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		own, guessed := plain.CacheBytes, m.engine.DraftCacheBytes()
		if m.CacheBytes > budget || guessed == 0 || guessed > engine.DefaultDraftBytes || m.CacheBytes <= guessed {
			t.Errorf("of %d bytes %d are taken, %d of them by the draft model; without one %d", budget, m.CacheBytes, guessed, own)
		}
	}
}

func TestADraftModelWithOtherTokensIsRefused(t *testing.T) {
	b, draft := openDraft(t), openDraft(t)
	defer b.Close()
	defer draft.Close()
	draft.Tokenizer = bytechat.Tokenizer()
	if err := sameVocabulary(b, draft); err == nil || !strings.Contains(err.Error(), "same vocabulary") {
		t.Errorf("got %v, want an error about the vocabulary", err)
	}
}
