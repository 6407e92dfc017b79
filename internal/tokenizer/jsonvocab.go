// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// A vocabEntry is one piece, as a range of the buffer that holds all spellings.
type vocabEntry struct{ id, start, end int }

// vocabulary reads model.vocab into t.pieces.
func (b *builder) vocabulary(f *jsonFile) error {
	if b.kind == "Unigram" {
		return b.scoredVocabulary(f.vocab)
	}
	r := f.vocab
	var entries []vocabEntry
	var text []byte
	top := -1
	err := r.object(func(key []byte) error {
		id, err := r.integer()
		if err != nil {
			return err
		}
		if !utf8.Valid(key) {
			return r.fail("a piece is not valid UTF-8")
		}
		entries = append(entries, vocabEntry{id, len(text), len(text) + len(key)})
		text = append(text, key...)
		top = max(top, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	// Room for the holes that real files have, not for whatever a hostile one says.
	if limit := min(maxVocab, 2*len(entries)+1<<16); top >= limit {
		return fmt.Errorf("model.vocab: ID %d in a vocabulary of %d pieces", top, len(entries))
	}
	spelling := string(text)
	b.t.pieces = make([]string, top+1)
	for _, e := range entries {
		if b.t.pieces[e.id] != "" {
			return fmt.Errorf("model.vocab: %q and %q have the same ID %d", b.t.pieces[e.id], spelling[e.start:e.end], e.id)
		}
		b.t.pieces[e.id] = spelling[e.start:e.end]
	}
	return nil
}

// scoredVocabulary reads pieces with their scores, in the order of their IDs.
func (b *builder) scoredVocabulary(r *jsonReader) error {
	err := r.array(func(id int) error {
		var piece []byte
		var score float64
		n := 0
		err := r.array(func(i int) error {
			var err error
			switch n++; i {
			case 0:
				piece, err = r.str(nil)
			case 1:
				score, err = r.float()
			default:
				err = errNotScored
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case n != 2:
			return errNotScored
		case id >= maxVocab:
			return fmt.Errorf("more than %d pieces", maxVocab)
		case !utf8.Valid(piece):
			return r.fail("a piece is not valid UTF-8")
		}
		b.t.pieces = append(b.t.pieces, string(piece))
		b.scores = append(b.scores, score)
		return nil
	})
	if err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	return nil
}

var errNotScored = errors.New("not a piece and its score")

// readMerges reads about n merges, best first: strings "left right", or arrays of two strings.
func (m *bpe) readMerges(r *jsonReader, n int) error {
	list := m.newMergeList(n)
	var left, right []byte
	err := r.array(func(int) error {
		var err error
		if left, right, err = r.pair(left[:0], right[:0]); err != nil {
			return list.fail(err)
		}
		return list.add(left, right)
	})
	if err == nil {
		err = list.flush()
	}
	if err != nil {
		return fmt.Errorf("merges[%d]: %w", list.next, err)
	}
	return nil
}

// pair reads one merge.
func (r *jsonReader) pair(left, right []byte) (l, rt []byte, err error) {
	if r.peek() == '"' {
		if left, err = r.str(left); err != nil {
			return left, right, err
		}
		for i, c := range left {
			if c == ' ' {
				return left[:i], append(right, left[i+1:]...), nil
			}
		}
		return left, right, errNotPair
	}
	n := 0
	err = r.array(func(i int) error {
		var err error
		switch n++; i {
		case 0:
			left, err = r.str(left)
		case 1:
			right, err = r.str(right)
		default:
			err = errNotPair
		}
		return err
	})
	if err == nil && n != 2 {
		err = errNotPair
	}
	return left, right, err
}
