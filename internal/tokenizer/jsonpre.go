// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"unicode/utf8"
)

func (b *builder) preTokenizer(f *jsonFile) error {
	loadProps()
	return f.each("pre_tokenizer", "pretokenizers", func(s stage) error {
		if b.byteLevel {
			return s.fail("%s after ByteLevel is not supported", s.kind)
		}
		switch s.kind {
		case "ByteLevel":
			return b.preByteLevel(s)
		case "Split":
			return b.preSplit(s)
		case "Digits":
			return b.preDigits(s)
		case "Metaspace":
			return b.preMetaspace(s)
		case "Whitespace":
			b.splitBy(scanWhitespace)
			return nil
		case "WhitespaceSplit":
			b.splitBy(bertSpaces)
			return nil
		case "BertPreTokenizer":
			b.splitBy(bertSpaces)
			b.splitBy(bertPuncts)
			return nil
		case "Punctuation":
			behavior, ok := s.String("behavior")
			if !ok {
				behavior = "Isolated"
			}
			return b.splitPieces(s, runePieces(isBertPunct), behavior)
		case "CharDelimiterSplit":
			mark, ok := s.String("delimiter")
			if !ok || utf8.RuneCountInString(mark) != 1 {
				return s.fail("delimiter: want one character")
			}
			return b.splitPieces(s, stringPieces(mark), "Removed")
		}
		return s.unknown()
	})
}

func (b *builder) splitBy(scan splitter) { b.t.pre = append(b.t.pre, preStep{split: scan}) }

// splitPieces splits by what find finds.
func (b *builder) splitPieces(s stage, find pieces, behavior string) error {
	scan, err := splitting(find, behavior, false)
	if err != nil {
		return s.fail("%w", err)
	}
	b.splitBy(scan)
	return nil
}

func (b *builder) preDigits(s stage) error {
	individual, err := s.flag("individual_digits", false)
	if individual {
		b.splitBy(scanDigits)
	} else {
		b.splitBy(scanDigitRuns)
	}
	return err
}

func (b *builder) preByteLevel(s stage) error {
	b.byteLevel = true
	prefix, err := s.flag("add_prefix_space", true)
	if err != nil {
		return err
	}
	if prefix {
		b.t.pre = append(b.t.pre, preStep{rewrite: prefixer{mark: " ", prefix: true}.rewrite})
	}
	regex, err := s.flag("use_regex", true)
	if err != nil {
		return err
	}
	if regex {
		b.splitBy(scanGPT2)
	}
	return nil
}

// preSplit reads a Split by a string or an expression. Those that have a scanner are split by that, where the behaviour makes words
// of all matches.
func (b *builder) preSplit(s stage) error {
	behavior, _ := s.String("behavior")
	invert, err := s.flag("invert", false)
	if err != nil {
		return err
	}
	text, pattern, err := s.pattern()
	if err != nil {
		return err
	}
	find := stringPieces(text)
	if text == "" {
		if scan := scannerOf(pattern, behavior, invert); scan != nil {
			b.splitBy(scan)
			return nil
		}
		re, err := compileRegex(pattern)
		switch {
		case err != nil:
			return s.fail("%w", err)
		case re.before:
			return s.fail("a pattern that looks back is not supported here")
		case re.empty && behavior != "Isolated" && behavior != "Removed":
			return s.fail("behavior %q with a pattern that may match nothing is not supported", behavior)
		}
		find = re.pieces
	} else if !invert && utf8.RuneCountInString(text) == 1 {
		switch behavior {
		case "MergedWithPrevious":
			b.splitBy(scanAfter(text))
			return nil
		case "MergedWithNext":
			b.splitBy(scanBefore(text))
			return nil
		}
	}
	scan, err := splitting(find, behavior, invert)
	if err != nil {
		return s.fail("%w", err)
	}
	b.splitBy(scan)
	return nil
}

// scannerOf returns the scanner that does what splitting by the pattern does; nil if there is none.
func scannerOf(regex, behavior string, invert bool) splitter {
	for _, p := range patterns {
		if p.regex == regex && (behavior == "Isolated" && (!invert || p.covers) || behavior == "Removed" && invert && p.covers) {
			return p.scan
		}
	}
	return nil
}

func (b *builder) preMetaspace(s stage) error {
	mark, ok := s.String("replacement")
	if !ok || utf8.RuneCountInString(mark) != 1 {
		return s.fail("replacement: want one character")
	}
	scheme, err := s.scheme()
	if err != nil {
		return err
	}
	split, err := s.flag("split", true)
	if err != nil {
		return err
	}
	if scheme == "first" && slices.ContainsFunc(b.t.pre, func(p preStep) bool { return p.rewrite != nil }) {
		return s.fail("prepend_scheme %q after another stage that adds characters is not supported", scheme)
	}
	p := prefixer{mark: mark, spaces: true, prefix: scheme != "never", firstOnly: scheme == "first"}
	b.t.pre = append(b.t.pre, preStep{rewrite: p.rewrite})
	if split {
		b.splitBy(scanBefore(mark))
	}
	return nil
}

// scheme returns when a Metaspace puts its mark before a piece: always, first or never.
func (s stage) scheme() (string, error) {
	add, err := s.flag("add_prefix_space", true)
	if err != nil {
		return "", err
	}
	scheme, ok := s.String("prepend_scheme")
	switch {
	case !ok && add:
		return "always", nil
	case !ok, scheme == "never":
		return "never", nil
	case add && (scheme == "always" || scheme == "first"):
		return scheme, nil
	}
	return "", s.fail("prepend_scheme %q with add_prefix_space %t is not supported", scheme, add)
}
