// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"sync"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/kvcache/disk"
	"github.com/sampo-ai/sampo/internal/model"
)

const (
	spillQueue  = 4 // blocks on their way to the disk
	reviveBlock = 8 // blocks read back before a step: some milliseconds
)

// A spill writes blocks that nobody uses to the disk, before they are evicted, and reads them back for requests that
// continue them. Writing is the business of a goroutine of its own, reading that of the engine's.
type spill struct {
	store *disk.Store
	read  func(dst []byte, group int, b kvcache.BlockID) []byte
	fill  func(group int, b kvcache.BlockID, data []byte)
	bytes []int // of a block of each group

	restless bool              // blocks may have become free that were not written
	flushing []chan<- struct{} // closed when nothing is left to be written
	waiting  []*request        // whose blocks are being read
	write    chan block
	free     chan []byte // buffers
	done     sync.WaitGroup
	losses   losses
	buffer   []byte // of the engine, to read a block into
}

// A block is on its way to the disk.
type block struct {
	name disk.Name
	data []byte
}

// A revival is how far the blocks of a request were looked for on the disk.
type revival struct {
	hashes []kvcache.Hash // of the blocks that memory has now
	free   []int          // of each group: how many of them nobody uses
}

func newSpill(store *disk.Store, cache *model.Cache, c model.Config) *spill {
	s := &spill{
		store: store, read: cache.AppendBlock, fill: cache.SetBlock,
		write: make(chan block, spillQueue), free: make(chan []byte, spillQueue+1),
	}
	for _, n := range c.BlockBytes() {
		s.bytes = append(s.bytes, int(n))
	}
	for range cap(s.free) {
		s.free <- nil
	}
	return s
}

// run writes blocks until the channel is closed. Errors are given to tell; wake is called after each block.
func (s *spill) run(tell func(error), wake func()) {
	for b := range s.write {
		if err := s.store.Write(b.name, b.data); err != nil {
			tell(err)
		}
		s.free <- b.data
		wake()
	}
}

// work returns how much can be done now: requests whose blocks are read, and a round of writing.
func (s *spill) work() int {
	n := len(s.waiting)
	if s.restless && len(s.free) > 0 {
		n++
	}
	return n
}

// save hands blocks that are next to be evicted to the writer, as many as it takes now.
func (s *spill) save(pool *kvcache.Pool) {
	for s.restless {
		var buffer []byte
		select {
		case buffer = <-s.free:
		default:
			return // the writer wakes the engine
		}
		name, data, ok := s.next(pool, buffer)
		if !ok {
			s.free <- buffer
			s.restless = false
			break
		}
		s.write <- block{name, data} // there is room for every buffer
	}
	if len(s.free) == cap(s.free) {
		for _, done := range s.flushing {
			close(done)
		}
		s.flushing = s.flushing[:0]
	}
}

// flush writes all that is free and not on the disk; the latest conversations first, lest the time runs out.
func (s *spill) flush(done chan<- struct{}) {
	s.flushing = append(s.flushing, done)
	s.restless = true
}

// again lets all blocks be written that are free, those that were written before too.
func (s *spill) again(pool *kvcache.Pool) {
	pool.Unsave()
	s.restless = true
}

// next copies a block that is not known to be on the disk. One that was computed though it is there has a damaged file before
// it, and may have one itself: writing tells.
func (s *spill) next(pool *kvcache.Pool, buffer []byte) (disk.Name, []byte, bool) {
	unsaved := pool.Unsaved
	if len(s.flushing) > 0 {
		unsaved = pool.UnsavedLatest
	}
	for g := range s.bytes {
		for {
			b, hash, ok := unsaved(g)
			if !ok {
				break
			}
			if name := (disk.Name{Hash: hash, Group: uint32(g)}); !s.store.Sound(name) {
				return name, s.read(slices.Grow(buffer[:0], s.bytes[g]), g, b), true
			}
		}
	}
	return disk.Name{}, nil, false
}

// revive reads blocks of the requests that wait for theirs, a few at a time, and gives those that have all to ready.
func (s *spill) revive(pool *kvcache.Pool, ready func(*request)) {
	left := reviveBlock
	for len(s.waiting) > 0 {
		r := s.waiting[0]
		for left > 0 && !r.gone && s.step(pool, r) {
			left--
		}
		if left == 0 && !r.gone {
			return
		}
		s.waiting = s.waiting[1:]
		if !r.gone {
			r.revival.settle(pool)
			ready(r)
		}
	}
}

// step looks for the next block of a request's prompt. It returns false at the end of what can be had.
func (s *spill) step(pool *kvcache.Pool, r *request) bool {
	v, size := &r.revival, pool.BlockSize()
	next, parent := len(v.hashes), r.choices[0].root()
	if next > 0 {
		parent = v.hashes[next-1]
	} else {
		v.free = make([]int, len(pool.Groups()))
	}
	if (next+1)*size >= len(r.Prompt) { // the last token is computed in any case
		return false
	}
	hash := kvcache.Chain(parent, r.Prompt[next*size:(next+1)*size])
	for g, group := range pool.Groups() {
		if !s.have(pool, g, hash, r) && group.Kind == kvcache.All {
			return false
		}
	}
	v.hashes = append(v.hashes, hash)
	return true
}

// have reports whether memory has a block of a request's prompt, perhaps from the disk now. None is evicted for it that belongs
// to the prompt's beginning: what follows is worth nothing without that.
func (s *spill) have(pool *kvcache.Pool, g int, hash kvcache.Hash, r *request) bool {
	v := &r.revival
	found, free := pool.Find(g, hash)
	if !found {
		if pool.Groups()[g].Kind == kvcache.All && v.free[g] >= pool.Free(g) {
			return false
		}
		found = s.adopt(pool, g, hash, r.Tenant)
		free = found
	}
	if free {
		v.free[g]++
	}
	return found
}

// settle lets the last of the blocks be reused first, as those of a sequence that ended.
func (v *revival) settle(pool *kvcache.Pool) {
	for g, group := range pool.Groups() {
		if group.Kind != kvcache.All { // a window wants the last ones
			continue
		}
		for _, hash := range slices.Backward(v.hashes) {
			pool.Find(g, hash)
		}
	}
	v.hashes = nil
}

// adopt reads a block into a free one.
func (s *spill) adopt(pool *kvcache.Pool, g int, hash kvcache.Hash, tenant string) bool {
	name := disk.Name{Hash: hash, Group: uint32(g)}
	if !s.store.Has(name) {
		return false
	}
	data, err := s.store.Read(name, s.buffer)
	if err != nil || len(data) != s.bytes[g] {
		return false // damaged: it is gone from the disk
	}
	s.buffer = data
	b := pool.Adopt(g, hash, tenant)
	if b == kvcache.None {
		return false
	}
	s.fill(g, b, data)
	return true
}
