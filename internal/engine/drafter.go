// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/token"
)

// catchUpTokens of a list are what the draft model computes before a step at most.
const catchUpTokens = 128

// A drafter guesses tokens with a small model of the same vocabulary. It has a cache of its own, without prefixes.
//
// It draws with the numbers that the target will draw with at the same positions: the more alike the two distributions
// are, the more often it draws the same, also at high temperatures.
type drafter struct {
	model   model.Model
	cache   *model.Cache
	pool    *kvcache.Pool
	bytes   int64 // of keys and values
	context int   // most tokens of a list with its guesses
	vocab   int   // tokens that may be guessed
	batch   model.Batch
	logits  logitRows
	sampler *sampler.Sampler
	asked   []*choice // those of the round under way
}

// A drafting is what a drafter knows of one choice.
type drafting struct {
	table    *kvcache.Table
	computed int // tokens of the list whose keys and values it has
	base     int // length of the list at the latest guess
	spoken   int // guesses computed behind it
	said     [MostDraftTokens]token.ID
	ahead    sampler.State // the choice's state some tokens later
}

func newDrafter(m model.Model, cfg *Config) (*drafter, error) {
	c := m.Config()
	if c.Vocab < cfg.vocab {
		return nil, fmt.Errorf("engine: draft model with a vocabulary of %d tokens, want at least %d", c.Vocab, cfg.vocab)
	}
	d := &drafter{model: m, vocab: cfg.vocab, sampler: sampler.New(cfg.vocab), logits: logitRows{width: c.Vocab, most: maxDrafting}}
	most := maxDrafting * catchUpTokens
	blocks, context, err := Plan(c, min(cfg.MaxContext, c.MaxContext), most, cfg.DraftBytes)
	if err != nil {
		return nil, fmt.Errorf("%w, in the draft model", err)
	}
	d.context, d.bytes = context, CacheBytes(c, blocks)
	if limit := c.LongAfter(); limit > 0 {
		d.context = min(context, limit) // its keys would all have to be computed again
	}
	d.pool, err = kvcache.New(kvcache.Config{BlockSize: model.BlockSize, Groups: c.CacheGroups(), Blocks: blocks, NoReuse: true})
	if err != nil {
		return nil, err
	}
	d.cache = m.NewCache(blocks)
	d.batch.Tokens, d.batch.Positions = make([]token.ID, 0, most), make([]int32, 0, most)
	return d, nil
}

// guess makes n guesses for each choice, or none. It returns the seconds that one of them took for all, 0 if there are none.
func (d *drafter) guess(choices []*choice, n int) (seconds float64, err error) {
	begun := time.Now()
	d.asked = d.asked[:0]
	d.begin()
	for _, c := range choices {
		c.guesser.n = 0
		if d.catchUp(c, n) {
			d.asked = append(d.asked, c)
		}
	}
	for round := 0; len(d.batch.Tokens) > 0; round++ {
		hidden, err := d.model.Forward(&d.batch, d.cache)
		if err != nil {
			return 0, err
		}
		outputs := len(d.batch.Outputs)
		if outputs == 0 {
			return 0, nil // all that was done is catching up
		}
		d.model.Head(d.logits.first(outputs), hidden, outputs)
		if err := d.draw(round); err != nil {
			return 0, err
		}
		d.begin()
		if round+1 < n {
			d.speak()
		} else {
			seconds = time.Since(begun).Seconds() / float64(n)
		}
	}
	return seconds, nil
}

func (d *drafter) begin() {
	b := &d.batch
	b.Tokens, b.Positions, b.Sequences, b.Outputs = b.Tokens[:0], b.Positions[:0], b.Sequences[:0], b.Outputs[:0]
}

// catchUp adds to the batch what the choice's list has that the drafter has not seen, and reports whether that is all.
func (d *drafter) catchUp(c *choice, n int) bool {
	g, list := &c.guesser.drafting, c.seq.Tokens
	if len(list)+n > d.context {
		return false
	}
	if g.table == nil {
		g.table = d.pool.NewTable(kvcache.Root(""), cap(list))
	}
	for i := range g.spoken {
		if g.base+i >= len(list) || list[g.base+i] != g.said[i] {
			break
		}
		g.computed = g.base + i + 1
	}
	g.spoken = 0
	end := min(len(list), g.computed+catchUpTokens)
	if g.computed == end {
		g.computed-- // the last token's logits are wanted again: the target drew another token than was guessed
	}
	d.pool.Commit(g.table, list[:g.computed])
	if !d.pool.Grow(g.table, end+n) {
		d.forget(c)
		return false
	}
	d.add(g, list[g.computed:end], g.computed)
	g.computed, g.base = end, end
	if end < len(list) {
		return false
	}
	d.batch.Outputs = append(d.batch.Outputs, int32(len(d.batch.Tokens)-1))
	return true
}

// add adds tokens of a list, from position pos, to the batch.
func (d *drafter) add(g *drafting, tokens []token.ID, pos int) {
	b := &d.batch
	b.Sequences = append(b.Sequences, model.Sequence{Rows: len(tokens), Past: pos, Tables: g.table.Blocks()})
	b.Tokens = append(b.Tokens, tokens...)
	for i := range tokens {
		b.Positions = append(b.Positions, int32(pos+i))
	}
}

// draw takes the next guess of each choice from its logits.
func (d *drafter) draw(round int) error {
	for i, c := range d.asked {
		g := &c.guesser
		g.drafting.ahead = c.state.Ahead(round)
		id, err := d.sampler.Sample(d.logits.row(i)[:d.vocab], &g.drafting.ahead)
		if err != nil {
			return err
		}
		g.tokens[g.n], g.drafting.said[g.n] = id, id
		g.n++
	}
	return nil
}

// speak adds the latest guesses to the batch.
func (d *drafter) speak() {
	for i, c := range d.asked {
		g := &c.guesser
		d.add(&g.drafting, g.tokens[g.n-1:g.n], g.drafting.base+g.drafting.spoken)
		g.drafting.spoken++
		d.batch.Outputs = append(d.batch.Outputs, int32(i))
	}
}

// forget frees what the drafter has of a choice.
func (d *drafter) forget(c *choice) {
	g := &c.guesser.drafting
	if g.table != nil {
		d.pool.Release(g.table)
	}
	*g = drafting{}
}
