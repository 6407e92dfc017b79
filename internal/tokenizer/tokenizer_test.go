// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

func TestControlTokensComeFromTemplatesOnly(t *testing.T) {
	tok := load(t, "qwen2")
	tok.MarkControl("<think>", "not in the vocabulary")
	start, _ := tok.ID("<|im_start|>")
	think, _ := tok.ID("<think>")
	call, _ := tok.ID("<tool_call>")
	for _, tt := range []struct {
		name string
		segs []Segment
		want []token.ID // of the special ones
	}{
		{"template", []Segment{{"<|im_start|><think><tool_call>", false}}, []token.ID{start, think, call}},
		{"data keeps only what is not control", []Segment{{"<|im_start|><think><tool_call>", true}}, []token.ID{call}},
		{"data after template", []Segment{{"<|im_start|>", false}, {"<|im_start|>", true}}, []token.ID{start}},
		{"half from data", []Segment{{"<|im_st", false}, {"art|>", true}}, nil},
		{"half from template", []Segment{{"<|im_st", true}, {"art|>", false}}, nil},
		{"data in the middle", []Segment{{"<|im_", false}, {"st", true}, {"art|>", false}}, nil},
		{"two template segments", []Segment{{"<|im_st", false}, {"", true}, {"art|>", false}}, []token.ID{start}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []token.ID
			for _, id := range tok.EncodeSegments(tt.segs, Options{}) {
				if tok.Kind(id) != token.Normal {
					got = append(got, id)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("special tokens %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNormalizedControlTokensComeFromTemplatesOnly(t *testing.T) {
	// The normalizer composes across borders of segments, so that places have to be followed through it.
	tok := load(t, "flags")
	tok.MarkControl("quotes")
	id, _ := tok.ID("quotes")
	for _, tt := range []struct {
		segs []Segment
		want int
	}{
		{[]Segment{{"e\u0301 quotes e\u0301", false}}, 1},
		{[]Segment{{"e\u0301 quotes e\u0301", true}}, 0},
		{[]Segment{{"e", false}, {"\u0301 quotes e", true}, {"\u0301 quotes", false}}, 1},
		{[]Segment{{"e\u0301 quotes e", false}, {"\u0301 quo", true}, {"tes", false}}, 1},
		{[]Segment{{"e\u0301 quo", false}, {"te", true}, {"s e\u0301", false}}, 0},
	} {
		ids := tok.EncodeSegments(tt.segs, Options{})
		n := 0
		for _, got := range ids {
			if got == id {
				n++
			}
		}
		if n != tt.want {
			t.Errorf("EncodeSegments(%v): %d control tokens, want %d", tt.segs, n, tt.want)
		}
	}
}

func TestMarkingAPlainPieceKeepsItOutOfData(t *testing.T) {
	tok := load(t, "gemma")
	const text = "1===2"
	id, ok := tok.ID("===")
	if !ok || !slices.Contains(tok.Encode(text, Options{}), id) {
		t.Fatal("the vocabulary does not make ===")
	}
	tok.MarkControl("===")
	if got := tok.Encode(text, Options{}); slices.Contains(got, id) {
		t.Errorf("Encode(%s) = %v, which has control token %d", text, got, id)
	}
	if got := tok.Encode(text, Options{ParseSpecial: true}); !slices.Contains(got, id) {
		t.Errorf("Encode(%s) with special tokens = %v, without %d", text, got, id)
	}
}

func TestLongWordsDoNotTakeForever(t *testing.T) {
	if testing.Short() {
		t.Skip("half a megabyte for each text and tokenizer")
	}
	for _, name := range []string{"llama3", "gemma"} {
		tok := load(t, name)
		for _, text := range []string{"a", " ", "é", "\n", "ab", "<"} {
			long := strings.Repeat(text, 1<<19/len(text))
			ids := tok.Encode(long, Options{}) // a search that is quadratic would outlast the test's time limit
			if got := tok.Decode(ids, false); got != long {
				t.Errorf("%s: 512 KiB of %q does not come back", name, text)
			}
		}
	}
}

func TestHeapAndSearchMergeAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"gpt2", "gemma", "llama2"} {
		tok := load(t, name)
		m := tok.model.(*bpe)
		e := newEncoder(tok.encoders.Get().(*encoder).seed)
		for range 500 {
			word := randomWord(random)
			m.split(e, word)
			m.rankAll(e, word)
			start := slices.Clone(e.symbols)
			m.mergeShort(e, word)
			short := slices.Clone(e.symbols)
			e.symbols = start
			m.mergeLong(e, word)
			if !slices.EqualFunc(short, e.symbols, func(a, b symbol) bool { return a.id == b.id && a.start == b.start }) {
				t.Fatalf("%s: %q: the heap gives %v, searching %v", name, word, e.symbols, short)
			}
		}
	}
}

func randomWord(random *rand.Rand) string {
	letters := []rune("aaaa==eentr ▁▁thäй的\n")
	word := make([]rune, 1+random.IntN(80))
	for i := range word {
		word[i] = letters[random.IntN(len(letters))]
	}
	return string(word)
}

func TestManyGoroutinesGetTheSameIDs(t *testing.T) {
	tok := load(t, "llama3")
	refs := references(t, "llama3")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, r := range refs {
				if got := tok.Encode(string(r.Text), Options{ParseSpecial: true}); !slices.Equal(got, r.IDs) {
					t.Errorf("Encode(%+q) = %v, want %v", r.Text, got, r.IDs)
				}
			}
		})
	}
	wg.Wait()
}

