// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/kvcache/disk"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/scheduler"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Config sets an engine's limits. Zero values mean the defaults that are named.
type Config struct {
	MaxContext     int           // most tokens of prompt plus output; default: the model's
	Blocks         []int         // cache blocks of each group; default: for DefaultCacheBytes, see Plan
	MaxBatchTokens int           // token budget of a step; default DefaultBatchTokens
	MaxRunning     int           // sequences that run at once; default DefaultRunning
	MaxWaiting     int           // requests that wait before Submit answers ErrBusy; default DefaultWaiting
	MixedTokens    int           // most prompt tokens in a step that also decodes; default DefaultMixedTokens, negative: no limit
	QueueTimeout   time.Duration // a request that waited longer for its first step ends with ErrExpired; default: no limit
	Draft          model.Model   // a small model with the same vocabulary that guesses what lookup does not find; default: none
	DraftBytes     int64         // most memory for keys and values of Draft; default DefaultDraftBytes
	DraftTokens    int           // most tokens guessed after each; default DefaultDraftTokens, negative: no speculation
	Disk           *disk.Store   // keeps cache blocks that nobody uses; default: none
	NoPrefixCache  bool          // never reuse blocks
	Tier           string        // for Info
	Threads        *tensor.Pool  // the model's pool: held for each step, samples rows in parallel; default: none
	StepTimeout    time.Duration // a step that takes longer fails its requests; default DefaultStepTimeout
	Logger         *slog.Logger  // default: slog.Default()

	vocab, longAfter int // the model's Vocab and LongAfter
}

// Defaults of Config.
const (
	DefaultBatchTokens = 512
	DefaultMixedTokens = 64
	DefaultRunning     = 64
	DefaultWaiting     = 256
	DefaultDraftTokens = 7 // with the token before them 8 rows, which kernels like
	DefaultStepTimeout = 5 * time.Minute
	DefaultCacheBytes  = 1 << 30
	DefaultDraftBytes  = 256 << 20 // it guesses for as many sequences as fit
)

// MostRunning bounds Config.MaxRunning: a step's buffers have room for all.
const MostRunning = 1 << 16

// MostDraftTokens bounds Config.DraftTokens: more guesses are not made.
const MostDraftTokens = 15

// patience is how long a request waits before it may be taken out of turn.
const patience = 10 * time.Second

// typicalTokens is the length of the sequences that cache memory beyond one longest sequence is divided for.
const (
	typicalTokens = 2048
	maxTypical    = 4096 // of them: 8 million tokens are enough for anyone
)

// Plan divides bytes of cache memory among the groups of a model: room for one sequence of the longest context that
// fits, up to maxContext, and then for as many of ordinary length as possible. A step adds up to batchTokens tokens.
func Plan(c model.Config, maxContext, batchTokens int, bytes int64) (blocks []int, context int, err error) {
	groups, sizes := c.CacheGroups(), c.BlockBytes()
	need := func(tokens int) (sum int64) {
		for g, group := range groups {
			sum += sizes[g] * int64(group.Blocks(tokens, batchTokens, model.BlockSize))
		}
		return sum
	}
	for context = maxContext; context > 0 && need(context) > bytes; {
		context -= model.BlockSize
	}
	if context <= 0 {
		return nil, 0, fmt.Errorf("engine: cache memory of %d bytes is too small: a sequence of %d tokens needs %d",
			bytes, model.BlockSize, need(model.BlockSize))
	}
	typical := min(context, typicalTokens)
	more := int(min((bytes-need(context))/max(1, need(typical)), maxTypical))
	for _, group := range groups {
		one := group.Blocks(context, batchTokens, model.BlockSize)
		blocks = append(blocks, one+more*group.Blocks(typical, batchTokens, model.BlockSize))
	}
	return blocks, context, nil
}

// CacheBytes returns the memory that so many blocks of each group take.
func CacheBytes(c model.Config, blocks []int) (sum int64) {
	for g, size := range c.BlockBytes() {
		sum += size * int64(blocks[g])
	}
	return sum
}

// resolve fills in defaults and checks what was given.
func (c Config) resolve(m model.Config) (Config, error) {
	setDefault(&c.MaxBatchTokens, max(DefaultBatchTokens, c.MaxRunning))
	setDefault(&c.MaxRunning, min(DefaultRunning, c.MaxBatchTokens))
	setDefault(&c.MaxWaiting, DefaultWaiting)
	setDefault(&c.MixedTokens, DefaultMixedTokens)
	setDefault(&c.MaxContext, m.MaxContext)
	setDefault(&c.DraftTokens, DefaultDraftTokens)
	setDefault(&c.DraftBytes, DefaultDraftBytes)
	c.DraftTokens = min(c.DraftTokens, MostDraftTokens)
	c.vocab, c.longAfter = m.Vocab, m.LongAfter()
	setDefault(&c.StepTimeout, DefaultStepTimeout)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Blocks == nil {
		blocks, context, err := Plan(m, c.MaxContext, c.MaxBatchTokens, DefaultCacheBytes)
		if err != nil {
			return c, err
		}
		c.Blocks, c.MaxContext = blocks, context
	}
	return c, c.check(m)
}

func setDefault[T comparable](v *T, value T) {
	if *v == *new(T) {
		*v = value
	}
}

// check makes sure that a request of the longest context can run when it is alone.
func (c *Config) check(m model.Config) error {
	if c.MaxRunning > MostRunning {
		return fmt.Errorf("engine: %d sequences at once, want at most %d", c.MaxRunning, MostRunning)
	}
	groups := m.CacheGroups()
	if len(c.Blocks) != len(groups) {
		return fmt.Errorf("engine: blocks for %d cache groups, the model has %d", len(c.Blocks), len(groups))
	}
	for g, group := range groups {
		if want := group.Blocks(c.MaxContext, c.MaxBatchTokens, model.BlockSize); c.Blocks[g] < want {
			return fmt.Errorf("engine: cache group %d: %d blocks, a context of %d tokens needs %d", g, c.Blocks[g], c.MaxContext, want)
		}
	}
	return nil
}

// newScheduler returns empty queues over an empty pool. What prompts cost others is told by pace.
func (c *Config) newScheduler(groups []kvcache.Group, pace *pace) (*scheduler.Scheduler, *kvcache.Pool, error) {
	pool, err := kvcache.New(kvcache.Config{BlockSize: model.BlockSize, Groups: groups, Blocks: c.Blocks, NoReuse: c.NoPrefixCache})
	if err != nil {
		return nil, nil, err
	}
	limits := scheduler.Config{MaxBatchTokens: c.MaxBatchTokens, MaxRunning: c.MaxRunning, Patience: patience}
	if c.MixedTokens > 0 {
		limits.MixedCost = pace.cost
	}
	s, err := scheduler.New(limits, pool)
	return s, pool, err
}
