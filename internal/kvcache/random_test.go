// SPDX-License-Identifier: Apache-2.0

package kvcache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

// A ledger is the naive model: it writes down which prefix every slot of every block was computed for, as the
// tensors would hold it, and knows each sequence's tokens.
type ledger struct {
	t     *testing.T
	pool  *Pool
	slots [][][]Hash // [group][block][slot]
	live  []*sequence
	disk  []saved
}

type sequence struct {
	table  *Table
	tokens []token.ID
	rest   []token.ID // of the prompt, to be computed next
	salt   string
}

func TestBlocksHoldWhatTablesSayUnderRandomUse(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := newLedger(t, r)
		for range 150 {
			l.step(r)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		for len(l.live) > 0 {
			l.release(0)
		}
		for g := range l.pool.Groups() {
			if free := l.pool.Free(g); free != l.pool.Total(g) {
				t.Fatalf("seed %d: group %d: %d of %d blocks free at the end", seed, g, free, l.pool.Total(g))
			}
		}
	}
}

func newLedger(t *testing.T, r *rand.Rand) *ledger {
	cfg := Config{BlockSize: 1 + r.IntN(4), NoReuse: r.IntN(8) == 0}
	l := &ledger{t: t}
	for range 1 + r.IntN(3) {
		group := Group{}
		if r.IntN(2) == 0 {
			group = Group{Kind: Window, Window: 1 + r.IntN(9)}
		}
		n := 6 + r.IntN(20)
		cfg.Groups, cfg.Blocks = append(cfg.Groups, group), append(cfg.Blocks, n)
		slots := make([][]Hash, n)
		for b := range slots {
			slots[b] = make([]Hash, cfg.BlockSize)
		}
		l.slots = append(l.slots, slots)
	}
	pool, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l.pool = pool
	return l
}

func (l *ledger) step(r *rand.Rand) {
	switch n := len(l.live); {
	case n < 2 || r.IntN(5) == 0 && n < 6:
		l.open(r)
	case r.IntN(6) == 0:
		l.release(r.IntN(n))
	case r.IntN(6) == 0:
		s := l.live[r.IntN(n)]
		l.live = append(l.live, &sequence{l.pool.Fork(s.table, 0), slices.Clone(s.tokens), nil, s.salt})
	case r.IntN(6) == 0:
		l.save()
	case r.IntN(6) == 0 && len(l.disk) > 0:
		l.restore(l.disk[r.IntN(len(l.disk))])
	case r.IntN(6) == 0:
		l.guess(l.live[r.IntN(n)], 1+r.IntN(5))
	default:
		l.compute(l.live[r.IntN(n)], r)
	}
	l.check()
}

func (l *ledger) open(r *rand.Rand) {
	s := &sequence{salt: []string{"", "x"}[r.IntN(2)]}
	// Few different tokens and starts, so that prefixes are often common.
	for range 1 + r.IntN(16) {
		s.tokens = append(s.tokens, token.ID(r.IntN(8)/7))
	}
	s.table = l.pool.NewTable(Root(s.salt), 0)
	if r.IntN(3) == 0 {
		s.table.Keep()
	}
	s.table.Belong([]string{"", "a", "b", "c"}[r.IntN(4)])
	want := l.longest(s)
	if got := l.pool.Match(s.table, s.tokens); got != want {
		l.t.Errorf("Match of %v: %d tokens, want %d", s.tokens, got, want)
	}
	s.rest = slices.Clone(s.tokens[s.table.Tokens():])
	s.tokens = s.tokens[:s.table.Tokens()]
	l.live = append(l.live, s)
}

// longest tries every prefix from the longest down.
func (l *ledger) longest(s *sequence) int {
	size := l.pool.BlockSize()
	for n := (len(s.tokens) - 1) / size; n > 0; n-- {
		ok := true
		for g, group := range l.pool.Groups() {
			for i := group.First(n*size, size); i < n; i++ {
				_, has := l.pool.stores[g].names[s.name((i+1)*size, size)]
				ok = ok && has
			}
		}
		if ok {
			return n * size
		}
	}
	return 0
}

