// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

// longWords returns words that are hard to cut: runs, repetitions, few letters, whole texts without any cut.
func longWords(t *testing.T) []string {
	r := rand.New(rand.NewPCG(5, 6))
	words := []string{strings.Repeat("a", 5000), strings.Repeat("ab", 2500), strings.Repeat("=-", 1500) + strings.Repeat("▁", 900), strings.Repeat("é中👍", 500)}
	for range 8 {
		var b strings.Builder
		for letters := "aab ▁éethn中=0\n"; b.Len() < 4000; {
			all := []rune(letters)
			b.WriteString(strings.Repeat(string(all[r.IntN(len(all))]), 1+r.IntN(6)))
		}
		words = append(words, b.String())
	}
	var all strings.Builder
	for _, ref := range references(t, "gpt2") {
		all.WriteString(repair(string(ref.Text)))
	}
	return append(words, all.String())
}

// TestWindowsOfALongWordGiveTheSameIDs compares merging in small windows with merging the whole word.
func TestWindowsOfALongWordGiveTheSameIDs(t *testing.T) {
	words, cut := longWords(t), 0
	for _, name := range []string{"smollm", "gpt2", "llama3", "llama2", "gemma", "gpt4o", "tekken", "deepseek3"} {
		m, ok := load(t, name).model.(*bpe)
		if !ok || !m.splitsAlone() {
			t.Fatalf("%s is no BPE over all bytes", name)
		}
		e := newEncoder(maphash.MakeSeed())
		for i, word := range words {
			m.merge(e, word)
			var want []uint32
			for _, s := range e.symbols {
				want = append(want, s.id)
			}
			for _, window := range []int{64, 100, 333, 1024} {
				ids, ok := m.appendWindows(nil, e, word, window)
				if !ok {
					continue // merged as a whole then
				}
				cut++
				if !slices.EqualFunc(ids, want, func(a token.ID, b uint32) bool { return uint32(a) == b }) {
					t.Errorf("%s, word %d, windows of %d bytes: other IDs", name, i, window)
				}
			}
		}
	}
	if cut < 200 {
		t.Errorf("only %d words could be cut", cut)
	}
}

// TestForgettingPartsOfALongWordGivesTheSameIDs compares the Viterbi search in small windows with that of the whole word.
func TestForgettingPartsOfALongWordGivesTheSameIDs(t *testing.T) {
	words := longWords(t)
	for _, name := range []string{"t5", "xlmr", "unibytes"} {
		m, ok := load(t, name).model.(*unigram)
		if !ok {
			t.Fatalf("%s is no Unigram", name)
		}
		e := newEncoder(maphash.MakeSeed())
		for i, word := range words {
			want := m.appendBest(nil, e, word, len(word))
			for _, window := range []int{8, 50, 333} {
				if got := m.appendBest(nil, e, word, window); !slices.Equal(got, want) {
					t.Errorf("%s, word %d, windows of %d bytes: other IDs", name, i, window)
				}
			}
		}
	}
}
