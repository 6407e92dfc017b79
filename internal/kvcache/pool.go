// SPDX-License-Identifier: Apache-2.0

package kvcache

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/token"
)

// A Config describes a pool.
type Config struct {
	BlockSize int     // tokens a block
	Groups    []Group // groups of layers
	Blocks    []int   // how many blocks each group has
	NoReuse   bool    // give blocks no names: no prefix is ever found
}

// A Copy asks the owner of the tensors to copy a block's contents before the next step writes to Dst.
type Copy struct {
	Group    int
	Src, Dst BlockID
}

// A Pool has all blocks and knows who uses them. Its methods are for one goroutine.
type Pool struct {
	cfg    Config
	stores []store // per group
	copies []Copy
	chain  chainer
}

// New makes a pool whose blocks are all free.
func New(cfg Config) (*Pool, error) {
	if cfg.BlockSize < 1 {
		return nil, fmt.Errorf("kvcache: block size %d: want at least 1", cfg.BlockSize)
	}
	if len(cfg.Groups) == 0 || len(cfg.Groups) != len(cfg.Blocks) {
		return nil, fmt.Errorf("kvcache: %d groups with blocks for %d", len(cfg.Groups), len(cfg.Blocks))
	}
	p := &Pool{cfg: cfg, stores: make([]store, len(cfg.Groups))}
	for g, group := range cfg.Groups {
		switch {
		case group.Kind != All && group.Kind != Window:
			return nil, fmt.Errorf("kvcache: group %d: kind %d is not built yet", g, group.Kind)
		case group.Kind == Window && group.Window < 1:
			return nil, fmt.Errorf("kvcache: group %d: window of %d tokens", g, group.Window)
		case cfg.Blocks[g] < 1:
			return nil, fmt.Errorf("kvcache: group %d: %d blocks", g, cfg.Blocks[g])
		}
		p.stores[g] = newStore(cfg.Blocks[g])
	}
	return p, nil
}

// NewTable returns an empty table for a sequence of about tokens tokens. Tables share blocks only under one root.
func (p *Pool) NewTable(root Hash, tokens int) *Table {
	t := &Table{blocks: make([][]BlockID, len(p.stores)), let: make([]int, len(p.stores)), root: root}
	n := (tokens + p.cfg.BlockSize - 1) / p.cfg.BlockSize
	for g := range t.blocks {
		t.blocks[g] = make([]BlockID, 0, n)
	}
	t.hashes = make([]Hash, 0, n)
	return t
}

// Match gives an empty table the blocks of the longest prefix of tokens that every group still has, and returns
// that prefix's length. The last token is never part of it: its logits have to be computed.
func (p *Pool) Match(t *Table, tokens []token.ID) int {
	n := p.longest(t, tokens)
	for g := range p.stores {
		first := p.cfg.Groups[g].First(n*p.cfg.BlockSize, p.cfg.BlockSize)
		t.let[g] = first
		for i := range n {
			if i < first {
				t.blocks[g] = append(t.blocks[g], None)
				continue
			}
			b := p.stores[g].names[t.hashes[i]]
			p.stores[g].share(b)
			p.stores[g].blocks[b].kept = p.stores[g].blocks[b].kept || t.keep
			t.blocks[g] = append(t.blocks[g], b)
		}
	}
	t.named = n
	t.tokens = n * p.cfg.BlockSize
	return t.tokens
}

// longest returns how many blocks the longest reusable prefix of tokens has.
func (p *Pool) longest(t *Table, tokens []token.ID) int {
	n := (len(tokens) - 1) / p.cfg.BlockSize
	if p.cfg.NoReuse || n <= 0 {
		return 0
	}
	for i := range n {
		h := t.name(&p.chain, tokens, i, p.cfg.BlockSize)
		if !p.complete(h) {
			n = i
			break
		}
	}
	// A window needs blocks only just before the prefix's end; one that shortens it moves the others' ends too.
	for g, was := 0, n; g < len(p.stores); g++ {
		if p.cfg.Groups[g].Kind != Window {
			continue
		}
		if n = p.windowed(g, t, n); n < was {
			was, g = n, -1
		}
	}
	return n
}

