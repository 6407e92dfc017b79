// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math/bits"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// A softmaxState is an unfinished softmax of each row of a tile: values weighted by e^(score-maximum), and the sum of the
// weights.
//
// Shapes: maximum, sum [R]; values [R, W].
type softmaxState struct {
	maximum, sum, values []float32
	memory               []float32 // they lie in: see kernel.MergeSoftmax
}

// stateSize is the length of a state's memory.
func stateSize(stride int) int { return kernel.KVTileRows * (2 + stride) }

// softmaxStateIn is a state in memory of stateSize numbers.
func softmaxStateIn(memory []float32) softmaxState {
	const rows = kernel.KVTileRows
	return softmaxState{memory[:rows:rows], memory[rows : 2*rows : 2*rows], memory[2*rows:], memory}
}

// copyFrom copies the state of some rows, W apart.
func (s softmaxState) copyFrom(from softmaxState, rows, stride int) {
	copy(s.maximum[:rows], from.maximum)
	copy(s.sum[:rows], from.sum)
	copy(s.values[:rows*stride], from.values)
}

// A treeNode stands for size segments from first on. The size is a power of two, and first a multiple of it.
type treeNode struct{ first, size int32 }

// A softmaxTree merges the states of segments as the nodes of one binary tree over all segments of a sequence, in which those
// that do not exist count as empty. So the order of the merges, and with it each bit, does not depend on who did which
// segments. Nodes are added from left to right; what can't be merged yet waits in a stack.
type softmaxTree struct {
	rows, stride int            // R and W
	whole        bool           // nothing comes before the first node
	states       []softmaxState // those of nodes, and one that waits for its numbers
	nodes        []treeNode
}

// reserve makes room for sequences of so many segments.
func (t *softmaxTree) reserve(segments int) {
	depth := 2*bits.Len(uint(segments)) + 1 // sizes rise, then fall
	for len(t.states) <= depth {
		t.states = append(t.states, softmaxStateIn(make([]float32, stateSize(t.stride))))
	}
	if cap(t.nodes) < depth {
		t.nodes = make([]treeNode, 0, depth)
	}
}

// begin empties the tree, which is then for so many rows. Whole says that the first node to be added is the first that any row
// sees; else others have nodes before it.
func (t *softmaxTree) begin(rows int, whole bool) {
	t.rows, t.whole, t.nodes = rows, whole, t.nodes[:0]
}

// next is where the state of the node to be added belongs.
func (t *softmaxTree) next() softmaxState { return t.states[len(t.nodes)] }

// push adds a node with its state, for which it gives another one.
func (t *softmaxTree) push(state *softmaxState, node treeNode) {
	at := len(t.nodes)
	t.states[at], *state = *state, t.states[at]
	t.add(node)
}

// add adds the node whose state is in next.
func (t *softmaxTree) add(node treeNode) {
	t.nodes = append(t.nodes, node)
	for t.widen(); t.siblings(); t.widen() {
		n := len(t.nodes)
		t.merge(n - 2)
		t.nodes[n-2].size *= 2
		t.nodes = t.nodes[:n-1]
	}
}

// widen makes the first node its parent as long as it has an empty sibling on its left.
func (t *softmaxTree) widen() {
	if first := &t.nodes[0]; t.whole {
		for first.first&first.size != 0 {
			first.first -= first.size
			first.size *= 2
		}
	}
}

// siblings reports whether the last two nodes have the same parent.
func (t *softmaxTree) siblings() bool {
	n := len(t.nodes)
	if n < 2 {
		return false
	}
	left, right := t.nodes[n-2], t.nodes[n-1]
	return left.size == right.size && left.first&left.size == 0
}

// fold merges all nodes of a whole tree and returns the result: their sizes fall, and what is missing on their right is empty.
func (t *softmaxTree) fold() softmaxState {
	for n := len(t.nodes); n > 1; n-- {
		t.merge(n - 2)
	}
	t.nodes = t.nodes[:0]
	return t.states[0]
}

// merge adds the state of the node behind i to that of node i.
func (t *softmaxTree) merge(i int) {
	kernel.MergeSoftmax(t.states[i].memory, t.states[i+1].memory, t.rows, t.stride)
}

// treeNodes is how many nodes are left when the segments [low, high) have been added.
func treeNodes(low, high int) int {
	n := 0
	for ; low < high; n++ {
		size := 1 << (bits.Len(uint(high-low)) - 1)
		if low > 0 {
			size = min(size, low&-low)
		}
		low += size
	}
	return n
}
