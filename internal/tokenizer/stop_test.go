// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"strings"
	"testing"
)

// A text was tokenised to its end though nobody wanted the IDs any more: words, one long word, and segments of a prompt.
func TestEncodingEndsOnceItIsStopped(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	const size = 1 << 18
	for _, name := range fixtureNames {
		tok := load(t, name)
		for what, text := range map[string]string{"words": strings.Repeat("some words ", size/11), "a word": strings.Repeat("abc", size/3)} {
			whole := tok.Encode(text, Options{})
			if len(whole) < 10 {
				continue // it is unknown as a whole
			}
			for way, ids := range map[string]int{
				"text":     len(tok.Encode(text, Options{Stop: closed})),
				"segments": len(tok.EncodeSegments([]Segment{{text, true}, {text, false}}, Options{Stop: closed})),
			} {
				if ids > len(whole)/4 {
					t.Errorf("%s: %s as %s: %d IDs of %d though it was stopped", name, what, way, ids, len(whole))
				}
			}
			if again := tok.Encode(text, Options{Stop: make(chan struct{})}); !slices.Equal(again, whole) {
				t.Errorf("%s: %s: other IDs after it was stopped once", name, what)
			}
		}
	}
}
