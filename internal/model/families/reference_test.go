// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/safetensors"
)

// tolerance bounds the largest difference of a row over its largest value, for float32 weights.
const tolerance = 1e-4

// checkpoints are tiny models with random weights: see tools/tinymodels. Each has a config.json with model.safetensors, and
// a model.gguf unless GGUF cannot hold it.
var checkpoints = []string{
	"llama/testdata/llama3", "llama/testdata/odd", "qwen3/testdata/qwen3", "gemma3/testdata/gemma3",
	"llama/testdata/llama2", "llama/testdata/mistral", "llama/testdata/mistral-window", "mistral3/testdata/ministral3",
	"qwen2/testdata/qwen2", "qwen2/testdata/qwen2-yarn", "gemma2/testdata/gemma2", "smollm3/testdata/smollm3",
	"granite/testdata/granite", "olmo2/testdata/olmo2", "phi3/testdata/phi3", "phi3/testdata/phi4-mini", "glm4/testdata/glm4",
	"gemma/testdata/gemma", "olmo2/testdata/olmo3", "exaone4/testdata/exaone4", "ernie45/testdata/ernie4.5",
	"seedoss/testdata/seed-oss", "glm/testdata/glm", "arcee/testdata/arcee", "nemotron/testdata/nemotron",
	"starcoder2/testdata/starcoder2", "stablelm/testdata/stablelm", "stablelm/testdata/stablelm-parallel",
	"cohere/testdata/command-r", "cohere/testdata/cohere2",
	"hunyuan/testdata/hunyuan", "phi2/testdata/phi2",
	"llama/testdata/mistral-grouped", "qwen2/testdata/qwen2-grouped", "qwen3/testdata/qwen3-grouped", "gemma2/testdata/gemma2-grouped",
	"gemma3/testdata/gemma3-grouped", "smollm3/testdata/smollm3-grouped", "granite/testdata/granite-grouped",
	"olmo2/testdata/olmo2-grouped", "phi3/testdata/phi3-grouped",
}

// formats are the formats of a checkpoint, by name.
func formats(folder string) map[string]model.Naming {
	all := map[string]model.Naming{"safetensors": model.HuggingFace}
	if _, err := os.Stat(filepath.Join("..", folder, "model.gguf")); err == nil {
		all["gguf"] = model.GGUF
	}
	return all
}

// anyFormat is GGUF where there is a choice.
func anyFormat(folder string) model.Naming {
	if naming, ok := formats(folder)["gguf"]; ok {
		return naming
	}
	return model.HuggingFace
}

