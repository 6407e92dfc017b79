// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// small is a tokenizer.json of three letters, with %% where a test puts something else.
const small = `{"version":"1.0","truncation":{"max_length":2},"padding":null,
"added_tokens":[{"id":5,"content":"<s>","special":true,"normalized":false}],
"normalizer":null,
"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"ids":[5]}}},
"decoder":{"type":"ByteLevel"},
"model":{"type":"BPE","vocab":{"a":0,"b":1,"Ġ":2,"ab":3,"Ġab":4},"merges":["a b",["Ġ","ab"]]}}`

// smallSpelled is one of the SentencePiece kind, with most of the stages that small lacks.
const smallSpelled = `{"added_tokens":[{"id":7,"content":"lock","single_word":true,"lstrip":true,"rstrip":true,"normalized":true,"special":false}],
"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},{"type":"Digits","individual_digits":true},{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false}]},
"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},
"model":{"type":"BPE","unk_token":"?","fuse_unk":true,"byte_fallback":true,"ignore_merges":false,"vocab":{"?":0,"a":1,"b":2,"▁":3,"ab":4,"▁ab":5,"<0xC3>":6},"merges":["a b","▁ ab"]}}`

func TestReadsBothFormsOfMerges(t *testing.T) {
	tok, err := FromJSON([]byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := tok.Encode("ab ab<s>ba", Options{ParseSpecial: true, AddSpecial: true})
	if want := []token.ID{5, 3, 4, 5, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v", got, want)
	}
}

func TestReadsTheStagesOfSentencePiece(t *testing.T) {
	tok, err := FromJSON([]byte(smallSpelled), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := tok.Encode("ab\u00e4\u00e4b", Options{})
	if want := []token.ID{5, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v", got, want)
	}
	if got := tok.Decode([]token.ID{5, 3, 1}, false); got != "ab a" {
		t.Errorf("Decode = %q", got)
	}
}

func TestConfigNamesSpecialTokens(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		want         []token.ID // of "a" with special tokens
		eos          token.ID
	}{
		{"nothing said", `{}`, []token.ID{5, 0}, token.None},
		{"adds an end", `{"bos_token":"<s>","eos_token":{"content":"<s>"},"add_bos_token":false,"add_eos_token":true}`, []token.ID{0, 5}, 5},
		{"adds nothing", `{"bos_token":"<s>","add_bos_token":false}`, []token.ID{0}, token.None},
		{"adds a begin that it does not name", `{"add_bos_token":true}`, []token.ID{0}, token.None},
		{"names one that is not there", `{"eos_token":"</s>"}`, []token.ID{5, 0}, token.None},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok, err := FromJSON([]byte(small), []byte(tt.config))
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.Encode("a", Options{AddSpecial: true}); !slices.Equal(got, tt.want) {
				t.Errorf("Encode(a) = %v, want %v", got, tt.want)
			}
			if got, ok := tok.EOS(); got != tt.eos || ok != (tt.eos != token.None) {
				t.Errorf("EOS() = %d, %t, want %d", got, ok, tt.eos)
			}
		})
	}
}

func TestConfigAddsTokens(t *testing.T) {
	config := `{"added_tokens_decoder":{"5":{"content":"<s>","special":false,"normalized":false},"7":{"content":"<x>","special":true}},"eos_token":"Ġab"}`
	tok, err := FromJSON([]byte(small), []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.Encode("<s><x>", Options{ParseSpecial: true}), []token.ID{5, 7}; !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v", got, want)
	}
	for id, want := range map[token.ID]token.Kind{4: token.Control, 5: token.UserDefined, 6: token.Unused, 7: token.Control} {
		if got := tok.Kind(id); got != want {
			t.Errorf("Kind(%d) = %d, want %d", id, got, want)
		}
	}
}

