// SPDX-License-Identifier: Apache-2.0

package tokenizer

// Words returns the words that a text without added tokens is normalised and split into, each of which the model then
// turns into IDs.
func (t *Tokenizer) Words(text string) []string {
	text = repair(text)
	first := t.normal.keepsStart(text)
	words := []word{{t.normal.apply(text, false), first}}
	for _, step := range t.pre {
		words = step.apply(words)
	}
	var out []string
	for _, w := range words {
		if w.text != "" {
			out = append(out, w.text)
		}
	}
	return out
}

// apply gives the words that a step makes of words.
func (s preStep) apply(words []word) []word {
	var out []word
	for _, w := range words {
		if s.rewrite != nil {
			w.text = s.rewrite(w.text, w.first)
		}
		if s.split == nil {
			out = append(out, w)
			continue
		}
		for w.text != "" {
			n := s.split(w.text)
			if n > 0 {
				out = append(out, word{w.text[:n], w.first})
			}
			w = word{w.text[max(n, -n):], false}
		}
	}
	return out
}
