// SPDX-License-Identifier: Apache-2.0

// Package kvcache decides which cache block holds which tokens.
//
// A block holds the keys and values of BlockSize consecutive tokens of one sequence in one group of layers. Layers
// form a Group when they remember alike: all tokens, or a window of the latest. Each group has its own blocks,
// numbered from 0. A sequence's Table lists its blocks, in order, for each group; entry i is for the tokens at
// positions [i*BlockSize, (i+1)*BlockSize), or None where a window has left them behind. A full block is named by a
// Hash of a salt and all tokens up to the block's end, so sequences that share a prefix share blocks, and a block
// whose last table let go of it keeps its name, and may be taken up again, until it is needed for something else.
//
// Always true: refs(b) is the number of tables that list b; b is in the free list exactly when refs(b) is 0; a name
// leads to the one block that carries it; a block that two tables list is never written to, a partly filled one is
// copied first. Pool.Check verifies this.
//
// With G groups, and a sequence of S tokens in S/BlockSize blocks, Match, Fork and Release take O(G * S/BlockSize);
// Grow and Commit take O(G * blocks they add, name or let go). Hashing reads each token once in a table's life. No
// operation looks at all blocks but Check, and those for a second tier: Unsaved, UnsavedLatest and Unsave. A freed block
// with a name waits behind all blocks that its tenant freed before; one without a name is used first.
//
// Only numbers live here; tensors are the model's business, and who waits for whom is the scheduler's.
//
// After Kwon et al. 2023 (arXiv:2309.06180), with hashing in place of a tree.
package kvcache