func TestRefusesByNameAndPlace(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{`"normalizer":null`, `"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"ByteLevel"}]}`, `normalizer.normalizers[1]: type "ByteLevel" is not supported`},
		{`"normalizer":null`, `"normalizer":{"type":"Replace","pattern":{"Regex":"x(?<=y)"},"content":""}`, `normalizer: pattern, byte 3: this kind of group is not supported`},
		{`"normalizer":null`, `"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}`, `normalizer: the character map is damaged`},
		{`"normalizer":null`, `"normalizer":7`, `normalizer: want an object or null`},
		{`"type":"ByteLevel","add`, `"type":"UnicodeScripts","add`, `pre_tokenizer: type "UnicodeScripts" is not supported`},
		{`"use_regex":true`, `"use_regex":1`, `pre_tokenizer.use_regex: want true or false`},
		{`{"type":"ByteLevel","add_prefix_space":false,"use_regex":true}`, `{"type":"Split","pattern":{"Regex":"\\b"},"behavior":"Isolated","invert":false}`, `pre_tokenizer: a pattern that looks back is not supported here`},
		{`{"type":"ByteLevel","add_prefix_space":false,"use_regex":true}`, `{"type":"Split","pattern":{"Regex":"x*"},"behavior":"Contiguous","invert":false}`, `pre_tokenizer: behavior "Contiguous" with a pattern that may match nothing`},
		{`{"type":"ByteLevel","add_prefix_space":false,"use_regex":true}`, `{"type":"Split","pattern":{"Regex":"x"},"behavior":"Mixed","invert":false}`, `pre_tokenizer: behavior "Mixed" is not supported`},
		{`{"type":"ByteLevel","add_prefix_space":false,"use_regex":true}`, `{"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},{"type":"Digits"}]}`, `pre_tokenizer.pretokenizers[1]: Digits after ByteLevel is not supported`},
		{`"decoder":{"type":"ByteLevel"}`, `"decoder":{"type":"CTC"}`, `decoder: type "CTC" is not supported`},
		{`"decoder":{"type":"ByteLevel"}`, `"decoder":{"type":"BPEDecoder"}`, `decoder: type "BPEDecoder" is not supported`},
		{`"type":"TemplateProcessing"`, `"type":"Pairs"`, `post_processor: type "Pairs" is not supported`},
		{`"type":"TemplateProcessing"`, `"type":"BertProcessing","cls":["<s>",5],"sep":["<s>",50]`, `post_processor: sep: "50" is not an ID`},
		{`"ids":[5]`, `"ids":[50]`, `post_processor: single[0]: special token "<s>": "50" is not an ID`},
		{`"type":"BPE"`, `"type":"Lattice"`, `model: type "Lattice" is not supported, only [BPE`},
		{`"type":"BPE"`, `"type":"WordPiece","unk_token":"a"`, `model: WordPiece with a ByteLevel pre-tokenizer is not supported`},
		{`"type":"BPE"`, `"type":"Unigram"`, `model.vocab: at byte`},
		{`"type":"BPE"`, `"type":"BPE","dropout":0.1`, `model.dropout: 0.1 is not supported`},
		{`"type":"BPE"`, `"type":"BPE","end_of_word_suffix":"</w>"`, `model.end_of_word_suffix: </w> is not supported`},
		{`"type":"BPE"`, `"type":"BPE","unk_token":"?"`, `model.unk_token: "?" is not in the vocabulary`},
		{`"a b"`, `"a c"`, `model.merges[0]: "c" is not in the vocabulary`},
		{`["Ġ","ab"]`, `["Ġ","ab","b"]`, `model.merges[1]: not two pieces`},
		{`["Ġ","ab"]`, `["ab","a"]`, `model.merges[1]: "ab" and "a" make no piece`},
		{`"b":1`, `"b":-1`, `model.vocab: at byte 486: want an integer that is not negative`},
		{`"b":1`, `"b":0`, `model.vocab: "a" and "b" have the same ID 0`},
		{`"b":1`, `"b":3000000000`, `model.vocab: ID 3000000000 in a vocabulary of 5 pieces`},
		{`"id":5`, `"id":3`, `added token "<s>": ID 3 is "ab" already`},
		{`"id":5`, `"id":4000000`, `added token "<s>": ID 4000000 in a vocabulary of 5 pieces`},
		{`"id":5`, `"id":"5"`, `added_tokens[0].id: "" is not a token ID`},
		{`"special":true`, `"special":"yes"`, `added_tokens[0].special: want true or false`},
		{`"model"`, `"modell"`, `model: missing`},
		{`]}}`, `]}`, `at byte`},
		{`]}}`, `]}}x`, `at byte`},
		{`"a":0`, `"a\ud800":0`, `at byte`},
	} {
		text := strings.Replace(small, tt.old, tt.new, 1)
		_, err := FromJSON([]byte(text), nil)
		if err == nil || !strings.HasPrefix(err.Error(), "tokenizer: tokenizer.json: "+tt.want) && !(tt.want == "at byte" && strings.Contains(err.Error(), "at byte")) {
			t.Errorf("%s: error %v, want %s", tt.new, err, tt.want)
		}
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	text := strings.Replace(small, `"normalizer":null`, `"normalizer":`+strings.Repeat(`{"type":"Sequence","normalizers":[`, 100)+strings.Repeat(`]}`, 100), 1)
	if _, err := FromJSON([]byte(text), nil); err == nil || !strings.Contains(err.Error(), "nested more than 64 deep") {
		t.Errorf("error %v", err)
	}
}

