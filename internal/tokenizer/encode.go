// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// A model turns a word into IDs: bpe, unigram, wordPiece or wordLevel.
type model interface {
	// appendWord appends the IDs of a word, which is not empty, to dst.
	appendWord(dst []token.ID, e *encoder, word string) []token.ID
}

// Options say how Encode treats special tokens. The zero value is for text that came from outside.
type Options struct {
	ParseSpecial bool            // text of a control token becomes that token
	AddSpecial   bool            // add what the model expects around a text, such as BOS
	Stop         <-chan struct{} // once closed, Encode soon returns, with IDs that mean nothing; nil: it goes on to the end
}

// Encode returns the IDs of text. Bytes that are not UTF-8 count as U+FFFD, one for each maximal broken sequence.
func (t *Tokenizer) Encode(text string, opt Options) []token.ID {
	text = repair(text)
	var data []span
	if !opt.ParseSpecial && text != "" {
		data = []span{{0, len(text)}}
	}
	return t.encode(text, data, opt)
}

// EncodeSegments returns the IDs of the joined text of segs. Control tokens are found only where their whole text
// lies in segments that are not data, whatever opt says; all else is as if the text had never been cut.
func (t *Tokenizer) EncodeSegments(segs []Segment, opt Options) []token.ID {
	text, data := joinSegments(segs)
	if !utf8.ValidString(text) {
		whole := make([]Segment, len(segs))
		for i, s := range segs {
			whole[i] = Segment{repair(s.Text), s.Data}
		}
		text, data = joinSegments(whole)
	}
	return t.encode(text, data, opt)
}

// encode returns the IDs of valid text, of which data came from outside.
func (t *Tokenizer) encode(text string, data []span, opt Options) []token.ID {
	e := t.encoders.Get().(*encoder)
	defer t.encoders.Put(e)
	e.begin(opt.Stop)
	defer e.begin(nil)
	ids := make([]token.ID, 0, len(text)/3+8)
	if opt.AddSpecial {
		ids = append(ids, t.prefix...)
	}
	done := 0
	if t.rawAdded != nil {
		for s := (scan{m: t.rawAdded, text: text, allow: t.allowing(data)}); ; {
			m, ok := s.next()
			if !ok || e.stopped {
				break
			}
			if done < m.start {
				ids = t.appendPiece(ids, e, text, span{done, m.start}, data)
			}
			ids = append(ids, m.token.id)
			done = m.end
		}
	}
	if done < len(text) {
		ids = t.appendPiece(ids, e, text, span{done, len(text)}, data)
	}
	if opt.AddSpecial {
		ids = append(ids, t.suffix...)
	}
	return ids
}

// allowing returns which added tokens may be matched: control tokens only outside data.
func (t *Tokenizer) allowing(data []span) func(a *addedToken, start, end int) bool {
	if len(data) == 0 {
		return nil
	}
	return func(a *addedToken, start, end int) bool {
		return !isControl(t.kinds[a.id]) || !overlaps(data, start, end)
	}
}

// appendPiece appends the IDs of text[at.start:at.end], in which no raw added token is.
func (t *Tokenizer) appendPiece(ids []token.ID, e *encoder, text string, at span, data []span) []token.ID {
	raw := text[at.start:at.end]
	first := at.start == 0 && t.normal.keepsStart(raw)
	piece := t.normal.apply(raw, false)
	if t.normalAdded == nil {
		return t.appendWords(ids, e, word{piece, first}, t.pre)
	}
	inside := t.normal.follow(raw, piece, within(data, at))
	done := 0
	for s := (scan{m: t.normalAdded, text: piece, allow: t.allowing(inside)}); ; {
		m, ok := s.next()
		if !ok || e.stopped {
			break
		}
		if done < m.start {
			ids = t.appendWords(ids, e, word{piece[done:m.start], first}, t.pre)
		}
		ids = append(ids, m.token.id)
		done, first = m.end, false
	}
	if done < len(piece) {
		ids = t.appendWords(ids, e, word{piece[done:], first}, t.pre)
	}
	return ids
}

// within returns the parts of spans that lie in at, as offsets from its start.
func within(spans []span, at span) []span {
	var out []span
	for _, s := range spans {
		s = span{max(s.start, at.start) - at.start, min(s.end, at.end) - at.start}
		if s.start < s.end {
			out = append(out, s)
		}
	}
	return out
}

// A word is a piece on its way through the steps of the pre-tokenizer.
type word struct {
	text  string
	first bool // it begins the whole text
}

// appendWords splits w by the first step, each of its words by the next one, and appends the IDs of the last one's words.
func (t *Tokenizer) appendWords(ids []token.ID, e *encoder, w word, pre []preStep) []token.ID {
	if len(pre) == 0 {
		if w.text == "" {
			return ids
		}
		return e.appendCached(ids, t.model, w.text)
	}
	step, rest := pre[0], pre[1:]
	if step.rewrite != nil {
		w.text = step.rewrite(w.text, w.first)
	}
	if step.split == nil {
		return t.appendWords(ids, e, w, rest)
	}
	for s, first := w.text, w.first; len(s) > 0 && !e.stopped; first = false {
		n := step.split(s)
		switch {
		case n < 0:
			n = -n
		case len(rest) == 0:
			ids = e.appendCached(ids, t.model, s[:n])
		default:
			ids = t.appendWords(ids, e, word{s[:n], first}, rest)
		}
		s = s[n:]
	}
	return ids
}
