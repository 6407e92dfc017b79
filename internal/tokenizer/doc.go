// SPDX-License-Identifier: Apache-2.0

// Package tokenizer turns text into token IDs and back, exactly as the tokenizer that a model was trained with.
//
// A text passes four stages, as in Hugging Face's tokenizers: added tokens (turn markers, runs of newlines ...) are
// cut out; what lies between them, a piece, is normalised; the pre-tokenizer splits a piece into words; the model
// (byte-level BPE, SentencePiece BPE with byte fallback, Unigram, WordPiece, whole words) turns each word into IDs.
// FromJSON reads these stages from a tokenizer.json, FromGGUF derives the same ones from a GGUF file's metadata. FromSentencePiece,
// FromTiktoken, FromTekken and FromVocabFiles read older kinds of files, which leave some stages to the model's own program.
//
// Pre-tokenizers are patterns of a dialect with look-ahead. Those of known families have scanners written by hand
// (patterns); all others run on a small backtracking engine (regex), which the scanners are tested against.
//
// Always true: the IDs of a text depend on the text and the options alone, not on caches or earlier calls; a Tokenizer
// may be used by many goroutines; a control token comes only from text that is not marked as data, or when the
// caller asks for it; the texts that a Decoder emits are valid UTF-8 and never end inside a rune.
//
// Anything in a file that is not understood exactly is refused by name. There is no fallback to a tokenizer that
// is nearly right.
//
// After Sennrich et al. 2016 (arXiv:1508.07909), Kudo 2018 (arXiv:1804.10959) and Kudo and Richardson 2018
// (arXiv:1808.06226).
package tokenizer