func TestReaderReadsStringsAsEncodingJSONDoes(t *testing.T) {
	for _, in := range []string{`"a\u00e4\n\"\\\/"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00\ud83d"`, `"\x"`, `"a`, "\"a\x01\"", `"\u12g4"`, `""`} {
		var want string
		wantErr := json.Unmarshal([]byte(in), &want)
		got, err := (&jsonReader{data: []byte(in)}).str(nil)
		if strings.Contains(want, "\uFFFD") {
			wantErr = json.Unmarshal([]byte("x"), &want) // half a pair is an error here
		}
		if (err != nil) != (wantErr != nil) || err == nil && string(got) != want {
			t.Errorf("%s: got %q, %v, want %q, %v", in, got, err, want, wantErr)
		}
	}
}

func FuzzFromJSON(f *testing.F) {
	// Small seeds: the fuzzer spends its time on making large ones smaller.
	f.Add([]byte(small), "ab <s> x")
	f.Add([]byte(smallSpelled), "ab  a\u00e4 lock")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := FromJSON(data, nil)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tokenizer: tokenizer.json: ") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		tok.MarkControl("a", "lock", "<s>")
		for _, id := range tok.Encode(text, Options{AddSpecial: true}) {
			if id < 0 || int(id) >= tok.VocabSize() {
				t.Errorf("Encode gives ID %d of %d", id, tok.VocabSize())
			}
		}
		ids := tok.EncodeSegments([]Segment{{text, false}, {text, true}}, Options{AddSpecial: true})
		if !utf8.ValidString(tok.Decode(ids, true)) {
			t.Errorf("Decode(%v) is not valid UTF-8", ids)
		}
		checkStream(t, tok, ids)
	})
}

func FuzzEncode(f *testing.F) {
	var toks []*Tokenizer
	for _, name := range fixtureNames {
		toks = append(toks, load(f, name))
	}
	f.Add("a <|im_start|> \u0301\u0301 1234\r\n\n  x", 3)
	f.Add("\xff\xe2\x82", 1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		for i, tok := range toks {
			ids := tok.Encode(text, Options{})
			if n := fixtureNames[i]; n == "gpt2" || n == "smollm" || n == "llama3" {
				if got := tok.Decode(ids, false); got != repair(text) {
					t.Errorf("%s: %+q comes back as %+q", n, text, got)
				}
			}
			if at < 0 || at > len(text) || !utf8.ValidString(text) {
				continue
			}
			cut := tok.EncodeSegments([]Segment{{text[:at], true}, {text[at:], true}}, Options{})
			if !slices.Equal(cut, ids) {
				t.Errorf("%s: %+q cut at %d: %v, want %v", fixtureNames[i], text, at, cut, ids)
			}
		}
	})
}
