// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// tolerance bounds the largest difference of a row over its largest value, for float32 weights.
const tolerance = 1e-4

var checkpoints = []string{"llama/testdata/llama3", "llama/testdata/odd", "qwen3/testdata/qwen3", "gemma3/testdata/gemma3"}

// load opens a checkpoint's GGUF file.
func loadGGUF(t testing.TB, folder string, pool *tensor.Pool) model.Model {
	t.Helper()
	f, err := gguf.Open(filepath.Join("..", folder, "model.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	arch, _ := f.Meta().String("general.architecture")
	family, ok := families.ByGGUF(arch)
	if !ok {
		t.Fatalf("no family for %q", arch)
	}
	cfg, err := family.FromGGUF(f.Meta())
	if err != nil {
		t.Fatal(err)
	}
	cfg.CacheType = tensor.KVF32
	m, err := family.Load(cfg, f, pool, model.GGUF)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newPool(t testing.TB, threads int) *tensor.Pool {
	p := tensor.NewPool(threads)
	t.Cleanup(p.Close)
	return p
}

func readFloats(t testing.TB, path string) []float32 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float32, len(data)/4)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func readPrompt(t testing.TB, folder string) []token.ID {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", folder, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []token.ID
	if err := json.Unmarshal(data, &ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

// relativeError returns the largest difference over the largest wanted value of any row.
func relativeError(got, want []float32, width int) float64 {
	worst := 0.0
	for at := 0; at < len(want); at += width {
		diff, size := 0.0, 0.0
		for i := at; i < at+width; i++ {
			diff = max(diff, math.Abs(float64(got[i]-want[i])))
			size = max(size, math.Abs(float64(want[i])))
			if got[i] != got[i] {
				return math.NaN()
			}
		}
		worst = max(worst, diff/size)
	}
	return worst
}

// A sequence is a request in these tests: its tokens, how many were processed, its block tables.
type sequence struct {
	tokens []token.ID
	past   int
	tables [][]kvcache.BlockID
}

// newSequence gives a sequence blocks that no other has, in an order of their own for each group.
func newSequence(cfg model.Config, tokens []token.ID, number int) *sequence {
	s := &sequence{tokens: tokens}
	per := (len(tokens) + model.BlockSize - 1) / model.BlockSize
	for g := range cfg.CacheGroups() {
		table := make([]kvcache.BlockID, per)
		for i := range table {
			table[i] = kvcache.BlockID((number+1)*per - 1 - i)
			if g == 1 {
				table[i] = kvcache.BlockID(number*per + i)
			}
		}
		s.tables = append(s.tables, table)
	}
	return s
}

func newCache(m model.Model, sequences, tokens int) *model.Cache {
	cfg := m.Config()
	blocks := make([]int, len(cfg.CacheGroups()))
	for g := range blocks {
		blocks[g] = sequences*(tokens+model.BlockSize-1)/model.BlockSize + sequences
	}
	return m.NewCache(blocks)
}

// batchOf takes the next n tokens of each sequence, all rows being outputs.
func batchOf(n int, sequences ...*sequence) *model.Batch {
	b := &model.Batch{}
	for _, s := range sequences {
		rows := min(n, len(s.tokens)-s.past)
		if rows == 0 {
			continue
		}
		for i := range rows {
			b.Outputs = append(b.Outputs, int32(len(b.Tokens)))
			b.Tokens = append(b.Tokens, s.tokens[s.past+i])
			b.Positions = append(b.Positions, int32(s.past+i))
		}
		b.Sequences = append(b.Sequences, model.Sequence{Rows: rows, Past: s.past, Tables: s.tables})
		s.past += rows
	}
	return b
}

// logitsOf runs a batch and returns the logits of its outputs.
func logitsOf(t testing.TB, m model.Model, b *model.Batch, c *model.Cache) []float32 {
	t.Helper()
	hidden, err := m.Forward(b, c)
	if err != nil {
		t.Fatal(err)
	}
	logits := make([]float32, len(b.Outputs)*m.Config().Vocab)
	m.Head(logits, hidden, len(b.Outputs))
	return logits
}

func TestLogitsMatchReference(t *testing.T) {
	pool := newPool(t, 2)
	for _, folder := range checkpoints {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			m := loadGGUF(t, folder, pool)
			prompt := readPrompt(t, folder)
			b := batchOf(len(prompt), newSequence(m.Config(), prompt, 0))
			got := logitsOf(t, m, b, newCache(m, 1, len(prompt)))
			want := readFloats(t, filepath.Join("..", folder, "logits.f32"))
			if len(got) != len(want) {
				t.Fatalf("got %d logits, want %d", len(got), len(want))
			}
			e := relativeError(got, want, m.Config().Vocab)
			t.Logf("largest relative error %.2g", e)
			if !(e < tolerance) {
				t.Errorf("largest relative error %.3g, want below %g", e, tolerance)
			}
		})
	}
}
