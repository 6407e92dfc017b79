// SPDX-License-Identifier: Apache-2.0

// Package quantize writes a model as a GGUF file whose matrices have another type.
//
// A Scheme says which type each matrix gets: most get one, a few that matter more get a better one. A Model is what is
// written: metadata and Inputs, which are tensors of an open file with what has to be done to their rows on the way.
// FromGGUF and FromFolder make one; a Job writes it.
//
// Always true: memory is bounded by a few pieces of one tensor, however large the model; pages of the source are given
// back as it goes; the result does not depend on the number of threads; and a matrix that keeps its type keeps its bytes.
//
// Which matrices a scheme favours, and the names of keys and tensors, follow llama.cpp, so that it reads the files and
// they are as large as its own.
package quantize
