// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"bytes"
	"fmt"
)

// A mergeList enters merges, best first, into a model's table of pairs. It gathers some hundreds before it looks for their
// parts in the table of pieces: lookups that don't wait for each other take a fraction of the time, since nearly
// each of them misses the cache.
type mergeList struct {
	m    *bpe
	next uint32 // rank of the first merge that is not entered yet

	text    []byte // parts of pending merges, end to end, as the table of pieces knows them
	pending []mergeSpan
	last    []byte // what the merge before the pending ones makes: often the next one makes the same
	made    uint32

	keys [][]byte // to be looked up: of each pending merge left, right and, where it differs from the one before, both
	ids  []uint32
	hash []uint64
}

// A mergeSpan is a pending merge: text[start:cut] and text[cut:end].
type mergeSpan struct {
	start, cut, end int32
	fresh           bool // it makes another piece than the merge before
}

// mergeBatch is how many merges are looked up together.
const mergeBatch = 256

// newMergeList makes the model's table of pairs, for about n merges. The caller must flush the list in the end.
func (m *bpe) newMergeList(n int) *mergeList {
	m.pairs = newPairTable(n)
	return &mergeList{m: m, ids: make([]uint32, 3*mergeBatch), hash: make([]uint64, 3*mergeBatch), made: noID}
}

// add enters the merge of two pieces as they are spelled. An error may be that of an earlier merge; next tells which.
func (l *mergeList) add(left, right []byte) error {
	start := int32(len(l.text))
	if !l.key(left) {
		return l.fail(fmt.Errorf("%q is not spelled in the byte-level alphabet", left))
	}
	cut := int32(len(l.text))
	if !l.key(right) {
		return l.fail(fmt.Errorf("%q is not spelled in the byte-level alphabet", right))
	}
	l.pending = append(l.pending, mergeSpan{start: start, cut: cut, end: int32(len(l.text))})
	if len(l.pending) < mergeBatch {
		return nil
	}
	return l.flush()
}

// fail returns the error of a pending merge if there is one, else err, that of the merge behind them.
func (l *mergeList) fail(err error) error {
	if earlier := l.flush(); earlier != nil {
		return earlier
	}
	return err
}

// key appends a part of a merge to text.
func (l *mergeList) key(part []byte) (ok bool) {
	if !l.m.byteLevel {
		l.text = append(l.text, part...)
		return true
	}
	l.text, ok = appendAlphabet(l.text, part)
	return ok
}

// flush enters the pending merges.
func (l *mergeList) flush() error {
	l.keys = l.keys[:0]
	last, known := l.last, l.made != noID
	for i := range l.pending {
		p := &l.pending[i]
		l.keys = append(l.keys, l.text[p.start:p.cut], l.text[p.cut:p.end])
		both := l.text[p.start:p.end]
		if p.fresh = !known || !bytes.Equal(both, last); p.fresh {
			l.keys = append(l.keys, both)
		}
		last, known = both, true
	}
	l.m.pieces.lookupAll(l.keys, l.ids, l.hash)
	return l.enter()
}

// enter puts the pending merges, whose parts have been looked up, into the table of pairs.
func (l *mergeList) enter() error {
	pending := l.pending
	l.pending = l.pending[:0]
	k := 0
	take := func() (key []byte, id uint32) {
		k++
		return l.keys[k-1], l.ids[k-1]
	}
	for _, p := range pending {
		left, lid := take()
		right, rid := take()
		if p.fresh {
			_, l.made = take()
		}
		switch {
		case lid == noID:
			return fmt.Errorf("%q is not in the vocabulary", left)
		case rid == noID:
			return fmt.Errorf("%q is not in the vocabulary", right)
		case l.made == noID:
			return fmt.Errorf("%q and %q make no piece of the vocabulary", left, right)
		}
		l.m.pairs.add(lid, rid, l.next, l.made)
		l.next++
	}
	if n := len(pending); n > 0 {
		p := pending[n-1]
		l.last = append(l.last[:0], l.text[p.start:p.end]...)
	}
	l.text = l.text[:0]
	return nil
}
