// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "testing"

// What the package tokenizers 0.23.3 gives.
func TestNormalizersRewriteAsHuggingFace(t *testing.T) {
	loadClasses()
	loadProps()
	for _, tt := range []struct {
		name     string
		n        normalizer
		in, want string
	}{
		{"lower case without context", lowercaser{}, "ΣΑΣ İI ẞ", "σασ i̇i ß"},
		{"lower case of new letters", lowercaser{}, "\u1c89\ua7cb\ua7dc\U00010d50\U00016ea0", "\u1c8a\u0264\u019b\U00010d70\U00016ebb"},
		{"NFKC leaves new characters", forms["NFKC"], "ﬁ\U0001e044㋿", "fi\U0001e044㋿"},
		{"NFKD leaves new characters", forms["NFKD"], "é\ua7f2½", "e\u0301\ua7f21⁄2"},
		{"accents are dropped", dropper(propAccent), "e\u0301\u0903x", "ex"},
		{"BERT keeps marks with a width", bertNormalizer(false, false, true, false), "é\u0903x", "e\u0903x"},
		{"BERT cleans", mapper(bertClean), "a\x00\tb\u200dc\u00a0\ufffd", "a bc "},
		{"BERT sets Chinese apart", spacer{}, "a中文b", "a 中  文 b"},
		{"translation spaces", mapper(nmt), "a\x01\u200bb\n\u2581\ufeff", "a b   "},
		{"strip one side", stripper{left: true}, " \u00a0a ", "a "},
	} {
		if got := tt.n.apply(tt.in, false); got != tt.want {
			t.Errorf("%s: %+q becomes %+q, want %+q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestTheBeginningIsKeptUnlessItIsStripped(t *testing.T) {
	n := normalizers{stripper{left: true, right: true}}
	if n.keepsStart(" a") || !n.keepsStart("a ") {
		t.Error("a leading space is stripped, a letter is not")
	}
	if !(normalizers{stripper{right: true}}).keepsStart("\n") {
		t.Error("only the end is stripped")
	}
}
