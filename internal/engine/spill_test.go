// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/kvcache/disk"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/token"
)

// slotBytes is what a fake model keeps of a position.
const slotBytes = 8

// withDisk makes an engine over f that keeps blocks in dir.
func withDisk(t *testing.T, f *fake, dir string, cfg Config) *Engine {
	t.Helper()
	var err error
	if cfg.Disk, err = disk.Open(dir, []byte("fake"), 1<<20, 1<<20); err != nil {
		t.Fatal(err)
	}
	e := prepare(t, f, cfg)
	e.spill.bytes = []int{slotBytes * model.BlockSize, slotBytes * model.BlockSize}
	e.spill.read = func(dst []byte, group int, b kvcache.BlockID) []byte {
		for _, s := range f.kept[group][int(b)*model.BlockSize:][:model.BlockSize] {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(uint32(s.id))<<32|uint64(uint32(s.pos)))
		}
		return dst
	}
	e.spill.fill = func(group int, b kvcache.BlockID, data []byte) {
		for i := range model.BlockSize {
			v := binary.LittleEndian.Uint64(data[slotBytes*i:])
			f.kept[group][int(b)*model.BlockSize+i] = slot{token.ID(v >> 32), int32(uint32(v))}
		}
	}
	run(t, e)
	return e
}

