// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "github.com/sampo-ai/sampo/internal/token"

// A Vocab is what a GGUF file says about its tokenizer, under the names of its tokenizer.ggml.* keys. Special IDs
// that the file does not name are token.None; a nil switch means that the file leaves it to the model type.
type Vocab struct {
	Model  string // "gpt2": byte-level BPE; "llama": SentencePiece BPE with scores; "gemma4": the same with merges; "t5"; "bert"
	Pre    string // name of the pre-tokenizer, for gpt2
	Tokens []string
	Scores []float32 // for llama and t5; one for each token
	Types  []int32   // token.Kind of each token; nil: all normal
	Merges []string  // "left right", best first, for gpt2 and gemma4

	BOS, EOS, EOT, EOM, UNK, PAD token.ID
	CLS, SEP                     token.ID   // what bert puts around a text; without them BOS and EOS
	MoreEOG                      []token.ID // further ends of generation, such as the FIM ones

	AddBOS, AddEOS, AddSpacePrefix *bool
	AddSEP                         *bool  // for bert, in place of AddEOS
	RemoveExtraSpaces              *bool  // for t5 and llama: remove_extra_whitespaces
	CharsMap                       []byte // for t5 and llama: precompiled_charsmap
	Lowercase, StripAccents        *bool  // for bert: normalizer.lowercase, normalizer.strip_accents
}

// NewVocab returns a Vocab whose special IDs are all token.None.
func NewVocab() Vocab {
	n := token.None
	return Vocab{BOS: n, EOS: n, EOT: n, EOM: n, UNK: n, PAD: n, CLS: n, SEP: n}
}