// complete reports whether every group that remembers all tokens has the block named h.
func (p *Pool) complete(h Hash) bool {
	for g := range p.stores {
		if _, ok := p.stores[g].names[h]; !ok && p.cfg.Groups[g].Kind == All {
			return false
		}
	}
	return true
}

// windowed returns the largest m up to n for which group g has all blocks that a sequence of m blocks reads next.
func (p *Pool) windowed(g int, t *Table, n int) int {
	m := n
	first := p.cfg.Groups[g].First(m*p.cfg.BlockSize, p.cfg.BlockSize)
	for i := n - 1; i >= first; i-- {
		if _, ok := p.stores[g].names[t.hashes[i]]; !ok {
			m = i
			first = p.cfg.Groups[g].First(m*p.cfg.BlockSize, p.cfg.BlockSize)
		}
	}
	return m
}

// Grow makes room for the sequence's tokens before position n. It gives the table new blocks, and a copy of its
// last block if that is partly filled and shared. It does all of this or, when blocks are lacking, nothing.
func (p *Pool) Grow(t *Table, n int) bool {
	for g := range p.stores {
		if p.missing(t, g, n) > p.stores[g].free {
			return false
		}
	}
	for g := range p.stores {
		s := &p.stores[g]
		if p.sharedTail(t, g) {
			tail := t.tokens / p.cfg.BlockSize
			src := t.blocks[g][tail]
			dst := s.take(t.tenant)
			s.drop(src)
			t.blocks[g][tail] = dst
			p.copies = append(p.copies, Copy{Group: g, Src: src, Dst: dst})
		}
		for len(t.blocks[g]) < p.blocks(n) {
			t.blocks[g] = append(t.blocks[g], s.take(t.tenant))
		}
	}
	return true
}

func (p *Pool) blocks(tokens int) int { return (tokens + p.cfg.BlockSize - 1) / p.cfg.BlockSize }

// missing returns how many blocks Grow(t, n) takes from group g.
func (p *Pool) missing(t *Table, g, n int) int {
	m := max(0, p.blocks(n)-len(t.blocks[g]))
	if p.sharedTail(t, g) {
		m++
	}
	return m
}

// sharedTail reports whether the block of t's next token already holds tokens and is listed by other tables too.
func (p *Pool) sharedTail(t *Table, g int) bool {
	tail := t.tokens / p.cfg.BlockSize
	return t.tokens%p.cfg.BlockSize != 0 && p.stores[g].blocks[t.blocks[g][tail]].refs > 1
}

// Commit says that all of tokens, the sequence from its start, are now computed: it names blocks that became full
// and lets go of those that no window reaches any more.
func (p *Pool) Commit(t *Table, tokens []token.ID) {
	t.tokens = len(tokens)
	full := len(tokens) / p.cfg.BlockSize
	for ; t.named < full && !p.cfg.NoReuse; t.named++ {
		h := t.name(&p.chain, tokens, t.named, p.cfg.BlockSize)
		for g := range p.stores {
			if t.named >= t.let[g] {
				b := t.blocks[g][t.named]
				p.stores[g].name(b, h)
				p.stores[g].blocks[b].kept = p.stores[g].blocks[b].kept || t.keep
			}
		}
	}
	for g := range p.stores {
		first := p.cfg.Groups[g].First(len(tokens), p.cfg.BlockSize)
		for ; t.let[g] < min(first, len(t.blocks[g])); t.let[g]++ {
			p.stores[g].drop(t.blocks[g][t.let[g]])
			t.blocks[g][t.let[g]] = None
		}
	}
}

// Trim takes back blocks behind the tokens that the table holds: those of guesses that were wrong.
func (p *Pool) Trim(t *Table) {
	n := p.blocks(t.tokens)
	for g := range t.blocks {
		for len(t.blocks[g]) > max(n, t.let[g]) {
			last := len(t.blocks[g]) - 1
			p.stores[g].drop(t.blocks[g][last])
			t.blocks[g] = t.blocks[g][:last]
		}
	}
}