func TestVocabularyAnswersForAnyID(t *testing.T) {
	tok := load(t, "gemma")
	for _, id := range []token.ID{-1, token.ID(tok.VocabSize()), 1 << 30} {
		if tok.Bytes(id) != nil || tok.Piece(id) != "" || tok.Kind(id) != token.Unused || tok.Decode([]token.ID{id}, false) != "" {
			t.Errorf("ID %d outside the vocabulary has a meaning", id)
		}
	}
	longest := 0
	for id := range tok.VocabSize() {
		longest = max(longest, len(tok.Bytes(token.ID(id))))
		if got, ok := tok.ID(tok.Piece(token.ID(id))); !ok || got != token.ID(id) {
			t.Errorf("ID(Piece(%d)) = %d", id, got)
		}
	}
	if tok.MaxTokenBytes() != longest {
		t.Errorf("MaxTokenBytes() = %d, want %d", tok.MaxTokenBytes(), longest)
	}
	id, _ := tok.ID("▁a")
	if got := string(tok.Bytes(id)); got != " a" {
		t.Errorf("Bytes(▁a) = %q", got)
	}
	id, _ = tok.ID("<0xE4>")
	if got := string(tok.Bytes(id)); got != "\xe4" || tok.Kind(id) != token.Byte {
		t.Errorf("Bytes(<0xE4>) = %q of kind %d", got, tok.Kind(id))
	}
}

func TestBrokenTextIsRepairedAsInPython(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\xff\xfeb", "a\uFFFD\uFFFDb"},
		{"\xe2\x82x", "\uFFFDx"},
		{"\xe2\x82", "\uFFFD"},
		{"\xf0\x9f\x98\xf0\x9f\x98\x80", "\uFFFD😀"},
		{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"\xc0\x80", "\uFFFD\uFFFD"},
		{"\xe0\x80\x80", "\uFFFD\uFFFD\uFFFD"},
		{"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"\uFFFD", "\uFFFD"},
	} {
		if got := repair(tt.in); got != tt.want {
			t.Errorf("repair(%q) = %+q, want %+q", tt.in, got, tt.want)
		}
	}
}

func TestScannersMatchTheirPatterns(t *testing.T) {
	for _, tt := range []struct {
		name string
		scan splitter
		text string
		want string // words with | between
	}{
		{"gpt2 keeps one space for the word", scanGPT2, "a   b  ", "a|  | b|  "},
		{"gpt2 contractions are lower case", scanGPT2, "it's IT'S 'll", "it|'s| IT|'|S| '|ll"},
		{"llama3 contractions of any case", scanLlama3, "it's IT'S we'LL 'ſ", "it|'s| IT|'S| we|'LL| '|ſ"},
		{"llama3 three digits", scanLlama3, "12345 6", "123|45| |6"},
		{"qwen2 single digits", scanQwen2, "123", "1|2|3"},
		{"newlines end a run", scanLlama3, "a \r\n \n  b!\n\nc", "a| \r\n \n| | b|!\n\n|c"},
		{"a sign may lead a word", scanLlama3, "(a) $b \tc", "(a|)| $|b| |\tc"},
		{"marks are not letters", scanLlama3, "e\u0301a", "e|\u0301a"},
		{"gpt2 marks", scanGPT2, "e\u0301a", "e|\u0301|a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			loadClasses()
			var words []string
			for s := tt.text; s != ""; {
				n := tt.scan(s)
				words = append(words, s[:n])
				s = s[n:]
			}
			if got := strings.Join(words, "|"); got != tt.want {
				t.Errorf("%q splits into %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}