// name hashes the tokens before end, a multiple of size.
func (s *sequence) name(end, size int) Hash {
	h := Root(s.salt)
	for at := 0; at < end; at += size {
		h = Chain(h, s.tokens[at:at+size])
	}
	return h
}

func (l *ledger) compute(s *sequence, r *rand.Rand) {
	from := len(s.tokens)
	grown := s.tokens
	for i := range 1 + r.IntN(5) {
		id := token.ID(r.IntN(8) / 7)
		if i < len(s.rest) {
			id = s.rest[i]
		}
		grown = append(grown, id)
	}
	if !l.pool.Grow(s.table, len(grown)) {
		return
	}
	s.rest = s.rest[min(len(s.rest), len(grown)-from):]
	s.tokens = grown
	for _, c := range l.pool.TakeCopies() {
		copy(l.slots[c.Group][c.Dst], l.slots[c.Group][c.Src])
	}
	size := l.pool.BlockSize()
	for g, table := range s.table.Blocks() {
		for pos := from; pos < len(s.tokens); pos++ {
			b := table[pos/size]
			if l.pool.stores[g].blocks[b].refs != 1 {
				l.t.Errorf("position %d is written to block %d, which others list", pos, b)
			}
			l.slots[g][b][pos%size] = s.slot(pos)
		}
	}
	l.pool.Commit(s.table, s.tokens)
}

// A saved block is one whose contents were copied before it was evicted.
type saved struct {
	group    int
	hash     Hash
	contents []Hash
}

// save copies a block of each group that is about to be evicted.
func (l *ledger) save() {
	for g := range l.pool.Groups() {
		if b, h, ok := l.pool.Unsaved(g); ok {
			l.disk = append(l.disk, saved{g, h, slices.Clone(l.slots[g][b])})
		}
	}
}

// restore brings back a saved block, unless it is still there.
func (l *ledger) restore(s saved) {
	if found, _ := l.pool.Find(s.group, s.hash); found {
		return
	}
	if b := l.pool.Adopt(s.group, s.hash, "a"); b != None {
		copy(l.slots[s.group][b], s.contents)
	}
}

// guess makes room for tokens that turn out wrong: slots are written, and nothing else may change.
func (l *ledger) guess(s *sequence, n int) {
	if !l.pool.Grow(s.table, len(s.tokens)+n) {
		return
	}
	for _, c := range l.pool.TakeCopies() {
		copy(l.slots[c.Group][c.Dst], l.slots[c.Group][c.Src])
	}
	size := l.pool.BlockSize()
	for g, table := range s.table.Blocks() {
		for pos := len(s.tokens); pos < len(s.tokens)+n; pos++ {
			l.slots[g][table[pos/size]][pos%size] = Hash{}
		}
	}
	l.pool.Trim(s.table)
	for g, table := range s.table.Blocks() {
		if want := l.pool.blocks(len(s.tokens)); len(table) != want {
			l.t.Errorf("group %d: %d blocks for %d tokens after Trim, want %d", g, len(table), len(s.tokens), want)
		}
	}
}

// slot stands for the keys and values of the token at pos: they depend on every token up to it.
func (s *sequence) slot(pos int) Hash { return Chain(Root(s.salt), s.tokens[:pos+1]) }

func (l *ledger) release(i int) {
	l.pool.Release(l.live[i].table)
	l.live = slices.Delete(l.live, i, i+1)
}

func (l *ledger) check() {
	tables := make([]*Table, len(l.live))
	for i, s := range l.live {
		tables[i] = s.table
	}
	if err := l.pool.Check(tables...); err != nil {
		l.t.Error(err)
	}
	size := l.pool.BlockSize()
	for _, s := range l.live {
		for g, table := range s.table.Blocks() {
			first := l.pool.Groups()[g].First(len(s.tokens), size)
			for pos := first * size; pos < len(s.tokens); pos++ {
				if b := table[pos/size]; b == None || l.slots[g][b][pos%size] != s.slot(pos) {
					l.t.Errorf("group %d: position %d of %v lies in block %d with other contents", g, pos, s.tokens, b)
					return
				}
			}
		}
	}
}
