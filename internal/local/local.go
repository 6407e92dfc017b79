// SPDX-License-Identifier: Apache-2.0

// Package local opens a model on this machine: the files of its bundle, a native engine with a cache that fits the
// memory, and the line from chat requests to answers over both.
//
// The command line and the Go library open models through it, so that both behave the same.
//
// Always true: a model that is open has a cache that holds one sequence of its MaxContext; what does not fit is refused
// with the numbers before anything large is allocated.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/prompt"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// cacheShare is the part of the memory left that a cache may take when nothing else was asked for.
const cacheShare = 0.4

// Options say how a model is run. The zero value suits a machine that does little else.
type Options struct {
	Reserved        int64          // memory that caches of other models may still come to take
	CacheBytes      int64          // memory for the cache, that of the draft model included; 0: 40 % of the memory left
	Context         int            // longest prompt plus output; 0: what the model was trained for, if its cache fits
	MaxRunning      int            // sequences that run at once; 0: the engine's default
	CacheType       tensor.KVType  // of keys and values; the zero value is F16
	Draft           *bundle.Bundle // a small model with the same vocabulary that guesses tokens; Open closes it too
	DraftTokens     int            // most tokens guessed after each; 0: the engine's default, negative: no speculation
	DiskCache       string         // folder for cache blocks that nobody uses; "": none
	DiskBytes       int64          // most bytes in it for one model; 0: DefaultDiskBytes
	NoPrefixCache   bool
	QueueTimeout    time.Duration // a request that waited longer for its first step ends with an error; 0: no limit
	NeutralDefaults bool          // ignore the sampling parameters that the model's makers recommend
	Now             func() time.Time
	Log             *slog.Logger
}

// A MemoryError says that a model's weights, with those of its draft model, do not fit into the free memory.
type MemoryError struct {
	Name       string
	Need, Free int64 // bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("local: model %s does not fit: its weights take %d bytes, and %d bytes of memory are free", e.Name, e.Need, e.Free)
}

// A Model is an open model.
type Model struct {
	*answer.Model
	Facts      bundle.Facts
	CacheBytes int64 // memory that the cache may come to take, that of the draft model included

	weightBytes int64 // of the draft model too
	engine      *engine.Engine
	free        func() error // lets go of the weights, once
}

// HeldBytes is the memory that weights and cache may come to take.
func (m *Model) HeldBytes() int64 { return m.weightBytes + m.CacheBytes }

// Open runs the model of b on pool. It closes b, as the weights are copied: from then on the files may be moved and deleted.
func Open(b *bundle.Bundle, pool *tensor.Pool, opt Options) (*Model, error) {
	m, err := orNoMemory(b.Name, func() (*Model, error) { return open(b, pool, opt) })
	err = errors.Join(err, b.Close())
	if opt.Draft != nil {
		err = errors.Join(err, opt.Draft.Close())
	}
	if err != nil && m != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, err
}

// orNoMemory opens the model of a name, and returns an error if the system gives no memory for its weights or its cache.
func orNoMemory(name string, open func() (*Model, error)) (m *Model, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *tensor.NoMemoryError:
			m, err = nil, fmt.Errorf("local: model %s: the system gives it no %d bytes of memory (%w); see ulimit -v; --max-memory makes the cache smaller",
				name, p.Bytes, p.Err)
		default:
			panic(p)
		}
	}()
	return open()
}

