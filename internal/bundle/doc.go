// SPDX-License-Identifier: Apache-2.0

// Package bundle opens everything that belongs to one model: configuration, weights, tokenizer, chat template and
// generation defaults.
//
// A bundle is one GGUF file, all files of a split one, a GGUF in memory (the models inside the program), or a folder
// as Hugging Face lays it out: config.json, safetensors files, tokenizer.json, and so on. The rest of the program
// does not know which it was.
//
// Open gives a Bundle that can run, or says why it cannot. Inspect gives the Facts of any model that can be read,
// also of one that this build does not run.
//
// Always true: no file outside the model's folder is opened, none is read past the limits below, and nothing is
// guessed: what a file does not say is absent.
package bundle

// Limits of what is read into memory; docs/limits.md lists them.
const (
	MaxTokenizerBytes = 256 << 20 // tokenizer.json; Gemma 3's is 33 MB
	maxConfigBytes    = 16 << 20  // every other JSON file
	maxTemplateBytes  = 1 << 20   // each chat template
	maxTemplates      = 64        // named chat templates
	maxReadmeBytes    = 1 << 20
	maxJSONDepth      = 64
)

// The formats of weights.
const (
	GGUF        = "gguf"
	Safetensors = "safetensors"
)
