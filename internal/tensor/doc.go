// SPDX-License-Identifier: Apache-2.0

// Package tensor runs the arithmetic of a model over one pool of worker threads: matrix products of stored weights
// with rows of activations, and the element-wise operations between them.
//
// A Pool owns the threads. A Matrix is a weight tensor in the layout that its kernel wants. Activations are the input
// rows of one or several products, prepared once.
//
// Always true: the bits of an output row depend on the weights and on that input row only, not on the number of rows,
// on the number of threads or on which thread ran. For quantised weights they are also the same on every CPU tier.
//
// What is not here: what a layer is (package model) and the inner loops (package kernel).
package tensor
