// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
	"github.com/sampo-ai/sampo/internal/weights/packed"
	"github.com/sampo-ai/sampo/internal/weights/safetensors"
)

// open makes a Model of one of the tiny checkpoints of package model, which have no tokenizers.
func open(t *testing.T, dir string) (*Model, error) {
	t.Helper()
	return openChanged(t, dir, func(*ordjson.Object) {})
}

// openChanged is open with another config.json.
func openChanged(t *testing.T, dir string, change func(*ordjson.Object)) (*Model, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := ordjson.Parse(text, 100)
	if err != nil {
		t.Fatal(err)
	}
	config := value.(*ordjson.Object)
	change(config)
	list, _ := config.Array("architectures")
	family, ok := families.ByHF(list[0].(string))
	if !ok {
		t.Fatalf("%s: no family for %v", dir, list)
	}
	c, err := family.FromHF(config)
	if err != nil {
		t.Fatal(err)
	}
	src, err := safetensors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return fromHF(family, c, src)
}

// written gives the file of a model in memory.
func written(t *testing.T, m *Model, scheme string, threads int) []byte {
	t.Helper()
	s, ok := ParseScheme(scheme)
	if !ok {
		t.Fatalf("no scheme %q", scheme)
	}
	pool := tensor.NewPool(threads)
	defer pool.Close()
	var out bytes.Buffer
	if _, err := (Job{m, s, pool, func(int64, int64, string) {}}).Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The files model.gguf beside the checkpoints were made by llama.cpp's converter.
func TestFolderBecomesWhatTheReferenceConverterMakes(t *testing.T) {
	dirs, err := filepath.Glob("../model/*/testdata/*/model.gguf")
	if err != nil || len(dirs) < 30 {
		t.Fatalf("%d checkpoints, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		dir = filepath.Dir(dir)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			m, err := open(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := gguf.OpenBytes("got", written(t, m, "F32", 2))
			if err != nil {
				t.Fatal(err)
			}
			want, err := gguf.Open(filepath.Join(dir, "model.gguf"))
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			a, b := slices.Sorted(slices.Values(got.Names())), slices.Sorted(slices.Values(want.Names()))
			if arch, _ := want.Meta().String("general.architecture"); slices.Contains(untied, arch) && !slices.Contains(b, "output.weight") {
				b = append(b, "output.weight") // llama.cpp does not load what its converter makes of it
				slices.Sort(b)
			}
			if !slices.Equal(a, b) {
				t.Errorf("tensors: got %v, want %v", a, b)
			}
			for _, name := range want.Names() {
				a, _ := got.Tensor(name)
				b, _ := want.Tensor(name)
				if a.Type != b.Type || !slices.Equal(a.Shape, b.Shape) || !sameValues(a.Data, b.Data) {
					t.Errorf("tensor %q: got %v %v, want %v %v, or the values differ", name, a.Type, a.Shape, b.Type, b.Shape)
				}
			}
			checkKeys(t, got.Meta(), want.Meta())
		})
	}
}

// sameValues compares float32 values; those that were computed may differ in the last digit.
func sameValues(a, b []byte) bool {
	x, y := make([]float32, len(a)/4), make([]float32, len(b)/4)
	if len(a) != len(b) || quant.Dequantize(x, quant.F32, a) != nil || quant.Dequantize(y, quant.F32, b) != nil {
		return false
	}
	for i := range x {
		if !near(x[i], y[i]) {
			return false
		}
	}
	return true
}

// othersKeys are keys that the reference converter writes and that are left out: nobody reads them, or they say what
// config.json does not.
var othersKeys = []string{
	"chatglm.context_length",                             // 24, the hidden size
	"hunyuan-dense.context_length",                       // a constant of the converter
	"hunyuan-dense.rope.scaling.factor",                  // 1, of no scaling
	"hunyuan-dense.rope.scaling.original_context_length", // of no scaling
	"nemotron.attention.layer_norm_rms_epsilon",          // it has no RMSNorm
	"phi3.rope.scaling.original_context_length",          // of no scaling
}

// checkKeys compares the keys that tell of the architecture.
func checkKeys(t *testing.T, got, want *gguf.Metadata) {
	t.Helper()
	arch, _ := want.String("general.architecture")
	for _, key := range want.Keys() {
		if !strings.HasPrefix(key, arch+".") && key != "general.architecture" {
			continue
		}
		a, okA := got.Float(key)
		b, okB := want.Float(key)
		value, _ := want.Value(key)
		other, _ := got.Value(key)
		if reflect.DeepEqual(value, other) || okA && okB && near(float32(a), float32(b)) || slices.Contains(othersKeys, key) {
			continue
		}
		t.Errorf("key %q: got %v, want %v", key, other, value)
	}
}

func TestWindowsOfMistralSurvive(t *testing.T) {
	m, err := open(t, "../model/llama/testdata/mistral-window")
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.OpenBytes("got", written(t, m, "F32", 1))
	if err != nil {
		t.Fatal(err)
	}
	family, _ := families.ByGGUF("llama")
	c, err := family.FromGGUF(f.Meta())
	if err != nil || c.Window != 21 || !c.IsWindow(0) || !c.IsWindow(1) {
		t.Errorf("got %+v, %v, want a window of 21 in all layers", c, err)
	}
}

