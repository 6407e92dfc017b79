// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/base64"
)

func (b *builder) normalizer(f *jsonFile) error {
	return f.each("normalizer", "normalizers", func(s stage) error {
		steps, err := s.normalizers()
		b.t.normal = append(b.t.normal, steps...)
		return err
	})
}

// plainNormalizers are those without options.
var plainNormalizers = map[string]normalizer{
	"NFC": forms["NFC"], "NFD": forms["NFD"], "NFKC": forms["NFKC"], "NFKD": forms["NFKD"],
	"Lowercase": lowercaser{}, "StripAccents": dropper(propAccent), "Nmt": mapper(nmt),
}

// normalizers returns what a stage of normalisation does.
func (s stage) normalizers() (normalizers, error) {
	loadProps()
	if n, ok := plainNormalizers[s.kind]; ok {
		return normalizers{n}, nil
	}
	switch s.kind {
	case "Replace":
		return s.replace()
	case "Prepend":
		prefix, ok := s.String("prepend")
		if !ok {
			return nil, s.fail("prepend: want a string")
		}
		return normalizers{prepender{prefix}}, nil
	case "Strip":
		left, err := s.flag("strip_left", true)
		if err != nil {
			return nil, err
		}
		right, err := s.flag("strip_right", true)
		return normalizers{stripper{left, right}}, err
	case "BertNormalizer":
		return s.bertNormalizer()
	case "Precompiled":
		return s.charsMap()
	}
	return nil, s.unknown()
}

// replace reads a Replace by a string or a pattern.
func (s stage) replace() (normalizers, error) {
	text, pattern, err := s.pattern()
	if err != nil {
		return nil, err
	}
	content, err := s.content()
	if err != nil {
		return nil, err
	}
	if text != "" {
		return normalizers{replacer{text, content}}, nil
	}
	re, err := compileRegex(pattern)
	if err != nil {
		return nil, s.fail("%w", err)
	}
	return normalizers{regexReplacer{re, content}}, nil
}

func (s stage) bertNormalizer() (normalizers, error) {
	var on [4]bool
	for i, name := range []string{"clean_text", "handle_chinese_chars", "lowercase"} {
		var err error
		if on[i], err = s.flag(name, true); err != nil {
			return nil, err
		}
	}
	accents, err := s.flag("strip_accents", on[2])
	return bertNormalizer(on[0], on[1], accents, on[2]), err
}

func (s stage) charsMap() (normalizers, error) {
	text, ok := s.String("precompiled_charsmap")
	if !ok {
		return nil, s.fail("precompiled_charsmap: want a string")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, s.fail("precompiled_charsmap: %w", err)
	}
	m, err := newCharsMap(data)
	if err != nil {
		return nil, s.fail("%w", err)
	}
	return normalizers{m}, nil
}
