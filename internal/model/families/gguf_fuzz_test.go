// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// damagedKeys are the metadata keys that families read, without the architecture.
var damagedKeys = []string{
	"context_length", "embedding_length", "block_count", "feed_forward_length", "vocab_size", "attention.head_count",
	"attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon",
	"attention.layer_norm_epsilon", "attention.scale", "attention.sliding_window", "attention.sliding_window_pattern",
	"attention.temperature_scale", "attn_logit_softcapping", "final_logit_softcapping", "embedding_scale", "residual_scale", "logit_scale",
	"rope.dimension_count", "rope.freq_base", "rope.freq_base_swa", "rope.scale_linear", "rope.scaling.type", "rope.scaling.factor",
	"rope.scaling.attn_factor", "rope.scaling.original_context_length", "rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow",
	"rope.scaling.yarn_attn_factor", "rope.scaling.yarn_ext_factor", "rope.scaling.yarn_log_multiplier", "expert_count",
}

// damagedValue makes a value of a metadata key from a kind and a number.
func damagedValue(kind byte, n uint32) any {
	float := math.Float32frombits(n)
	values := []any{
		n, int32(n), float, uint64(n)<<32 | uint64(n), int64(int32(n)), float64(float), uint8(n), int8(n), uint16(n), n&1 == 1,
		[]uint32{n, n},
		[]int32{int32(n)},
		[]float32{float, 1},
		[]bool{n&1 == 1, n&2 == 2},
		[]string{"x"},
		[]uint32{},
		"none", "linear", "yarn", "longrope", "", float32(math.NaN()), float32(math.Inf(1)), float32(-1), uint32(0), uint32(1), uint32(math.MaxUint32),
		n % 64, n % 64, n % 64, // small numbers get furthest
	}
	return values[int(kind)%len(values)]
}

// A damagedFile is a checkpoint whose metadata get other values.
type damagedFile struct {
	data   []byte
	family *model.Family
	arch   string
}

// damagedFiles opens the checkpoints.
func damagedFiles(t testing.TB) (files []damagedFile) {
	t.Helper()
	for _, folder := range checkpoints {
		if _, ok := formats(folder)["gguf"]; !ok {
			continue
		}
		family, _, src := openGGUF(t, folder)
		arch, _ := src.(*gguf.File).Meta().String("general.architecture")
		data, err := os.ReadFile(filepath.Join("..", folder, "model.gguf"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, damagedFile{data, family, arch})
	}
	return files
}

// tryDamaged reads a configuration and, if it is accepted, loads the weights and runs them: an error may come of it, a
// panic may not.
func tryDamaged(t testing.TB, d damagedFile, pool *tensor.Pool, change func(meta *gguf.Metadata)) {
	t.Helper()
	f, err := gguf.OpenBytes("damaged.gguf", d.data)
	if err != nil {
		t.Fatal(err)
	}
	change(f.Meta())
	c, err := d.family.FromGGUF(f.Meta())
	if err != nil {
		return
	}
	use(t, &c)
	c.MaxContext = min(c.MaxContext, 1024)
	m, err := d.family.Load(c, f, pool, model.GGUF)
	if err != nil {
		return
	}
	prompt := readPrompt(t, checkpoints[0])[:5]
	for i := range prompt {
		prompt[i] %= 8
	}
	b := batchOf(len(prompt), newSequence(m.Config(), prompt, 0))
	logitsOf(t, m, b, newCache(m, 1, len(prompt)))
}

// Each key gets each kind of value, in one family of four: all of them take long.
func TestDamagedMetadataNeverPanic(t *testing.T) {
	pool := newPool(t, 1)
	numbers := []uint32{0, 1, 3, 1 << 16, math.MaxUint32, math.Float32bits(1e-30), math.Float32bits(-3)}
	kinds := []byte{0, 1, 2, 9, 13, 14, 15, 16, 17, 18, 19, 21, 22}
	for file, d := range damagedFiles(t) {
		for k, key := range damagedKeys {
			for _, kind := range kinds {
				if (file+k+int(kind))%4 != 0 {
					continue
				}
				for i, n := range numbers {
					if i > 0 && kind >= 14 {
						break // the number does not matter
					}
					tryDamaged(t, d, pool, func(meta *gguf.Metadata) { meta.Set(d.arch+"."+key, damagedValue(kind, n)) })
				}
			}
		}
	}
}

// FuzzFromGGUF gives several keys of a checkpoint values of any kind.
func FuzzFromGGUF(f *testing.F) {
	files := damagedFiles(f)
	pool := newPool(f, 1)
	for i := range files {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte{12, 27, 9, 0, 0, 0, 24, 18, 0, 0, 0, 0, 25, 2, 0, 0, 0, 0x40})
	}
	f.Fuzz(func(t *testing.T, which byte, ops []byte) {
		d := files[int(which)%len(files)]
		tryDamaged(t, d, pool, func(meta *gguf.Metadata) {
			for op := range slices.Chunk(ops, 6) {
				if len(op) == 6 {
					key := damagedKeys[int(op[0])%len(damagedKeys)]
					meta.Set(d.arch+"."+key, damagedValue(op[1], binary.LittleEndian.Uint32(op[2:])))
				}
			}
		})
	})
}
