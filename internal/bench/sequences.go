// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math/rand/v2"
	"runtime/debug"

	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
)

// prefillChunk is the number of prompt tokens in a step, as the engine has it by default.
const prefillChunk = engine.DefaultBatchTokens

// sequences are some sequences of equal length over one cache, and what a step with them needs. All its memory is taken
// at the start.
type sequences struct {
	model  model.Model
	pool   *tensor.Pool
	cache  *model.Cache
	batch  model.Batch
	logits []float32 // [parallel, V]
	next   []token.ID

	samplers []*sampler.Sampler // [threads]
	greedy   *sampler.State
	choose   func(i, worker int)
	err      []error // of each worker
}

// blocksFor returns the cache blocks of each group that sequences of so many tokens need.
func blocksFor(c model.Config, tokens, parallel int) []int {
	var blocks []int
	for _, group := range c.CacheGroups() {
		blocks = append(blocks, parallel*group.Blocks(tokens, prefillChunk, model.BlockSize))
	}
	return blocks
}

// cacheBytes is the memory of those blocks.
func cacheBytes(c model.Config, tokens, parallel int) int64 {
	sum := int64(0)
	sizes := c.BlockBytes()
	for g, n := range blocksFor(c, tokens, parallel) {
		sum += sizes[g] * int64(n)
	}
	return sum
}

// newSequences makes room for parallel sequences of at most so many tokens. The cache is full of numbers: memory that was
// never written would be read from one page of zeros.
func newSequences(m model.Model, pool *tensor.Pool, tokens, parallel int) *sequences {
	cfg := m.Config()
	blocks := blocksFor(cfg, tokens, parallel)
	s := &sequences{
		model: m, pool: pool, cache: m.NewCache(blocks), greedy: sampler.NewState(sampler.Params{}, nil, 0),
		logits: make([]float32, parallel*cfg.Vocab), next: make([]token.ID, parallel), err: make([]error, pool.Threads()),
	}
	for range pool.Threads() {
		s.samplers = append(s.samplers, sampler.New(cfg.Vocab))
	}
	s.choose = func(i, worker int) {
		id, err := s.samplers[worker].Sample(s.logits[i*cfg.Vocab:(i+1)*cfg.Vocab], s.greedy)
		if err != nil {
			s.err[worker] = err
		}
		s.next[i] = id
	}
	for i := range parallel {
		s.next[i] = testToken(i, cfg.Vocab)
		s.batch.Sequences = append(s.batch.Sequences, model.Sequence{Tables: tables(blocks, i, tokens, parallel)})
	}
	fill(&cfg, pool, s.cache, blocks)
	return s
}

// close gives the memory back, which the next case may need.
func (s *sequences) close() {
	s.cache.Close()
	debug.FreeOSMemory() // where caches lie on the Go heap
}

// tables gives sequence i its share of each group's blocks. A window's few blocks take turns.
func tables(blocks []int, i, tokens, parallel int) [][]kvcache.BlockID {
	all := make([][]kvcache.BlockID, len(blocks))
	for g, n := range blocks {
		own := n / parallel
		for at := range (tokens + model.BlockSize - 1) / model.BlockSize {
			all[g] = append(all[g], kvcache.BlockID(i*own+at%own))
		}
	}
	return all
}

// fill writes keys and values to every block of the cache, such as a model could have.
func fill(cfg *model.Config, pool *tensor.Pool, cache *model.Cache, blocks []int) {
	size := cfg.KVHeads * cfg.HeadDim
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]float32, 2*size+model.BlockSize)
	for i := range numbers {
		numbers[i] = float32(random.NormFloat64() * 0.3)
	}
	pool.Do(cfg.Layers, func(layer, _ int) {
		kv := cache.Layer(layer)
		for block := range blocks[cfg.Group(layer)] {
			for slot := range model.BlockSize {
				kv.Store(block, slot, numbers[slot:slot+size], numbers[slot+size:slot+2*size])
			}
		}
	})
}

// testToken is the token at a position of the texts that are measured.
func testToken(pos, vocab int) token.ID { return token.ID((pos*7919 + 13) % vocab) }

// prefill runs a prompt of the first sequence: chunks, and then the head for its last token.
func (s *sequences) prefill(tokens int) error {
	for past := 0; past < tokens; past += prefillChunk {
		rows := min(prefillChunk, tokens-past)
		s.batch.Tokens, s.batch.Positions, s.batch.Outputs = s.batch.Tokens[:0], s.batch.Positions[:0], s.batch.Outputs[:0]
		for i := range rows {
			s.batch.Tokens = append(s.batch.Tokens, testToken(past+i, s.model.Config().Vocab))
			s.batch.Positions = append(s.batch.Positions, int32(past+i))
		}
		if past+rows == tokens {
			s.batch.Outputs = append(s.batch.Outputs, int32(rows-1))
		}
		s.batch.Sequences[0].Past, s.batch.Sequences[0].Rows = past, rows
		if err := s.step(); err != nil {
			return err
		}
	}
	return nil
}

// decode gives every sequence some tokens more, one a step, after so many that are in the cache.
func (s *sequences) decode(context, steps int) error {
	for past := context; past < context+steps; past++ {
		s.batch.Tokens, s.batch.Positions, s.batch.Outputs = s.batch.Tokens[:0], s.batch.Positions[:0], s.batch.Outputs[:0]
		for i := range s.batch.Sequences {
			s.batch.Sequences[i].Past, s.batch.Sequences[i].Rows = past, 1
			s.batch.Tokens = append(s.batch.Tokens, s.next[i])
			s.batch.Positions = append(s.batch.Positions, int32(past))
			s.batch.Outputs = append(s.batch.Outputs, int32(i))
		}
		if err := s.step(); err != nil {
			return err
		}
	}
	return nil
}

// step runs the batch and chooses a token for each of its outputs.
func (s *sequences) step() error {
	hidden, err := s.model.Forward(&s.batch, s.cache)
	outputs := len(s.batch.Outputs)
	if err != nil || outputs == 0 {
		return err
	}
	s.model.Head(s.logits, hidden, outputs)
	s.pool.Do(outputs, s.choose)
	for worker, err := range s.err {
		if err != nil {
			s.err[worker] = nil
			return err
		}
	}
	return nil
}
