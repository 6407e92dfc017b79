// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// TestTheBuiltInModelHasTheSameBitsOnEveryTier compares with a file, so that CPUs of all kinds are compared with each other. It
// runs itself again for each lower tier of this CPU, unless SAMPO_CPU names one. After a change of the model or of the
// arithmetic, -update rewrites the file.
func TestTheBuiltInModelHasTheSameBitsOnEveryTier(t *testing.T) {
	asked := os.Getenv("SAMPO_CPU")
	if asked != "" && asked != kernel.Tier() {
		t.Fatalf("SAMPO_CPU is %s, but this CPU has %s", asked, kernel.DetectedTier())
	}
	testkit.Golden(t, "testdata/bits.txt", []byte(continuation(t)))
	if asked != "" {
		return
	}
	tiers := kernel.Tiers()
	for _, tier := range tiers[:slices.Index(tiers, kernel.DetectedTier())] {
		t.Run(tier, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheBuiltInModelHasTheSameBitsOnEveryTier$")
			cmd.Env = append(os.Environ(), "SAMPO_CPU="+tier)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// continuation has the built-in model answer a question with 24 tokens, always those of the highest logits. It returns them
// and a hash of all logits on the way.
func continuation(t *testing.T) string {
	t.Helper()
	pool := tensor.NewPool(2)
	t.Cleanup(pool.Close)
	b, err := bundle.OpenBytes(assets.MiniChatName, assets.MiniChat(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := load(b, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	next := b.Tokenizer.Encode("<|im_start|>user\nWhat is the capital of Finland?<|im_end|>\n<|im_start|>assistant\n", tokenizer.Options{ParseSpecial: true})
	length := len(next) + 24
	cfg := m.Config()
	tables := make([][]kvcache.BlockID, len(cfg.CacheGroups()))
	blocks := make([]int, len(tables))
	for g := range tables {
		for at := 0; at < length; at += model.BlockSize {
			tables[g] = append(tables[g], kvcache.BlockID(blocks[g]))
			blocks[g]++
		}
	}
	cache, logits := m.NewCache(blocks), make([]float32, cfg.Vocab)
	var answer []token.ID
	hash := sha256.New()
	for past := 0; past < length; {
		batch := &model.Batch{Tokens: next, Outputs: []int32{int32(len(next) - 1)}}
		for i := range next {
			batch.Positions = append(batch.Positions, int32(past+i))
		}
		batch.Sequences = []model.Sequence{{Rows: len(next), Past: past, Length: length, Tables: tables}}
		hidden, err := m.Forward(batch, cache)
		if err != nil {
			t.Fatal(err)
		}
		m.Head(logits, hidden, 1)
		for _, v := range logits {
			hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
		}
		past += len(next)
		next = []token.ID{token.ID(slices.Index(logits, slices.Max(logits)))}
		answer = append(answer, next...)
	}
	return fmt.Sprintf("%q\nlogits %x\n", b.Tokenizer.Decode(answer, false), hash.Sum(nil))
}
