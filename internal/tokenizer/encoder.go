// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"hash/maphash"

	"github.com/sampo-ai/sampo/internal/token"
)

// An encoder is the working memory of one Encode: buffers of the merge loops and a cache of words. A Tokenizer keeps a pool of them.
type encoder struct {
	symbols   []symbol
	links     []link
	heap      rankHeap
	nodes     []node // of the Viterbi search
	starts    []int  // of the tokens of a window, in the word
	pending   uint32 // an unknown token not yet appended, or noID
	pendingAt int32

	stop    <-chan struct{} // nobody wants the IDs any more; nil: somebody does
	stopped bool            // stop was found closed
	unasked int             // bytes since stop was looked at

	seed  maphash.Seed
	cache []cacheEntry
}

// A cacheEntry remembers the IDs of one short word in two cache lines. Words that hash to the same entry replace each other.
type cacheEntry struct {
	hash uint64
	key  [maxCachedBytes]byte
	size uint8 // bytes of key; 0: empty
	n    uint8 // IDs
	ids  [maxCachedIDs]token.ID
}

const (
	cacheBits      = 13 // 8192 entries of 128 bytes: 1 MiB an encoder
	maxCachedBytes = 62
	maxCachedIDs   = 14
)

func newEncoder(seed maphash.Seed) *encoder {
	return &encoder{seed: seed, cache: make([]cacheEntry, 1<<cacheBits)}
}

// begin readies e for another text.
func (e *encoder) begin(stop <-chan struct{}) {
	e.stop, e.stopped, e.unasked = stop, false, 0
}

// goOn reports whether the IDs of n more bytes are still wanted.
func (e *encoder) goOn(n int) bool {
	if e.unasked += n; e.unasked < windowBytes {
		return !e.stopped
	}
	e.unasked = 0
	select {
	case <-e.stop:
		e.stopped = true
	default:
	}
	return !e.stopped
}

// appendCached appends the IDs of word, from the cache if they are there, else from m.
func (e *encoder) appendCached(dst []token.ID, m model, word string) []token.ID {
	if !e.goOn(min(len(word), windowBytes)) {
		return dst
	}
	if len(word) > maxCachedBytes {
		return m.appendWord(dst, e, word)
	}
	h := maphash.String(e.seed, word)
	c := &e.cache[h>>(64-cacheBits)]
	if c.hash == h && string(c.key[:c.size]) == word {
		return append(dst, c.ids[:c.n]...)
	}
	before := len(dst)
	dst = m.appendWord(dst, e, word)
	if ids := dst[before:]; len(ids) <= maxCachedIDs {
		c.hash = h
		c.size = uint8(copy(c.key[:], word))
		c.n = uint8(copy(c.ids[:], ids))
	}
	return dst
}
