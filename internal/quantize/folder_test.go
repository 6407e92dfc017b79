// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
	"github.com/sampo-ai/sampo/internal/weights/safetensors"
)

// open makes a Model of one of the tiny checkpoints of package model, which have no tokenizers.
func open(t *testing.T, dir string) (*Model, error) {
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
	for _, dir := range []string{
		"llama/testdata/llama3", "llama/testdata/odd", "llama/testdata/llama2", "llama/testdata/mistral", "qwen2/testdata/qwen2",
		"qwen2/testdata/qwen2-yarn", "qwen3/testdata/qwen3", "gemma/testdata/gemma", "gemma2/testdata/gemma2", "gemma3/testdata/gemma3",
	} {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			dir = filepath.Join("../model", dir)
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
			if a, b := slices.Sorted(slices.Values(got.Names())), slices.Sorted(slices.Values(want.Names())); !slices.Equal(a, b) {
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
		s, _ := got.String(key)
		if text, ok := want.String(key); ok && text == s || okA && okB && near(float32(a), float32(b)) {
			continue
		}
		value, _ := want.Value(key)
		other, _ := got.Value(key)
		t.Errorf("key %q: got %v, want %v", key, other, value)
	}
}

func TestWhatGGUFCannotTellIsRefusedByName(t *testing.T) {
	for dir, want := range map[string]string{
		"llama/testdata/mistral-window": `a GGUF file cannot tell of this model: model: metadata: llama.attention.sliding_window is not supported by this family`,
		"phi3/testdata/phi3":            `models of family "phi3" cannot be written as GGUF; those that can are gemma, gemma2, gemma3, llama, qwen2, qwen3`,
	} {
		if _, err := open(t, filepath.Join("../model", dir)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
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
