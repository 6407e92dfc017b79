// SPDX-License-Identifier: Apache-2.0

package kvcache

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/sampo-ai/sampo/internal/token"
)

// A Hash names a full block: it covers a salt and every token up to the block's end. It is SHA-256, because a
// collision that a client could construct would hand it another client's cache.
type Hash [sha256.Size]byte

// Root returns the name that a chain under salt starts from.
func Root(salt string) Hash {
	return sha256.Sum256(append([]byte("sampo kvcache root\x00"), salt...))
}

// LongRoot is the Root of sequences under the same salt whose keys differ from those of others with the same tokens, since
// they are longer than the model's LongAfter: none of their names is one of theirs.
func LongRoot(salt string) Hash { return Chain(Root(salt), nil) }

// A chainer extends hashes by the tokens of one block; it keeps the buffer that they are written to.
type chainer struct{ buf []byte }

// next returns the name of the block that holds tokens and follows the block named parent.
func (c *chainer) next(parent Hash, tokens []token.ID) Hash {
	c.buf = append(c.buf[:0], parent[:]...)
	for _, id := range tokens {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(id))
	}
	return sha256.Sum256(c.buf)
}

// Chain returns the name of the block that holds tokens and follows the block named parent.
func Chain(parent Hash, tokens []token.ID) Hash {
	var c chainer
	return c.next(parent, tokens)
}
