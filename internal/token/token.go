// SPDX-License-Identifier: Apache-2.0

// Package token names the things that a tokenizer and an engine exchange: token IDs, their kinds, and masks
// over a vocabulary.
//
// An ID is an index into one model's vocabulary; IDs of different models have nothing in common. A Mask is
// the set of IDs that a sampler may choose from.
//
// Nothing here knows text: package tokenizer turns text into IDs and back.
package token

// An ID is the index of a token in a model's vocabulary.
type ID int32

// None is the ID of no token.
const None ID = -1

// A Kind says what a vocabulary entry is for. The numbers are those of GGUF's tokenizer.ggml.token_type.
type Kind uint8

// The kinds of tokens.
const (
	Normal      Kind = 1 // ordinary text
	Unknown     Kind = 2 // stands for text that has no token
	Control     Kind = 3 // structure: BOS, EOS, turn markers; never made from data
	UserDefined Kind = 4 // matched in any text before the tokenizer's own rules
	Unused      Kind = 5 // a reserved slot
	Byte        Kind = 6 // one raw byte (SentencePiece byte fallback)
)
