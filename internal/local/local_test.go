// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// openMini opens the built-in model.
func openMini(t *testing.T, pool *tensor.Pool, opt Options) (*Model, error) {
	t.Helper()
	b, err := bundle.OpenBytes(assets.MiniChatName, assets.MiniChat(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Open(b, pool, opt)
}

func TestAModelThatDoesNotFitIsRefusedWithTheNumbers(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	for _, cache := range []int64{0, 64 << 20} { // --max-memory bounds the cache, and makes no room for weights
		_, err := openMini(t, pool, Options{Reserved: 1 << 60, CacheBytes: cache})
		var full *MemoryError
		if !errors.As(err, &full) || full.Need != int64(len(assets.MiniChat())) || full.Free != 0 {
			t.Fatalf("Open = %v, want a MemoryError that needs %d bytes of 0", err, len(assets.MiniChat()))
		}
	}
	if _, err := openMini(t, pool, Options{CacheBytes: 1}); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("with a cache of one byte: %v, want an error that says it is too small", err)
	}
}

// A model whose first token is none was served without one in silence.
func TestTokensOutsideTheVocabularyAreLogged(t *testing.T) {
	f, err := gguf.OpenBytes("mini", assets.MiniChat())
	if err != nil {
		t.Fatal(err)
	}
	f.Meta().Set("tokenizer.ggml.bos_token_id", uint32(1<<20))
	var tensors []weights.Tensor
	for _, name := range f.Names() {
		tensor, _ := f.Tensor(name)
		tensors = append(tensors, tensor)
	}
	var file, log bytes.Buffer
	if err := gguf.Write(&file, f.Meta(), tensors); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.OpenBytes("mini", file.Bytes(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := tensor.NewPool(1)
	defer pool.Close()
	m, err := Open(b, pool, Options{CacheBytes: 4 << 20, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if want := "tokenizer.ggml.bos_token_id is 1048576, outside the vocabulary"; !strings.Contains(log.String(), want) {
		t.Errorf("the log is %q, want %q in it", &log, want)
	}
}

// It was told after the weights were packed, which takes minutes for a large model.
func TestABadFolderForTheCacheIsToldBeforeTheWeightsAreLoaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var none *tensor.Pool // loading would need one
	if _, err := openMini(t, none, Options{DiskCache: file, CacheBytes: 4 << 20}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v, want an error that names %s", err, file)
	}
}

// It kept nothing, and nothing said so.
func TestADiskCacheThatHoldsNoBlockIsRefused(t *testing.T) {
	var none *tensor.Pool
	_, err := openMini(t, none, Options{DiskCache: t.TempDir(), DiskBytes: 1000, CacheBytes: 4 << 20})
	if err == nil || !strings.Contains(err.Error(), "1000 bytes hold nothing") {
		t.Errorf("got %v, want an error that says how much a block takes", err)
	}
}

func TestTheContextShrinksToWhatTheCacheHolds(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	m, err := openMini(t, pool, Options{CacheBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.MaxContext() >= 8192 || m.CacheBytes > 4<<20 {
		t.Errorf("context %d with a cache of %d bytes, want less than 8192 and at most %d", m.MaxContext(), m.CacheBytes, 4<<20)
	}
}

// With more sequences than 512 at once, steps have more tokens, and windows need more blocks: the engine refused what was planned.
func TestAPlanForManySequencesIsTaken(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	m, err := tiny.Gemma3(pool, quant.F32, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := &bundle.Bundle{Name: "windows", Config: m.Config()}
	b.Config.MaxContext = 8192
	for bytes := int64(8 << 10); bytes < 2<<20; bytes += 8 << 10 {
		cfg, _, err := plan(b, Options{CacheBytes: bytes, MaxRunning: 1000})
		if err != nil {
			continue // too little for any
		}
		e, err := engine.New(m, cfg)
		if err != nil {
			t.Fatalf("%d bytes: %v", bytes, err)
		}
		_ = e.Close()
	}
}

func TestEveryCacheTypeAnswers(t *testing.T) {
	pool := tensor.NewPool(0)
	defer pool.Close()
	for _, kind := range []tensor.KVType{tensor.KVF16, tensor.KVBF16, tensor.KVQ8} {
		m, err := openMini(t, pool, Options{CacheBytes: 32 << 20, CacheType: kind})
		if err != nil {
			t.Fatal(err)
		}
		zero := 0.0
		r := chat.Request{Params: chat.Params{Temperature: &zero}}
		r.AddGenerationPrompt = true
		r.Messages = []chat.Message{{Role: "user", Content: []chat.Part{{Text: "What is the capital of Finland?"}}}}
		s, err := m.Chat(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := answer.Collect(s)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(a.Choices[0].Text, "Helsinki") {
			t.Errorf("cache type %v: %q, want Helsinki in it", kind, a.Choices[0].Text)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
