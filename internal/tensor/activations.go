// SPDX-License-Identifier: Apache-2.0

package tensor

import "fmt"

// Activations are the input rows of matrix products, prepared once for all products that read them. The zero value is
// empty and ready for Set. Its memory grows to the largest input seen and is reused.
type Activations struct {
	x          []float32
	rows, cols int
}

// Set makes x the input of the following products. The x must stay unchanged until they are done.
//
// Shapes: x [t, e].
func (a *Activations) Set(p *Pool, x []float32, t, e int) {
	if len(x) < t*e || t < 0 || e <= 0 {
		panic(fmt.Sprintf("tensor: activations: got %d values, want [%d, %d]", len(x), t, e))
	}
	a.x, a.rows, a.cols = x[:t*e], t, e
}
