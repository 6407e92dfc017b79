// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/token"
)

var errNoUnknown = errors.New("unknown_token_id: missing")

// fromBert builds a WordPiece. Its pieces are written with a mark where a word begins, and without BERT's mark of continuations;
// they are read back. (A continuation that begins with the first mark itself looks like a beginning; none is known.)
func fromBert(v *Vocab) (*Tokenizer, error) {
	const mark = "##"
	loadProps()
	t := newFromVocab(v)
	for i, piece := range t.pieces {
		switch rest, found := strings.CutPrefix(piece, spaceMark); {
		case found && rest != "":
			t.pieces[i] = rest
		case piece == "" || isControl(t.kinds[i]) || strings.HasPrefix(piece, "[") && strings.HasSuffix(piece, "]"):
		default:
			t.pieces[i] = mark + piece
		}
	}
	if t.unk == token.None {
		t.unk = token.ID(slices.Index(t.pieces, "[UNK]"))
	}
	if t.unk < 0 {
		return nil, errNoUnknown
	}
	t.setUnknown(t.unk)
	m := newWordPiece(t, mark)
	m.unknown, m.maxRunes = uint32(t.unk), maxWordRunes
	t.model = m
	lowercase := on(v.Lowercase, true)
	t.normal = bertNormalizer(true, true, on(v.StripAccents, lowercase), lowercase)
	t.pre = steps(bertSpaces, bertPuncts)
	c := continuation{prefix: mark, tidy: true}
	t.decoding.first = c.tidied
	t.setSpelledBytes(normalizers{c}, false)
	t.addFromKinds()
	t.surroundAsBert(v)
	return t, nil
}

// surroundAsBert sets what goes around a text: CLS and SEP, or in their place BOS and EOS.
func (t *Tokenizer) surroundAsBert(v *Vocab) {
	begin, end := v.CLS, v.SEP
	if begin == token.None {
		begin = v.BOS
	}
	if end == token.None {
		end = v.EOS
	}
	if begin != token.None && on(v.AddBOS, true) {
		t.prefix = []token.ID{begin}
	}
	if end != token.None && on(v.AddSEP, on(v.AddEOS, true)) {
		t.suffix = []token.ID{end}
	}
}