func open(b *bundle.Bundle, pool *tensor.Pool, opt Options) (*Model, error) {
	template, err := compile(b, opt)
	if err != nil {
		return nil, err
	}
	b.Config.CacheType = opt.CacheType
	cfg, bytes, err := plan(b, opt)
	if err != nil {
		return nil, err
	}
	if err := sameVocabulary(b, opt.Draft); err != nil { // before the weights, which may take minutes
		return nil, err
	}
	if cfg.Disk, err = openDisk(b, opt); err != nil {
		return nil, err
	}
	weights, err := load(b, pool)
	if err != nil {
		return nil, err
	}
	draft, err := loadDraft(opt.Draft, pool)
	if err != nil {
		return nil, errors.Join(err, weights.Close())
	}
	cfg.Threads, cfg.Tier, cfg.Logger, cfg.Draft = pool, "cpu-"+kernel.Tier(), opt.Log, draft
	e, err := engine.New(weights, cfg)
	if err != nil {
		return nil, errors.Join(err, weights.Close(), closeDraft(draft))
	}
	defaults := b.Defaults
	if opt.NeutralDefaults {
		defaults = bundle.GenerationDefaults{EOS: b.Defaults.EOS}
	}
	line := answer.Config{
		Name: b.Name, Engine: e, Tokenizer: b.Tokenizer, Source: b.TemplateSource,
		Format: parser.DetectFormat(b.TemplateSource + b.NamedTemplates[bundle.ToolUse]), Defaults: defaults,
	}
	if template != nil {
		line.Template = template
	}
	if opt.Log != nil {
		for _, note := range b.Facts().Notes {
			opt.Log.Warn("a part of a model's files is passed over", "model", b.Name, "note", note)
		}
	}
	m := &Model{Model: answer.New(line), Facts: b.Facts(), CacheBytes: bytes + e.DraftCacheBytes(), weightBytes: weightBytes(b, opt), engine: e}
	m.free = sync.OnceValue(func() error { return errors.Join(weights.Close(), closeDraft(draft)) })
	return m, nil
}

// load packs the weights, while no engine that shares the pool runs a step.
func load(b *bundle.Bundle, pool *tensor.Pool) (model.Model, error) {
	pool.Lock()
	defer pool.Unlock()
	return b.LoadModel(pool)
}

// compile parses the chat template; nil if the model has none.
func compile(b *bundle.Bundle, opt Options) (*prompt.Template, error) {
	if b.TemplateSource == "" {
		return nil, nil
	}
	clock := opt.Now
	if clock == nil {
		clock = time.Now
	}
	return prompt.New(b.TemplateSource, prompt.Options{
		Name: b.Name, Tokens: prompt.SpecialTokens(b.Special), ToolUse: b.NamedTemplates[bundle.ToolUse], Clock: clock,
	})
}

// weightBytes returns what the weights take, those of a draft model too.
func weightBytes(b *bundle.Bundle, opt Options) int64 {
	if opt.Draft == nil {
		return b.FileBytes
	}
	return b.FileBytes + opt.Draft.FileBytes
}

// plan sizes the cache.
func plan(b *bundle.Bundle, opt Options) (engine.Config, int64, error) {
	trained := b.Config.MaxContext
	context := opt.Context
	switch {
	case context == 0:
		context = trained
	case context > trained:
		return engine.Config{}, 0, fmt.Errorf("local: %s: a context of %d tokens was asked for, and the model was trained for %d", b.Name, context, trained)
	}
	budget, weights := opt.CacheBytes, weightBytes(b, opt)
	left, err := FreeBytes()
	left -= opt.Reserved
	switch {
	case err != nil && budget == 0:
		return engine.Config{}, 0, err
	case err == nil && left <= weights: // whatever the cache may take
		return engine.Config{}, 0, &MemoryError{Name: b.Name, Need: weights, Free: max(0, left)}
	case budget == 0:
		budget = int64(float64(left-weights) * cacheShare)
	}
	cfg := engine.Config{
		MaxRunning: opt.MaxRunning, NoPrefixCache: opt.NoPrefixCache, QueueTimeout: opt.QueueTimeout, DraftTokens: opt.DraftTokens,
		MaxBatchTokens: max(engine.DefaultBatchTokens, opt.MaxRunning),
	}
	cfg.DraftBytes = draftBytes(b, opt.Draft, budget)
	budget -= cfg.DraftBytes
	blocks, fits, err := engine.Plan(b.Config, context, cfg.MaxBatchTokens, budget)
	if err != nil {
		return cfg, 0, err
	}
	cfg.Blocks, cfg.MaxContext = blocks, fits
	return cfg, engine.CacheBytes(b.Config, blocks), nil
}

// Flush writes what the disk lacks of the cache, if it is kept there, until ctx ends.
func (m *Model) Flush(ctx context.Context) error { return m.engine.Flush(ctx) }

// Close ends all requests and frees the memory of the cache. That of the weights goes when garbage is collected, also if m is kept.
func (m *Model) Close() error {
	return errors.Join(m.engine.Close(), m.free())
}