func TestWhatGGUFCannotTellIsRefusedByName(t *testing.T) {
	late := func(o *ordjson.Object) {
		o.Set("use_sliding_window", true)
		o.Set("sliding_window", ordjson.Number("21"))
		o.Set("max_window_layers", ordjson.Number("1"))
		o.Delete("layer_types")
	}
	want := `a GGUF file cannot tell of this model: model: metadata: qwen2.attention.sliding_window is not supported by this family`
	if _, err := openChanged(t, "../model/qwen2/testdata/qwen2", late); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if _, err := openChanged(t, "../model/qwen2/testdata/qwen2", func(o *ordjson.Object) { o.Delete("layer_types") }); err != nil {
		t.Errorf("without windows: %v", err)
	}
	exact := func(o *ordjson.Object) {
		parameters, _ := o.Object("rope_parameters")
		parameters.Set("truncate", false)
		parameters.Set("beta_fast", ordjson.Number("3"))
		parameters.Set("rope_theta", ordjson.Number("100"))
	}
	want = `a GGUF file of architecture "qwen2" cannot tell of this model's rotary positions`
	if _, err := openChanged(t, "../model/qwen2/testdata/qwen2-yarn", exact); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A prefixed source is one of a model with several parts: its text model has longer names, and there is another part.
type prefixed struct{ weights.Source }

func (p prefixed) Names() []string {
	names := []string{"vision_tower.encoder.weight"}
	for _, name := range p.Source.Names() {
		names = append(names, "language_model."+name)
	}
	return names
}

func (p prefixed) Tensor(name string) (weights.Tensor, bool) {
	rest, ok := strings.CutPrefix(name, "language_model.")
	if !ok {
		return weights.Tensor{}, false
	}
	return p.Source.Tensor(rest)
}

func TestTextModelOfSeveralPartsIsWritten(t *testing.T) {
	m, err := open(t, "../model/gemma3/testdata/gemma3")
	if err != nil {
		t.Fatal(err)
	}
	want := written(t, m, "F16", 1)
	var c model.Config
	family, _ := families.ByHF("Gemma3ForConditionalGeneration")
	text, err := os.ReadFile("../model/gemma3/testdata/gemma3/config.json")
	if err != nil {
		t.Fatal(err)
	}
	inner, err := ordjson.Parse(text, 100)
	if err != nil {
		t.Fatal(err)
	}
	outer := ordjson.NewObject()
	outer.Set("text_config", inner)
	if c, err = family.FromHF(outer); err != nil {
		t.Fatal(err)
	}
	several, err := fromHF(family, c, prefixed{m.source})
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, several, "F16", 1); !bytes.Equal(got, want) {
		t.Error("the file differs from that of the text model alone")
	}
}

// A checkpoint in MXFP4 becomes a GGUF file with the same 4-bit floats; rows of q and k change places only.
func TestPackedMatricesKeepTheirBits(t *testing.T) {
	const dir = "../weights/packed/testdata/mxfp4"
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := ordjson.Parse(text, 100)
	if err != nil {
		t.Fatal(err)
	}
	config := value.(*ordjson.Object)
	quantization, _ := config.Object("quantization_config")
	plain, err := safetensors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	src, err := packed.Open(plain, quantization)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	config.Delete("quantization_config")
	family, _ := families.ByHF("LlamaForCausalLM")
	c, err := family.FromHF(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := fromHF(family, c, src)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.OpenBytes("got", written(t, m, "MXFP4", 2))
	if err != nil {
		t.Fatal(err)
	}
	for hf, name := range map[string]string{"mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "self_attn.o_proj": "attn_output"} {
		want, _ := src.Tensor("model.layers.0." + hf + ".weight")
		got, _ := f.Tensor("blk.0." + name + ".weight")
		if got.Type != quant.MXFP4 || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s is %v, or has other bits", name, got.Type)
		}
	}
	q, _ := src.Tensor("model.layers.0.self_attn.q_proj.weight")
	got, _ := f.Tensor("blk.0.attn_q.weight")
	if len(got.Data) != len(q.Data) || !bytes.Equal(got.Data[:17], q.Data[:17]) || bytes.Equal(got.Data, q.Data) {
		t.Error("the rows of q are not those of GGUF")
	}
}

func TestResultDoesNotDependOnThreads(t *testing.T) {
	m, err := open(t, "../model/gemma3/testdata/gemma3")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, m, "Q8_0", 1), written(t, m, "Q8_0", 3)) {
		t.Error("one thread and three give different files")
	}
}

func TestWriteStopsWhenItsContextEnds(t *testing.T) {
	m, err := open(t, "../model/llama/testdata/llama2")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	pool := tensor.NewPool(1)
	defer pool.Close()
	s, _ := ParseScheme("F16")
	pieces := 0
	_, err = Job{m, s, pool, func(int64, int64, string) {
		if pieces++; pieces == 3 {
			cancel()
		}
	}}.Write(ctx, &bytes.Buffer{})
	if err == nil || ctx.Err() == nil || pieces != 3 {
		t.Errorf("got %v after %d pieces", err, pieces)
	}
}

func TestRopeDivisorsOfLlama3(t *testing.T) {
	r := model.Rope{Base: 10000, Width: 8, Llama3: &model.Llama3Rope{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalContext: 8192}}
	got := ropeDivisors(r)
	if len(got) != 4 || got[0] != 1 || got[3] < 1 || got[3] > 8 {
		t.Errorf("got %v", got)
	}
	if r.Llama3 == nil || ropeDivisors(model.Rope{Base: 10000, Width: 8}) != nil {
		t.Error("the argument changed, or there are divisors without scaling")
	}
}
