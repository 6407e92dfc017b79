// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
)

// loadDraft packs the weights of a model that is to guess tokens; nil if there is none.
func loadDraft(draft *bundle.Bundle, pool *tensor.Pool) (model.Model, error) {
	if draft == nil {
		return nil, nil
	}
	return load(draft, pool)
}

// draftBytes returns the part of a budget for keys and values that is the draft model's: as many tokens as b has fit into it, but
// no more than the engine's default. 0: there is no draft model.
func draftBytes(b, draft *bundle.Bundle, budget int64) int64 {
	if draft == nil {
		return 0
	}
	own, others := blockBytes(draft), blockBytes(b)
	return min(engine.DefaultDraftBytes, max(1, budget/(own+others))*own)
}

// blockBytes returns what a block of tokens takes in all groups of a model.
func blockBytes(b *bundle.Bundle) (sum int64) {
	for _, n := range b.Config.BlockBytes() {
		sum += n
	}
	return sum
}

// closeDraft closes a draft model, if there is one.
func closeDraft(m model.Model) error {
	if m == nil {
		return nil
	}
	return m.Close()
}

// sameVocabulary reports the first difference between two models' tokens: guesses pass as token IDs. Without a draft there is none.
func sameVocabulary(b, draft *bundle.Bundle) error {
	if draft == nil {
		return nil
	}
	size := b.Tokenizer.VocabSize()
	if got := draft.Tokenizer.VocabSize(); got != size {
		return fmt.Errorf("local: draft model %s has %d tokens, %s has %d: want the same vocabulary", draft.Name, got, b.Name, size)
	}
	for id := range token.ID(size) {
		if got, want := draft.Tokenizer.Piece(id), b.Tokenizer.Piece(id); got != want {
			return fmt.Errorf("local: token %d is %q in draft model %s and %q in %s: want the same vocabulary", id, got, draft.Name, want, b.Name)
		}
	}
	return nil
}
