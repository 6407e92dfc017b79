// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"slices"
	"strconv"
)

var errNotPair = errors.New("not two pieces with a space between")

// newByteLevel sets the model, still without merges, and the bytes of a byte-level vocabulary.
func (t *Tokenizer) newByteLevel() *bpe {
	spelled := make([]bool, len(t.pieces)) // in the alphabet, so that a word may become it
	t.raw = rawBytes{at: make([]uint32, 1, len(t.pieces)+1)}
	for id, piece := range t.decodedPieces() {
		t.raw.data, spelled[id] = appendAlphabet(t.raw.data, piece)
		if !spelled[id] {
			t.raw.append([]byte(piece)...)
		}
		t.raw.end()
	}
	m := &bpe{kinds: t.kinds, outside: t.outside, byteLevel: true, unknown: noID}
	m.pieces = newPieceTable(t.raw.strings(), func(id int) bool { return spelled[id] && t.pieces[id] != "" })
	m.newByteIDs(func(b byte) (uint32, bool) { return m.pieces.lookup(string([]byte{b})) })
	t.model = m
	return m
}

// decodedPieces returns the spellings that decoding goes by: as in the reference, an added token that is looked for after
// normalisation is decoded from its normalised form.
func (t *Tokenizer) decodedPieces() []string {
	pieces := t.pieces
	for _, a := range t.added {
		if !a.normalized {
			continue
		}
		if s := t.normal.apply(a.content, false); s != a.content {
			if &pieces[0] == &t.pieces[0] {
				pieces = slices.Clone(pieces)
			}
			pieces[a.id] = s
		}
	}
	return pieces
}

// setByteFallback finds the tokens of single bytes by their spelling.
func (m *bpe) setByteFallback() {
	m.newByteIDs(func(b byte) (uint32, bool) { return m.pieces.lookup(byteSpelling(b)) })
}

// setSpelledBytes sets the bytes of a vocabulary that spells text as it is: as the decoder rewrites each
// piece, and with fallback also the tokens of single bytes.
func (t *Tokenizer) setSpelledBytes(each normalizers, fallback bool) {
	t.raw = rawBytes{at: make([]uint32, 1, len(t.pieces)+1)}
	for _, piece := range t.decodedPieces() {
		piece = each.apply(piece, false)
		if b, ok := singleByte(piece); ok && fallback {
			t.raw.append(b)
		} else {
			t.raw.append([]byte(piece)...)
		}
		t.raw.end()
	}
}

// singleByte returns the byte that a piece such as <0x0A> stands for.
func singleByte(piece string) (byte, bool) {
	if len(piece) != len("<0x0A>") || piece[:3] != "<0x" || piece[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(piece[3:5], 16, 8)
	return byte(b), err == nil
}

// cutAtJoints lets words end where no piece reaches across, if that can't change any ID.
func (t *Tokenizer) cutAtJoints(m *bpe) {
	if m.byteLevel || m.ignoreMerges || !m.allBytes || m.mergesBytes() {
		return
	}
	j := newJoints()
	for _, piece := range m.pieces.text {
		j.add(piece)
	}
	t.pre = append(t.pre, preStep{split: j.next})
}

// mergesBytes reports whether some merge joins tokens of single bytes.
func (m *bpe) mergesBytes() bool {
	if m.pairs == nil {
		return false
	}
	single := make([]bool, len(m.pieces.text))
	for _, id := range m.byteIDs {
		single[id] = true
	}
	for _, s := range m.pairs.slots {
		if s.key != 0 && (single[uint32(s.key>>32)-1] || single[uint32(s.key)]) {
			return true
		}
	}
	return false
}
