// SPDX-License-Identifier: Apache-2.0

package engine

import "math/bits"

// logitsBytes bounds the memory of logits: a step with more rows than fit goes through Head in several calls.
const logitsBytes = 64 << 20

// A logitRows is the memory for logits. It grows to the rows that steps have, in doubles: with 262,144 tokens all rows that a step may
// have take 64 MiB, and most servers decode a few sequences at once.
type logitRows struct {
	values []float32
	width  int // of a row: the model's vocabulary
	most   int // rows at once
}

// bounded returns memory for most rows, or as many as fit into logitsBytes.
func bounded(width, most int) logitRows {
	return logitRows{width: width, most: max(1, min(logitsBytes/(4*width), most))}
}

// first returns the first n rows, for others to set. What was in them may be lost.
//
// Shapes: returns [n, V], n at most l.most.
func (l *logitRows) first(n int) []float32 {
	if need := n * l.width; need > len(l.values) {
		l.values = make([]float32, min(l.most, 1<<bits.Len(uint(n-1)))*l.width)
	}
	return l.values[:n*l.width]
}

// row returns row i of those.
//
// Shapes: returns [V].
func (l *logitRows) row(i int) []float32 { return l.values[i*l.width:][:l.width] }
