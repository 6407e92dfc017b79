// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
)

// checkReferences compares the IDs of texts as data with those that the file's own package gave.
func checkReferences(t *testing.T, tok *Tokenizer, name string, skip func(text string) bool) {
	t.Helper()
	n := 0
	for _, r := range references(t, name) {
		if skip != nil && skip(string(r.Text)) {
			continue
		}
		n++
		if got := tok.Encode(string(r.Text), Options{}); !slices.Equal(got, r.IDs) {
			t.Fatalf("%s: Encode(%+q):\n%s", name, r.Text, cmp.Diff(r.IDs, got))
		}
	}
	if n < 50 {
		t.Errorf("%s: only %d texts were compared", name, n)
	}
}

func TestSentencePieceGivesTheIDsOfItsPackage(t *testing.T) {
	tok, err := FromSentencePiece(unzip(t, "spbpe.model.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkReferences(t, tok, "spbpe", nil)
	if got := tok.Encode("a", Options{AddSpecial: true}); got[0] != 1 || !slices.Equal(tok.EOG(), []token.ID{2}) {
		t.Errorf("with special tokens %v, ends %v; want <s>, 1, in front and </s>, 2", got, tok.EOG())
	}
	if got := tok.Decode(tok.Encode(" two  spaces é👍", Options{}), false); got != " two  spaces é👍" {
		t.Errorf("decoded %q", got)
	}
	tok, err = FromSentencePiece(unzip(t, "spunigram.model.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	// transformers makes control tokens of their text.
	checkReferences(t, tok, "spunigram", func(s string) bool {
		return strings.Contains(s, "<s>") || strings.Contains(s, "</s>") || strings.Contains(s, "<unk>")
	})
}

func TestSentencePieceTakesTokensOfTheConfiguration(t *testing.T) {
	const config = `{"tokenizer_class":"LlamaTokenizerFast","add_bos_token":false,"eos_token":"<|im_end|>","legacy":%,"added_tokens_decoder":{
		"1":{"content":"<s>","special":true},"1600":{"content":"<|im_end|>","special":true,"rstrip":true},"1601":{"content":"<mark>"}}}`
	for legacy, again := range map[string]bool{"true": true, "false": false} {
		tok, err := FromSentencePiece(unzip(t, "spbpe.model.gz"), []byte(strings.Replace(config, "%", legacy, 1)))
		if err != nil {
			t.Fatal(err)
		}
		ids := tok.Encode("a<|im_end|> \n b<mark>", Options{ParseSpecial: true, AddSpecial: true})
		if ids[0] == 1 || ids[len(ids)-1] != 1601 || !slices.Contains(ids, 1600) || !slices.Equal(tok.EOG(), []token.ID{1600}) {
			t.Errorf("legacy %s: %v, ends %v", legacy, ids, tok.EOG())
		}
		after := tok.Decode(ids[slices.Index(ids, 1600)+1:][:1], false)
		if piece := tok.Piece(ids[slices.Index(ids, 1600)+1]); strings.HasPrefix(piece, spaceMark) != again {
			t.Errorf("legacy %s: %q (%q) follows the added token", legacy, piece, after)
		}
	}
}

func TestTiktokenGivesTheIDsOfItsPackage(t *testing.T) {
	data := unzip(t, "ranked.tiktoken.gz")
	if !IsTiktoken(data) || IsTiktoken(unzip(t, "spbpe.model.gz")) {
		t.Error("the kinds of tokenizer.model are not told apart")
	}
	for name, config := range map[string]string{
		"kimi-tiktoken": `{"tokenizer_class":"TikTokenTokenizer"}`, "qwen-tiktoken": `{"tokenizer_class":"QWenTokenizer"}`,
	} {
		tok, err := FromTiktoken(data, []byte(config))
		if err != nil {
			t.Fatal(err)
		}
		checkReferences(t, tok, name, nil)
	}
}

func TestTiktokenHasTheSpecialTokensOfItsModel(t *testing.T) {
	data := []byte("YQ== 0\nYg== 1\nYWI= 2\n")
	for _, tt := range []struct {
		config, text string
		want         []token.ID
		eog          []token.ID
	}{
		{`{"tokenizer_class":"QWenTokenizer"}`, "<|im_start|>ab<|im_end|><|extra_204|>", []token.ID{4, 2, 5, 210}, []token.ID{3}},
		{`{"tokenizer_class":"PreTrainedTokenizerFast"}`, "<|eot_id|><|reserved_special_token_2|>", []token.ID{3, 12, 8}, []token.ID{4}},
		{
			`{"tokenizer_class":"TikTokenTokenizer","eos_token":"[EOS]","added_tokens_decoder":{"4":{"content":"[EOS]","special":true}}}`,
			"[EOS]<|reserved_token_3|><|reserved_token_260|>",
			[]token.ID{4, 3, 260},
			[]token.ID{4},
		},
		{
			`{"tokenizer_class":"ChatGLM4Tokenizer","added_tokens_decoder":{"3":{"content":"<|endoftext|>","special":true},"7":{"content":"[gMASK]","special":true},"8":{"content":"<sop>","special":true}}}`,
			"a",
			[]token.ID{7, 8, 0},
			[]token.ID{3},
		},
	} {
		tok, err := FromTiktoken(data, []byte(tt.config))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode(tt.text, Options{ParseSpecial: true, AddSpecial: true}); !slices.Equal(got, tt.want) || !slices.Equal(tok.EOG(), tt.eog) {
			t.Errorf("%s: %q becomes %v, ends %v; want %v and %v", tt.config, tt.text, got, tok.EOG(), tt.want, tt.eog)
		}
	}
}

// vocabFilesOf takes a tokenizer.json apart into the older files.
func vocabFilesOf(t *testing.T, name, class string) VocabFiles {
	t.Helper()
	var d struct {
		Added []struct {
			ID      int
			Content string
		} `json:"added_tokens"`
		Model struct {
			Vocab  map[string]int
			Merges []any
		}
	}
	if err := json.Unmarshal(unzip(t, name+".json.gz"), &d); err != nil {
		t.Fatal(err)
	}
	f := VocabFiles{Config: []byte(`{"tokenizer_class":"` + class + `","additional_special_tokens":["<|im_start|>",{"content":"<|im_end|>"}]}`)}
	if class == bertClass {
		pieces := make([]string, len(d.Model.Vocab))
		for piece, id := range d.Model.Vocab {
			pieces[id] = piece
		}
		f.Vocab = []byte(strings.Join(pieces, "\r\n") + "\n")
		return f
	}
	var err error
	if f.Vocab, err = json.Marshal(d.Model.Vocab); err != nil {
		t.Fatal(err)
	}
	added := map[string]int{}
	for _, a := range d.Added {
		added[a.Content] = a.ID
	}
	if f.Added, err = json.Marshal(added); err != nil {
		t.Fatal(err)
	}
	merges := []string{"#version: 0.2"}
	for _, m := range d.Model.Merges {
		if pair, ok := m.([]any); ok {
			merges = append(merges, pair[0].(string)+" "+pair[1].(string))
		} else {
			merges = append(merges, m.(string))
		}
	}
	f.Merges = []byte(strings.Join(merges, "\n") + "\n")
	return f
}

func TestVocabularyFilesGiveTheIDsOfTokenizerJSON(t *testing.T) {
	for name, class := range map[string]string{"gpt2": "GPT2Tokenizer", "qwen2": "Qwen2TokenizerFast", "bert": bertClass} {
		tok, err := FromVocabFiles(vocabFilesOf(t, name, class))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range references(t, name) {
			if got := tok.Encode(string(r.Text), Options{ParseSpecial: true}); !slices.Equal(got, r.IDs) {
				t.Fatalf("%s: Encode(%+q):\n%s", name, r.Text, cmp.Diff(r.IDs, got))
			}
		}
	}
}

// protoBytes is a field of bytes in a message.
func protoBytes(number byte, data string) string {
	return string([]byte{number<<3 | 2, byte(len(data))}) + data
}

func TestOtherTokenizerFilesAreRefusedByName(t *testing.T) {
	piece := protoBytes(1, protoBytes(1, "<unk>")+"\x18\x02")
	fromModel := func(model, config string) error {
		_, err := FromSentencePiece([]byte(model), []byte(config))
		return err
	}
	fromTiktoken := func(data, config string) error {
		_, err := FromTiktoken([]byte(data), []byte(config))
		return err
	}
	fromVocab := func(vocab, merges string) error {
		f := VocabFiles{Vocab: []byte(vocab), Config: []byte(`{"tokenizer_class":"BertTokenizer"}`)}
		if merges != "" {
			f.Merges, f.Config = []byte(merges), []byte(`{"tokenizer_class":"GPT2Tokenizer"}`)
		}
		_, err := FromVocabFiles(f)
		return err
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fromModel("\x0a\xff", "{}"), "tokenizer.model: not in Protocol Buffers' format, or cut off"},
		{fromModel("", "{}"), "tokenizer.model: tokens: the file has none"},
		{fromModel(piece+protoBytes(2, "\x18\x04"), "{}"), "a model of whole words or single characters is not supported"},
		{fromModel(piece+protoBytes(3, "\x28\x00"), "{}"), "white space that is not marked is not supported"},
		{fromModel(protoBytes(1, protoBytes(1, "\xff")), "{}"), "piece 0 is not valid UTF-8"},
		{fromModel(protoBytes(1, "\x18\x09"), "{}"), "piece 0 has unknown type 9"},
		{fromModel(piece, `{"tokenizer_class":"XLMRobertaTokenizer"}`), `tokenizer_class "XLMRobertaTokenizer"`},
		{fromModel(piece, `{"added_tokens_decoder":{"900000":{"content":"x"}}}`), "ID 900000 in a vocabulary of 1 pieces"},
		{fromModel(piece, `{"added_tokens_decoder":{"0":{"content":"x"}}}`), `"x" is "<unk>" already`},
		{fromTiktoken("YQ== 0\n", `{"tokenizer_class":"Phi3SmallTokenizer"}`), `its pattern is not known for tokenizer_class "Phi3SmallTokenizer"`},
		{fromTiktoken("YQ== 0\nYg== 7\n", `{"tokenizer_class":"QWenTokenizer"}`), "line 2: rank 7, want 1"},
		{fromTiktoken("YQ== 0\nYg\n", `{"tokenizer_class":"QWenTokenizer"}`), "line 2: want a piece in base64 and its rank"},
		{fromTiktoken("", `{"tokenizer_class":"QWenTokenizer"}`), "it has no pieces"},
		{fromTiktoken("YQ== 0\n", `{"tokenizer_class":"ChatGLM4Tokenizer"}`), "added_tokens_decoder has no [gMASK]"},
		{fromVocab(`{"a":0}, "x": 1`, "a a"), "vocab.json: not one JSON object"},
		{fromVocab(`{"a":0}`, "a a a"), "merges.txt: line 1: not two pieces"},
		{fromVocab("a\nb\n", ""), "is not in the vocabulary"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", tt.err, tt.want)
		}
	}
}

func FuzzFromSentencePiece(f *testing.F) {
	f.Add([]byte(protoBytes(1, protoBytes(1, "<unk>")+"\x18\x02")+protoBytes(1, protoBytes(1, "a"))+protoBytes(2, "\x18\x02")), "aabb c<s>")
	f.Add([]byte(protoBytes(1, protoBytes(1, "<unk>")+"\x18\x02")+protoBytes(1, protoBytes(1, "▁a"))+protoBytes(3, "\x20\x00")), " a a")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := FromSentencePiece(data, nil)
		if err != nil {
			return
		}
		ids := tok.Encode(text, Options{ParseSpecial: true, AddSpecial: true})
		if !utf8.ValidString(tok.Decode(ids, false)) {
			t.Errorf("Decode(%v) is not valid UTF-8", ids)
		}
	})
}

func FuzzFromTiktoken(f *testing.F) {
	f.Add([]byte("YQ== 0\nYg== 1\nYWI= 2\n"), "abab<|im_end|>")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := FromTiktoken(data, []byte(`{"tokenizer_class":"QWenTokenizer"}`))
		if err != nil {
			return
		}
		ids := tok.Encode(text, Options{ParseSpecial: true, AddSpecial: true})
		if !utf8.ValidString(tok.Decode(ids, false)) {
			t.Errorf("Decode(%v) is not valid UTF-8", ids)
		}
	})
}
