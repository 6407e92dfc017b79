// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/token"
)

// newMarked sets what all vocabularies share that mark spaces. Converters write added runs of the mark as runs of spaces.
func newMarked(v *Vocab) *Tokenizer {
	t := newFromVocab(v)
	for i, k := range t.kinds {
		if s := t.pieces[i]; k == token.UserDefined && s != "" && strings.Trim(s, " ") == "" {
			t.pieces[i] = strings.Repeat(spaceMark, len(s))
		}
	}
	return t
}

// newSpelled sets a model, still without ranks, whose pieces spell text as it is.
func (t *Tokenizer) newSpelled(v *Vocab) *bpe {
	m := &bpe{kinds: t.kinds, outside: t.outside, unknown: noID, fuseUnknown: true}
	m.pieces = newPieceTable(t.pieces, func(id int) bool { return t.pieces[id] != "" })
	m.setByteFallback()
	if v.UNK != token.None {
		m.unknown = uint32(v.UNK)
	}
	t.model = m
	return m
}

// fromLlama builds a SentencePiece BPE.
func fromLlama(v *Vocab) (*Tokenizer, error) {
	t := newMarked(v)
	plain := func(id int) bool {
		k := t.kinds[id]
		return k != token.Byte && !isControl(k) && t.pieces[id] != ""
	}
	scores := slices.Clone(v.Scores)
	for i, k := range t.kinds {
		if k == token.UserDefined {
			scores[i] = float32(math.Inf(1)) // their stored score means nothing
		}
	}
	ranks, err := newScoreRanks(t.pieces, scores, plain)
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	m := t.newSpelled(v)
	m.scores = ranks
	t.setSpelledBytes(normalizers{replacer{spaceMark, " "}}, true)
	t.addFromKinds()
	if err := t.rewriteCharacters(v, false); err != nil {
		return nil, err
	}
	if on(v.AddSpacePrefix, true) {
		t.normal = append(t.normal, prepender{spaceMark})
		t.decoding.stripLeft = 1
	}
	t.normal = append(t.normal, replacer{" ", spaceMark})
	t.cutAtJoints(m)
	t.surround(v, true)
	return t, nil
}

// fromGemma4 builds a BPE with merges over text whose spaces are marks.
func fromGemma4(v *Vocab) (*Tokenizer, error) {
	t := newMarked(v)
	m := t.newSpelled(v)
	if err := m.addMerges(v.Merges); err != nil {
		return nil, err
	}
	t.setSpelledBytes(normalizers{replacer{spaceMark, " "}}, true)
	t.addFromKinds()
	t.normal = normalizers{replacer{" ", spaceMark}}
	t.pre = steps(scanLines)
	t.cutAtJoints(m)
	t.surround(v, true)
	m.ban()
	return t, nil
}

// scanLines is [^\n]+|[\n]+.
func scanLines(s string) int {
	n := 0
	for n < len(s) && (s[n] == '\n') == (s[0] == '\n') {
		n++
	}
	return n
}

// fromT5 builds a Unigram.
func fromT5(v *Vocab) (*Tokenizer, error) {
	t := newMarked(v)
	scores := make([]float64, len(v.Scores))
	for i, s := range v.Scores {
		if math.IsNaN(float64(s)) {
			return nil, fmt.Errorf("scores: that of token %d is not a number", i)
		}
		scores[i] = float64(s)
	}
	bytes := 0
	m, err := newUnigram(t.pieces, scores, func(id int) bool {
		if t.kinds[id] == token.Byte {
			bytes++
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	m.kinds = t.kinds
	if v.UNK != token.None {
		m.unknown = uint32(v.UNK)
		t.setUnknown(v.UNK)
	}
	if bytes > 0 {
		m.setByteFallback()
	}
	t.model = m
	if err := t.spaceAsT5(v); err != nil {
		return nil, err
	}
	t.setSpelledBytes(normalizers{replacer{spaceMark, " "}}, m.fallback)
	t.addFromKinds()
	t.surround(v, false)
	if on(v.AddEOS, true) && v.EOS != token.None {
		t.suffix = []token.ID{v.EOS}
	}
	return t, nil
}

// rewriteCharacters sets the normalisation of SentencePiece: its map of characters, and the removal of spaces at the ends and of
// all but one elsewhere.
func (t *Tokenizer) rewriteCharacters(v *Vocab, trimByDefault bool) error {
	if len(v.CharsMap) > 0 {
		m, err := newCharsMap(v.CharsMap)
		if err != nil {
			return fmt.Errorf("precompiled_charsmap: %w", err)
		}
		t.normal = append(t.normal, m)
	}
	if on(v.RemoveExtraSpaces, trimByDefault) {
		runs, err := compileRegex(" {2,}")
		if err != nil {
			return err
		}
		t.normal = append(t.normal, stripper{true, true}, regexReplacer{runs, " "})
	}
	return nil
}

// spaceAsT5 sets the rewriting of characters and the treatment of spaces.
func (t *Tokenizer) spaceAsT5(v *Vocab) error {
	if err := t.rewriteCharacters(v, true); err != nil {
		return err
	}
	prefix := on(v.AddSpacePrefix, true)
	t.pre = []preStep{
		{rewrite: prefixer{mark: spaceMark, spaces: true, prefix: prefix}.rewrite},
		{split: scanBefore(spaceMark)},
	}
	if prefix {
		t.decoding.first = func(piece string) string { return strings.ReplaceAll(piece, spaceMark, "") }
	}
	return nil
}