// waitForDisk waits until what a request with this prompt would read is written.
func waitForDisk(t *testing.T, e *Engine, prompt []token.ID) {
	t.Helper()
	hash, last := kvcache.Root(""), (len(prompt)-1)/model.BlockSize-1
	if e.cfg.longAfter > 0 && len(prompt) > e.cfg.longAfter {
		hash = kvcache.LongRoot("")
	}
	for i := range last + 1 {
		hash = kvcache.Chain(hash, prompt[i*model.BlockSize:(i+1)*model.BlockSize])
		for g := range e.groups {
			for g == 0 || i == last { // a window reads the last block only
				if e.cfg.Disk.Has(disk.Name{Hash: hash, Group: uint32(g)}) {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
	}
}

func TestBlocksOutliveARestartAndEviction(t *testing.T) {
	dir := t.TempDir()
	prompt := make([]token.ID, 200)
	for i := range prompt {
		prompt[i] = token.ID(i * i % fakeVocab)
	}
	req := plainRequest(prompt, 40)
	want, _ := reference(t, req, 0, 400)
	small := Config{MaxContext: 400, MaxBatchTokens: 64, Blocks: []int{15, 15}}
	for round, cached := range []int{0, 192} {
		e := withDisk(t, newFake(400), dir, small)
		got := submitAndRead(t.Context(), e, req)
		if got.err != nil || !slices.Equal(got.tokens[0], want) || got.prompt.CachedTokens != cached {
			t.Errorf("round %d: %v, %d tokens cached, want %d\ngot  %v\nwant %v", round, got.err, got.prompt.CachedTokens, cached, got.tokens, want)
		}
		waitForDisk(t, e, prompt)
		// Others take all blocks, and the first comes back.
		for i := range token.ID(3) {
			other := slices.Clone(prompt)
			other[0] = 30 + i
			if got := submitAndRead(t.Context(), e, plainRequest(other, 40)); got.err != nil {
				t.Error(got.err)
			}
		}
		if got := submitAndRead(t.Context(), e, req); !slices.Equal(got.tokens[0], want) || got.prompt.CachedTokens != 192 {
			t.Errorf("round %d, after eviction: %d tokens cached, %v, want 192, %v", round, got.prompt.CachedTokens, got.tokens, want)
		}
		salted := req
		salted.CacheSalt = fmt.Sprint("other ", round)
		if got := submitAndRead(t.Context(), e, salted); got.prompt.CachedTokens != 0 {
			t.Errorf("round %d: %d tokens cached under another salt", round, got.prompt.CachedTokens)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Blocks of a prompt that did not all find room evicted each other, the first ones first: nothing was left of what was read.
func TestThePromptsBeginningStaysWhenItsBlocksDoNotAllFindRoom(t *testing.T) {
	const size, all = model.BlockSize, 6
	store, err := disk.Open(t.TempDir(), []byte("fake"), 1<<20, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRequest(plainRequest(make([]token.ID, all*size+1), 1), &Config{MaxContext: 400, vocab: fakeVocab})
	if err != nil {
		t.Fatal(err)
	}
	hash := r.choices[0].root()
	for range all {
		hash = kvcache.Chain(hash, r.Prompt[:size])
		if err := store.Write(disk.Name{Hash: hash}, make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := kvcache.New(kvcache.Config{BlockSize: size, Groups: []kvcache.Group{{}}, Blocks: []int{5}})
	if err != nil {
		t.Fatal(err)
	}
	cached := func() int {
		table := pool.NewTable(kvcache.Root(""), 0)
		defer pool.Release(table)
		return pool.Match(table, r.Prompt) / size
	}
	other := pool.NewTable(kvcache.Root("other"), 0)
	pool.Grow(other, size)
	s := spill{store: store, fill: func(int, kvcache.BlockID, []byte) {}, bytes: []int{8}, waiting: []*request{r}}
	s.revive(pool, func(*request) {})
	pool.Grow(other, 2*size) // takes a block
	if got := cached(); got != 3 {
		t.Errorf("%d blocks of the beginning are left, want 3", got)
	}
}

func TestFlushWritesAllThatIsFree(t *testing.T) {
	dir := t.TempDir()
	e := withDisk(t, newFake(400), dir, Config{MaxContext: 400})
	var prompts [][]token.ID
	for i := range token.ID(5) {
		prompt := make([]token.ID, 200)
		prompt[0] = i
		prompts = append(prompts, prompt)
		submitAndRead(t.Context(), e, plainRequest(prompt, 20))
	}
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Flush(t.Context()); !errors.Is(err, inference.ErrClosed) {
		t.Errorf("flush of a closed engine: %v", err)
	}
	again := withDisk(t, newFake(400), dir, Config{MaxContext: 400})
	for i, prompt := range prompts {
		if got := submitAndRead(t.Context(), again, plainRequest(prompt, 20)); got.prompt.CachedTokens != 192 {
			t.Errorf("prompt %d: %d tokens cached after a restart, want 192", i, got.prompt.CachedTokens)
		}
	}
}

func TestDamagedBlocksAreNeverServed(t *testing.T) {
	dir := t.TempDir()
	prompt := make([]token.ID, 200)
	req := plainRequest(prompt, 20)
	want, _ := reference(t, req, 0, 400)
	e := withDisk(t, newFake(400), dir, Config{MaxContext: 400})
	submitAndRead(t.Context(), e, req)
	waitForDisk(t, e, prompt)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.kv"))
	if err != nil || len(files) < 6 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2]++
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Only the first is met by the request. All of them are written again nevertheless: the next start finds the whole prompt.
	for round, cached := range []int{0, 192} {
		again := withDisk(t, newFake(400), dir, Config{MaxContext: 400})
		if got := submitAndRead(t.Context(), again, req); got.err != nil || got.prompt.CachedTokens != cached || !slices.Equal(got.tokens[0], want) {
			t.Errorf("start %d: %v, %d tokens cached, want %d\ngot  %v\nwant %v", round+1, got.err, got.prompt.CachedTokens, cached, got.tokens, want)
		}
		if err := errors.Join(again.Flush(t.Context()), again.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestTheDiskChangesNoToken(t *testing.T) {
	const context = 160
	dir := t.TempDir()
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 5))
		e := withDisk(t, newFake(context), dir, Config{MaxContext: context, MaxRunning: 4, MaxBatchTokens: 40, Blocks: []int{12, 12}})
		for range 30 {
			compareWithReference(t, e, randomRequest(r, context), context)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
