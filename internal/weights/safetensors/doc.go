// SPDX-License-Identifier: Apache-2.0

// Package safetensors reads safetensors files: eight bytes that say how long the header is, a header in JSON that
// says where each tensor is, and the data.
//
// Open gives a Model, which is a weights.Source. A model may be sharded: an index, NAME.safetensors.index.json, says
// which file holds which tensor.
//
// Always true of an open Model: the tensors of a file cover its data from the first byte to the last without a gap or
// an overlap, each with the size that its type and shape need; names are unique; shards lie in the folder of their
// index and hold the tensors that the index promises.
//
// The data of a file begins wherever its header ends, so tensors may lie at odd addresses.
//
// The format is described in docs/formats/safetensors.md, after the documentation of huggingface/safetensors.
package safetensors

// Limits of what a file may ask for. They are far above any real model; docs/limits.md lists them.
const (
	maxHeaderBytes = 100_000_000 // as in the reference implementation
	maxIndexBytes  = 100_000_000
	maxTensors     = 1 << 20
	maxNameBytes   = 1 << 10
	maxDims        = 8
	maxShards      = 1 << 10
)
