// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// A Family knows how to read the configuration and the weights of one kind of model. The table of all families is in
// package families.
type Family struct {
	Name string
	GGUF []string // values of general.architecture
	HF   []string // entries of "architectures" in config.json

	// FromGGUF and FromHF read the configuration. They refuse, by name, what Load would not honour.
	FromGGUF func(meta *gguf.Metadata) (Config, error)
	FromHF   func(config *ordjson.Object) (Config, error)

	// Load builds the model with copies of the tensors of src.
	Load func(c Config, src weights.Source, pool *tensor.Pool, naming Naming) (Model, error)

	// HFParts has Hugging Face's names of parts of a layer, by GGUF name, in which the family differs from the others.
	HFParts map[string]string
}

// A Naming says whose names and conventions a file's tensors follow.
type Naming uint8

// The namings.
const (
	GGUF Naming = iota
	HuggingFace
)