// Fork returns a table for a sequence that continues t's tokens on its own. Both list the same blocks.
func (p *Pool) Fork(t *Table, tokens int) *Table {
	f := p.NewTable(t.root, tokens)
	f.tokens, f.named, f.keep, f.tenant = t.tokens, t.named, t.keep, t.tenant
	// A name may cover tokens that t has but not computed; the fork's differ there.
	f.hashes = append(f.hashes, t.hashes[:min(len(t.hashes), t.tokens/p.cfg.BlockSize)]...)
	for g := range t.blocks {
		f.let[g] = t.let[g]
		f.blocks[g] = append(f.blocks[g], t.blocks[g][:p.blocks(t.tokens)]...)
		for _, b := range f.blocks[g][f.let[g]:] {
			p.stores[g].share(b)
		}
	}
	return f
}

// Release empties the table. The sequence's last blocks are the first to be reused, since a prefix without its
// start is worth nothing.
func (p *Pool) Release(t *Table) {
	for g := range t.blocks {
		for i := len(t.blocks[g]) - 1; i >= t.let[g]; i-- {
			p.stores[g].drop(t.blocks[g][i])
		}
		t.blocks[g] = t.blocks[g][:0]
		t.let[g] = 0
	}
	t.tokens, t.named = 0, 0
}

// Find reports whether group g has the block named h, and whether it is free: then it is the last to be reused from now on.
func (p *Pool) Find(g int, h Hash) (found, free bool) {
	s := &p.stores[g]
	b, found := s.names[h]
	if free = found && s.blocks[b].refs == 0; free {
		s.share(b)
		s.drop(b)
	}
	return found, free
}

// Adopt names a free block of group g h, so that a sequence of the tenant may find it, and returns it. The caller fills it
// before the next Match. It returns None if all blocks are in use, or one has that name.
func (p *Pool) Adopt(g int, h Hash, tenant string) BlockID {
	s := &p.stores[g]
	if _, taken := s.names[h]; taken || s.free == 0 {
		return None
	}
	b := s.take(tenant)
	s.name(b, h)
	s.blocks[b].saved = true
	s.drop(b)
	return b
}

// Unsaved returns a free block of group g that has a name and was not returned before, one of those next to be reused, and
// marks it.
func (p *Pool) Unsaved(g int) (BlockID, Hash, bool) { return p.stores[g].unsaved(firstReused) }

// UnsavedLatest is like Unsaved, from the other end: the beginnings of the latest sequences come first.
func (p *Pool) UnsavedLatest(g int) (BlockID, Hash, bool) { return p.stores[g].unsaved(lastReused) }

// Unsave says that the second tier lost what it had: Unsaved returns all blocks once more.
func (p *Pool) Unsave() {
	for g := range p.stores {
		for b := range p.stores[g].blocks {
			p.stores[g].blocks[b].saved = false
		}
	}
}

// TakeCopies hands over the copies that came up since the last call. They are to be made in order. The slice is
// valid until the next Grow.
func (p *Pool) TakeCopies() []Copy {
	c := p.copies
	p.copies = p.copies[:0]
	return c
}

// Groups returns the pool's groups.
func (p *Pool) Groups() []Group { return p.cfg.Groups }

// BlockSize returns how many tokens a block holds.
func (p *Pool) BlockSize() int { return p.cfg.BlockSize }

// Free returns how many blocks of group g no table lists.
func (p *Pool) Free(g int) int { return p.stores[g].free }

// Total returns how many blocks group g has.
func (p *Pool) Total(g int) int { return p.stores[g].n }

// Evictions returns how many names were dropped because their block was needed.
func (p *Pool) Evictions() uint64 {
	n := uint64(0)
	for g := range p.stores {
		n += p.stores[g].evicts
	}
	return n
}

// Check verifies what is always true of the pool; tables are all that list blocks. It reads everything.
func (p *Pool) Check(tables ...*Table) error {
	for g := range p.stores {
		refs := make([]int32, p.Total(g))
		for _, t := range tables {
			if err := t.count(refs, g, p.blocks(t.tokens)); err != nil {
				return fmt.Errorf("kvcache: group %d: %w", g, err)
			}
		}
		if err := p.stores[g].check(refs); err != nil {
			return fmt.Errorf("kvcache: group %d: %w", g, err)
		}
	}
	return nil
}
