// SPDX-License-Identifier: Apache-2.0

// Package weights says what a file of model weights is to the rest of the program: a Source of named tensors whose
// bytes stay in the file, mapped into memory.
//
// A Mapping is one file, mapped read-only. A Tensor is a view of a part of it. The readers of the two formats are
// the packages gguf and safetensors below this one.
//
// Always true: a reader checks every number of a file against the file's size before it allocates or slices, so that
// a damaged file gives a FileError and costs no memory out of proportion; the bytes of a Tensor are exactly those
// that its type and shape need; and a file named by another file lies in the model's own folder (OpenIn).
//
// Tensors are valid until their Source is closed. Nobody writes to them: the pages are read-only.
//
// A file that another program cuts short while it is mapped cannot be read safely by anyone: the operating system
// stops the process.
package weights