// load opens a checkpoint in one of its two formats.
func load(t testing.TB, folder string, naming model.Naming, pool *tensor.Pool, cache tensor.KVType) model.Model {
	t.Helper()
	open := openGGUF
	if naming == model.HuggingFace {
		open = openHF
	}
	family, cfg, src := open(t, folder)
	cfg.CacheType = cache
	m, err := family.Load(cfg, src, pool, naming)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openGGUF(t testing.TB, folder string) (*model.Family, model.Config, weights.Source) {
	t.Helper()
	return tiny.OpenGGUF(t, filepath.Join("..", folder, "model.gguf"))
}

func openHF(t testing.TB, folder string) (*model.Family, model.Config, weights.Source) {
	t.Helper()
	src, err := safetensors.Open(filepath.Join("..", folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	data, err := os.ReadFile(filepath.Join("..", folder, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := ordjson.Parse(data, 10)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := config.(*ordjson.Object).Array("architectures")
	family, ok := families.ByHF(names[0].(string))
	if !ok {
		t.Fatalf("no family for %q", names)
	}
	cfg, err := family.FromHF(config.(*ordjson.Object))
	if err != nil {
		t.Fatal(err)
	}
	return family, cfg, src
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
		b.Sequences = append(b.Sequences, model.Sequence{Rows: rows, Past: s.past, Length: len(s.tokens), Tables: s.tables})
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
		for format, naming := range formats(folder) {
			t.Run(filepath.Base(folder)+"/"+format, func(t *testing.T) {
				m := load(t, folder, naming, pool, tensor.KVF32)
				prompt := readPrompt(t, folder)
				b := batchOf(len(prompt), newSequence(m.Config(), prompt, 0))
				got := logitsOf(t, m, b, newCache(m, 1, len(prompt)))
				checkClose(t, got, readFloats(t, filepath.Join("..", folder, "logits.f32")), m.Config().Vocab)
			})
		}
	}
}

// without says what of a family's arithmetic a change of the configuration takes away.
var without = []struct {
	name, folder string
	change       func(c *model.Config)
}{
	{"Llama 3 rope scaling", "llama/testdata/llama3", func(c *model.Config) { c.Rope.Llama3 = nil }},
	{"Mistral's window", "llama/testdata/mistral-window", func(c *model.Config) { c.Window = 0 }},
	{"Ministral's query scale", "mistral3/testdata/ministral3", func(c *model.Config) { c.QueryScale = nil }},
	{"Ministral's YaRN", "mistral3/testdata/ministral3", func(c *model.Config) { c.Rope.Yarn = nil }},
	{"YaRN's magnitude", "qwen2/testdata/qwen2-yarn", func(c *model.Config) { c.Rope.Magnitude = 1 }},
	{"Gemma 2's attention cap", "gemma2/testdata/gemma2", func(c *model.Config) { c.AttentionCap = 0 }},
	{"Gemma 2's logit cap", "gemma2/testdata/gemma2", func(c *model.Config) { c.LogitCap = 0 }},
	{"Gemma 2's query scale", "gemma2/testdata/gemma2-grouped", func(c *model.Config) { c.AttentionScale = float32(1 / math.Sqrt(float64(c.HeadDim))) }},
	{"Gemma 2's window", "gemma2/testdata/gemma2", func(c *model.Config) { c.Window = 0 }},
	{"SmolLM3's layers without positions", "smollm3/testdata/smollm3", func(c *model.Config) { c.NoRopeLayers = nil }},
	{"OLMo 3's window", "olmo2/testdata/olmo3", func(c *model.Config) { c.Window = 0 }},
	{"OLMo 3's YaRN", "olmo2/testdata/olmo3", func(c *model.Config) { c.Rope = c.WindowRope }},
	{"EXAONE's layers without positions", "exaone4/testdata/exaone4", func(c *model.Config) { c.NoRopeLayers = nil }},
	{"GLM's partial rotation", "glm/testdata/glm", func(c *model.Config) { c.Rope.Width = c.HeadDim }},
	{"ERNIE's pairs", "ernie45/testdata/ernie4.5", func(c *model.Config) { c.Rope.Interleaved = false }},
	{"Nemotron's mean", "nemotron/testdata/nemotron", func(c *model.Config) { c.LayerNorm = false }},
	{"Nemotron's function", "nemotron/testdata/nemotron", func(c *model.Config) { c.Activation = tensor.SiLU }},
	{"Cohere's logit scale", "cohere/testdata/command-r", func(c *model.Config) { c.LogitScale = 1 }},
	{"Cohere's layers without positions", "cohere/testdata/cohere2", func(c *model.Config) { c.NoRopeLayers = nil }},
	{"StableLM's partial rotation", "stablelm/testdata/stablelm", func(c *model.Config) { c.Rope.Width = c.HeadDim }},
	{"Hunyuan's alpha", "hunyuan/testdata/hunyuan", func(c *model.Config) { c.Rope.Base = 10000 }},
	{"Granite's embedding multiplier", "granite/testdata/granite", func(c *model.Config) { c.EmbeddingScale = 1 }},
	{"Granite's residual multiplier", "granite/testdata/granite", func(c *model.Config) { c.ResidualScale = 1 }},
	{"Granite's logit divisor", "granite/testdata/granite", func(c *model.Config) { c.LogitScale = 1 }},
	{"Phi-3's window", "phi3/testdata/phi3", func(c *model.Config) { c.Window = 0 }},
	{"Phi-4-mini's long list", "phi3/testdata/phi4-mini", func(c *model.Config) { c.Rope.Long.Long = c.Rope.Long.Short }},
	{"Phi-4-mini's magnitude", "phi3/testdata/phi4-mini", func(c *model.Config) { c.Rope.Magnitude = 1 }},
}

// TestReferenceSeesEachFeature shows that the references above would notice if a feature were not computed.
func TestReferenceSeesEachFeature(t *testing.T) {
	pool := newPool(t, 2)
	for _, tt := range without {
		t.Run(tt.name, func(t *testing.T) {
			family, cfg, src := openHF(t, tt.folder)
			tt.change(&cfg)
			cfg.CacheType = tensor.KVF32
			m, err := family.Load(cfg, src, pool, model.HuggingFace)
			if err != nil {
				t.Fatal(err)
			}
			prompt := readPrompt(t, tt.folder)
			got := logitsOf(t, m, batchOf(len(prompt), newSequence(cfg, prompt, 0)), newCache(m, 1, len(prompt)))
			if e := relativeError(got, readFloats(t, filepath.Join("..", tt.folder, "logits.f32")), cfg.Vocab); e < 10*tolerance {
				t.Errorf("largest relative error %.2g without it, want more than %g", e, 10*tolerance)
			}
		})
	}
}

func checkClose(t *testing.T, got, want []float32, width int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d values, want %d", len(got), len(want))
	}
	e := relativeError(got, want, width)
	t.Logf("%s: largest relative error %.1e", t.Name(), e)
	if !(e < tolerance) {
		t.Errorf("largest relative error %.3g, want below %g", e, tolerance)
	}
}

// fused is a source whose layers have one matrix for q, k and v.
type fused struct{ weights.Source }

func (f fused) Names() []string {
	var names []string
	for _, name := range f.Source.Names() {
		stem, isQuery := strings.CutSuffix(name, ".attn_q.weight")
		switch {
		case isQuery:
			names = append(names, stem+".attn_qkv.weight")
		case !strings.HasSuffix(name, ".attn_k.weight") && !strings.HasSuffix(name, ".attn_v.weight"):
			names = append(names, name)
		}
	}
	return names
}

func (f fused) Tensor(name string) (weights.Tensor, bool) {
	stem, ok := strings.CutSuffix(name, ".attn_qkv.weight")
	if !ok {
		return f.Source.Tensor(name)
	}
	var all weights.Tensor
	for _, part := range []string{"q", "k", "v"} {
		t, ok := f.Source.Tensor(stem + ".attn_" + part + ".weight")
		if !ok {
			return all, false
		}
		all.Data = append(all.Data, t.Data...)
		all.Name, all.Type, all.Shape = name, t.Type, []int{t.Shape[0] + sumRows(all), t.Shape[1]}
	}
	return all, true
}

// sumRows returns the rows so far.
func sumRows(t weights.Tensor) int {
	if t.Shape == nil {
		return 0
	}
	return t.Shape[0]
}

func TestFusedMatricesGiveTheSameBits(t *testing.T) {
	pool := newPool(t, 2)
	for _, folder := range []string{"llama/testdata/odd", "qwen2/testdata/qwen2", "gemma3/testdata/gemma3"} {
		prompt := readPrompt(t, folder)
		family, cfg, src := openGGUF(t, folder)
		var want []float32
		for _, s := range []weights.Source{src, fused{src}} {
			m, err := family.Load(cfg, s, pool, model.GGUF)
			if err != nil {
				t.Fatal(err)
			}
			got := logitsOf(t, m, batchOf(len(prompt), newSequence(m.Config(), prompt, 0)), newCache(m, 1, len(prompt)))
			if want == nil {
				want = got
			}
			checkSame(t, folder, got, want)
		}
	}
}

func TestResidualStreamMatchesReferenceAfterEachLayer(t *testing.T) {
	folder := checkpoints[0]
	m := load(t, folder, model.HuggingFace, newPool(t, 2), tensor.KVF32)
	prompt := readPrompt(t, folder)
	b := batchOf(len(prompt), newSequence(m.Config(), prompt, 0))
	var layers []float32
	b.Tap = func(_ int, hidden []float32) { layers = append(layers, hidden...) }
	logitsOf(t, m, b, newCache(m, 1, len(prompt)))
	checkClose(t, layers, readFloats(t, filepath.Join("..", folder, "layers.f32")), m.Config().Hidden)
}

func TestHalfPrecisionCacheStaysClose(t *testing.T) {
	const tolHalf = 1e-2 // measured 5.8e-3
	pool := newPool(t, 2)
	for _, folder := range checkpoints {
		m := load(t, folder, anyFormat(folder), pool, tensor.KVF16)
		prompt := readPrompt(t, folder)
		got := logitsOf(t, m, batchOf(len(prompt), newSequence(m.Config(), prompt, 0)), newCache(m, 1, len(prompt)))
		if e := relativeError(got, readFloats(t, filepath.Join("..", folder, "logits.f32")), m.Config().Vocab); !(e < tolHalf) {
			t.Errorf("%s: largest relative error %.3g, want below %g", folder, e, tolHalf)
		}
	}
}

// inChunks returns the logits of all rows of the first sequence, n tokens of each sequence a batch.
func inChunks(t *testing.T, m model.Model, n int, sequences ...*sequence) []float32 {
	t.Helper()
	longest := 0
	for _, s := range sequences {
		longest = max(longest, len(s.tokens))
	}
	cache := newCache(m, len(sequences), longest)
	var all []float32
	for first := sequences[0]; first.past < len(first.tokens); {
		rows := min(n, len(first.tokens)-first.past)
		all = append(all, logitsOf(t, m, batchOf(n, sequences...), cache)[:rows*m.Config().Vocab]...)
	}
	return all
}

func TestBitsDoNotDependOnChunksCompanyOrThreads(t *testing.T) {
	one, two := newPool(t, 1), newPool(t, 2)
	for _, folder := range checkpoints {
		prompt := readPrompt(t, folder)
		m := load(t, folder, anyFormat(folder), one, tensor.KVF16)
		want := inChunks(t, m, len(prompt), newSequence(m.Config(), prompt, 0))
		other := make([]token.ID, len(prompt))
		for i := range other {
			other[i] = prompt[len(prompt)-1-i]
		}
		for pool, chunks := range map[*tensor.Pool][]int{one: {1, 40}, two: {3, 7, len(prompt)}} {
			m := load(t, folder, anyFormat(folder), pool, tensor.KVF16)
			cfg := m.Config()
			for _, n := range chunks {
				got := inChunks(t, m, n, newSequence(cfg, prompt, 0))
				checkSame(t, fmt.Sprintf("%s, %d threads, chunks of %d", folder, pool.Threads(), n), got, want)
				got = inChunks(t, m, n, newSequence(cfg, prompt, 0), newSequence(cfg, other, 1), newSequence(cfg, prompt, 2))
				checkSame(t, fmt.Sprintf("%s, %d threads, chunks of %d in company", folder, pool.Threads(), n), got, want)
			}
		}
	}
}

func checkSame(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: logit %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestOnlyOutputRowsGiveTheSameBits(t *testing.T) {
	pool := newPool(t, 2)
	for _, folder := range checkpoints {
		m := load(t, folder, anyFormat(folder), pool, tensor.KVF16)
		cfg, prompt := m.Config(), readPrompt(t, folder)
		all := logitsOf(t, m, batchOf(len(prompt), newSequence(cfg, prompt, 0)), newCache(m, 1, len(prompt)))
		for _, outputs := range [][]int32{{}, {int32(len(prompt) - 1)}, {0, 5, 6, 70}} {
			b := batchOf(len(prompt), newSequence(cfg, prompt, 0))
			b.Outputs = outputs
			got := logitsOf(t, m, b, newCache(m, 1, len(prompt)))
			for i, row := range outputs {
				checkSame(t, fmt.Sprintf("%s, outputs %v, row %d", folder, outputs, row), got[i*cfg.Vocab:(i+1)*cfg.Vocab], all[int(row)*cfg.Vocab:][:cfg.Vocab])
			}
		}
	}
}

func TestForwardAllocatesNothingInSteadyState(t *testing.T) {
	for _, folder := range checkpoints {
		m := load(t, folder, anyFormat(folder), newPool(t, 2), tensor.KVF16)
		cfg, prompt := m.Config(), readPrompt(t, folder)
		prefill := batchOf(len(prompt), newSequence(cfg, prompt, 0), newSequence(cfg, prompt, 1))
		decode := batchOf(1, newSequence(cfg, prompt[:1], 0), newSequence(cfg, prompt[:1], 1))
		decode.Outputs = []int32{0, 1}
		cache := newCache(m, 2, len(prompt))
		logits := make([]float32, len(prefill.Outputs)*cfg.Vocab)
		allocs := testing.AllocsPerRun(5, func() {
			for _, b := range []*model.Batch{prefill, decode} {
				hidden, err := m.Forward(b, cache)
				if err != nil {
					t.Fatal(err)
				}
				m.Head(logits, hidden, len(b.Outputs))
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations a step, want 0", folder, allocs)
		}
	}
}
