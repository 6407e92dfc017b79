// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
)

// loadFile loads the GGUF file that SAMPO_BENCH_MODEL names, or skips.
func loadFile(t testing.TB, pool *tensor.Pool) model.Model {
	t.Helper()
	path := os.Getenv("SAMPO_BENCH_MODEL")
	if path == "" {
		t.Skip("SAMPO_BENCH_MODEL names no GGUF file")
	}
	family, cfg, src := openGGUF(t, path)
	m, err := family.Load(cfg, src, pool, model.GGUF)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run advances a sequence by a batch that has one output row, its last.
func run(t testing.TB, m model.Model, c *model.Cache, s *sequence, n int, logits []float32) {
	t.Helper()
	b := batchOf(n, s)
	b.Outputs = b.Outputs[len(b.Outputs)-1:]
	hidden, err := m.Forward(b, c)
	if err != nil {
		t.Fatal(err)
	}
	m.Head(logits, hidden, 1)
}

func BenchmarkPrefill(b *testing.B) {
	m := loadFile(b, newPool(b, 0))
	for _, n := range []int{32, 128, 512, 2048} {
		b.Run(fmt.Sprintf("tokens=%d", n), func(b *testing.B) {
			cfg := m.Config()
			tokens, logits := make([]token.ID, n), make([]float32, cfg.Vocab)
			for i := range tokens {
				tokens[i] = token.ID((i*7919 + 13) % cfg.Vocab)
			}
			cache := newCache(m, 1, n)
			s := newSequence(cfg, tokens, 0)
			run(b, m, cache, s, 512, logits)
			for b.Loop() {
				for s.past = 0; s.past < n; {
					run(b, m, cache, s, 512, logits)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	m := loadFile(b, newPool(b, 0))
	for _, context := range []int{0, 1024, 4096} {
		b.Run(fmt.Sprintf("context=%d", context), func(b *testing.B) {
			cfg := m.Config()
			tokens, logits := make([]token.ID, context+64), make([]float32, cfg.Vocab)
			cache := newCache(m, 1, len(tokens))
			s := newSequence(cfg, tokens, 0)
			for s.past < context {
				run(b, m, cache, s, min(512, context-s.past), logits)
			}
			for b.Loop() {
				if s.past == len(tokens) {
					s.past = context
				}
				run(b, m, cache, s, 1, logits)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}

// BenchmarkBatch decodes many sequences at once.
func BenchmarkBatch(b *testing.B) {
	m := loadFile(b, newPool(b, 0))
	for _, n := range []int{4, 16, 32} {
		b.Run(fmt.Sprintf("sequences=%d", n), func(b *testing.B) {
			cfg := m.Config()
			logits, cache := make([]float32, n*cfg.Vocab), newCache(m, n, 64)
			sequences := make([]*sequence, n)
			for i := range sequences {
				sequences[i] = newSequence(cfg, make([]token.ID, 64), i)
			}
			for b.Loop() {
				if sequences[0].past == 64 {
					for _, s := range sequences {
						s.past = 0
					}
				}
				hidden, err := m.Forward(batchOf(1, sequences...), cache)
				if err != nil {
					b.Fatal(err)
				}
				m.Head(logits, hidden, n)
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}

// TestGreedyContinuation prints the continuation of the prompt in SAMPO_BENCH_PROMPT, a JSON list of token IDs, and a
// checksum of the last logits, which must be the same on every tier and for any number of threads.
func TestGreedyContinuation(t *testing.T) {
	m := loadFile(t, newPool(t, 0))
	var tokens []token.ID
	if err := json.Unmarshal([]byte(os.Getenv("SAMPO_BENCH_PROMPT")), &tokens); err != nil {
		t.Skipf("SAMPO_BENCH_PROMPT: %v", err)
	}
	const more = 48
	cfg := m.Config()
	logits, cache := make([]float32, cfg.Vocab), newCache(m, 1, len(tokens)+more)
	n := len(tokens)
	s := newSequence(cfg, append(tokens, make([]token.ID, more)...), 0)
	for next := n; next < len(s.tokens); next++ {
		run(t, m, cache, s, next-s.past, logits)
		for id, v := range logits {
			if v > logits[s.tokens[next]] {
				s.tokens[next] = token.ID(id)
			}
		}
	}
	sum := crc32.NewIEEE()
	if err := binary.Write(sum, binary.LittleEndian, logits); err != nil {
		t.Fatal(err)
	}
	t.Logf("%v, last logits %08x", s.tokens[n:], sum.Sum32())
}
