// SPDX-License-Identifier: Apache-2.0

// Package model says what a language model is to the engine: a Config, a Cache of keys and values in blocks, and
// Forward, which turns a Batch of tokens of many requests into hidden rows. Head turns hidden rows into logits.
//
// Each family of models is a directory below this one and a file that reads like its paper. What families share is in
// fields, which reads configurations, and decoder, which has the layers and reads weights under the two sets of names that
// files use (GGUF and Hugging Face).
//
// Always true: the bits of a request's hidden rows depend on the model and the request's own tokens only. They do not
// depend on the rest of the batch, on how the tokens were cut into batches, or on the number of threads.
//
// Shape letters: T tokens of a batch, N output rows, E hidden size, H query heads, K KV heads, D head dim, F FFN size,
// V vocabulary, L layers, B cache blocks, P block size.
package model

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/token"
)

// A Model is loaded weights and the way to run them. It is used by one goroutine at a time.
type Model interface {
	// Config describes the model. It does not change.
	Config() Config
	// NewCache allocates room for keys and values: blocks[g] blocks for cache group g.
	NewCache(blocks []int) *Cache
	// Forward runs the batch, writes its keys and values to the cache, and returns the hidden rows of b.Outputs after
	// the final norm. The result is valid until the next call. In steady state it allocates nothing.
	//
	// Shapes: result [N, E].
	Forward(b *Batch, c *Cache) ([]float32, error)
	// Head sets dst to the logits of n hidden rows, which Forward returned (or a part of them).
	//
	// Shapes: dst [n, V]; hidden [n, E].
	Head(dst, hidden []float32, n int)
	// Close frees what the model holds outside the weights' mapping.
	Close() error
}

// A Batch is what one Forward processes: some consecutive tokens of each of some sequences, one sequence after the
// other.
type Batch struct {
	Tokens    []token.ID // [T]
	Positions []int32    // [T]; consecutive within a sequence, the first is its Past
	Sequences []Sequence // their Rows add up to T
	Outputs   []int32    // [N] ascending rows whose hidden state is wanted

	// Tap, if set, sees the residual stream of all T rows after each layer; it must not keep it.
	Tap func(layer int, hidden []float32)

	Triples    [][3]int32 // [T] positions with three axes; reserved, must be empty
	Embeddings []float32  // [T, E] in place of Tokens; reserved, must be empty
}

// A Sequence says which rows of a batch belong to one request and where its keys and values are.
type Sequence struct {
	Rows int // consecutive rows of this batch, at least 1
	Past int // tokens already in the cache
	// Length is how many tokens the whole sequence has, also those that later batches bring; 0: those up to this batch's
	// end. Config.LongAfter tells what it decides; the keys in the cache are to be of the same kind.
	Length int
	// Tables has one block table for each cache group: position/BlockSize indexes it, and it reaches to the last
	// position of this batch. A block that a window let go is kvcache.None.
	Tables [][]kvcache.BlockID
}

// Check reports the first thing that is wrong with the batch for a model of this configuration and cache.
func (b *Batch) Check(c *Config, cache *Cache) error {
	if len(b.Triples) > 0 || len(b.Embeddings) > 0 {
		return fmt.Errorf("model: batch: position triples and input embeddings are not supported by %s", c.Family)
	}
	if len(b.Tokens) == 0 || len(b.Tokens) != len(b.Positions) {
		return fmt.Errorf("model: batch: got %d tokens and %d positions, want equal numbers above 0", len(b.Tokens), len(b.Positions))
	}
	for i, id := range b.Tokens {
		if id < 0 || int(id) >= c.Vocab {
			return fmt.Errorf("model: batch: token %d at row %d, want 0 to %d", id, i, c.Vocab-1)
		}
	}
	last := int32(-1)
	for _, row := range b.Outputs {
		if row <= last || int(row) >= len(b.Tokens) {
			return fmt.Errorf("model: batch: output row %d after %d of %d, want ascending rows", row, last, len(b.Tokens))
		}
		last = row
	}
	row := 0
	for i := range b.Sequences {
		if err := b.checkSequence(i, row, cache); err != nil {
			return err
		}
		row += b.Sequences[i].Rows
	}
	if row != len(b.Tokens) {
		return fmt.Errorf("model: batch: sequences have %d rows, want %d", row, len(b.Tokens))
	}
	return nil
}

// checkSequence checks sequence i, whose first row is row.
func (b *Batch) checkSequence(i, row int, cache *Cache) error {
	s := &b.Sequences[i]
	if s.Rows < 1 || s.Past < 0 || row+s.Rows > len(b.Tokens) {
		return fmt.Errorf("model: batch: sequence %d has %d rows after %d tokens, and %d rows are left", i, s.Rows, s.Past, len(b.Tokens)-row)
	}
	if s.Length != 0 && s.Length < s.Past+s.Rows {
		return fmt.Errorf("model: batch: sequence %d of %d tokens has %d rows after %d", i, s.Length, s.Rows, s.Past)
	}
	for j := range s.Rows {
		if got := int(b.Positions[row+j]); got != s.Past+j {
			return fmt.Errorf("model: batch: sequence %d: position %d at row %d, want %d", i, got, row+j, s.Past+j)
		}
	}
	if len(s.Tables) != len(cache.kinds) {
		return fmt.Errorf("model: batch: sequence %d has %d block tables, want %d", i, len(s.Tables), len(cache.kinds))
	}
	for g, table := range s.Tables {
		if err := cache.checkTable(table, g, s.Past, s.Past+s.Rows); err != nil {
			return fmt.Errorf("model: batch: sequence %d: group %d: %w", i, g, err)
		}
	}
	return nil
}
