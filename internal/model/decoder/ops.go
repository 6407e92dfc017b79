// SPDX-License-Identifier: Apache-2.0

package decoder

import "github.com/sampo-ai/sampo/internal/tensor"

// X returns the residual stream.
//
// Shapes: result [T, E], after the last layer's attention [N, E].
func (s *Step) X() []float32 { return s.x[:s.rows*s.cfg.Hidden] }

// Norm returns x after a norm, valid until the next Norm.
//
// Shapes: x, result [T, E]; the norm's weight [E].
func (s *Step) Norm(x []float32, n *Norm) []float32 {
	s.normed = grow(s.normed, len(x))
	s.source, s.current = x, n
	s.split(s.rows, s.cfg.Hidden, s.normRows)
	return s.normed
}

// Kept returns those rows of what the layer's attention got that are left after it: all, or in the last layer those whose
// hidden state is wanted.
//
// Shapes: x [T, E]; result [T, E], after the last layer's attention [N, E].
func (s *Step) Kept(x []float32) []float32 {
	if n := s.rows * s.cfg.Hidden; len(x) != n {
		return s.gathered[:n]
	}
	return x
}

// Add adds a branch to the residual stream, times Config.ResidualScale.
//
// Shapes: branch [T, E].
func (s *Step) Add(branch []float32) {
	s.source = branch
	s.split(s.rows, s.cfg.Hidden, s.addRows)
}

func (s *Step) norm(first, end int) {
	e := s.cfg.Hidden
	s.current.apply(s.cfg, s.normed[first*e:end*e], s.source[first*e:end*e])
}

func (s *Step) add(first, end int) {
	e := s.cfg.Hidden
	scale := s.cfg.ResidualScale
	if scale == 0 {
		scale = 1
	}
	tensor.Add(s.x[first*e:end*e], s.source[first*e:end*e], scale)
}

// embed sets rows of the residual stream to the embeddings of their tokens.
func (s *Step) embed(first, end int) {
	e := s.cfg.Hidden
	for t := first; t < end; t++ {
		row := s.x[t*e : (t+1)*e]
		s.embedding.Row(row, int(s.batch.Tokens[t]))
		if s.cfg.EmbeddingScale != 1 {
			tensor.Scale(row, s.cfg.EmbeddingScale)
		}
	}
}

// finishLogits scales and caps some of the values in source.
func (s *Step) finishLogits(first, end int) {
	logits := s.source[first:end]
	if scale := s.cfg.LogitScale; scale != 0 && scale != 1 {
		tensor.Scale(logits, scale)
	}
	if s.cfg.LogitCap != 0 {
		tensor.SoftCap(logits, s.cfg.LogitCap)
	}
}

// set prepares the input of products.
func (s *Step) set(a *tensor.Activations, x []float32, rows int) {
	if rows > 0 {
		a.Set(x, rows, len(x)/rows)
	}
}

// mul computes products of one input, with their biases. An input without rows has none.
func (s *Step) mul(a *tensor.Activations, products ...product) {
	if len(products[0].dst) == 0 {
		return
	}
	var all [3]tensor.Product
	for i, p := range products {
		all[i] = tensor.Product{Dst: p.dst, W: p.linear.W}
	}
	s.pool.Mul(a, all[:len(products)]...)
	for _, p := range products {
		if p.linear.Bias != nil {
			addBias(p.dst, p.linear.Bias)
		}
	}
}

// addBias adds bias to each row of x.
//
// Shapes: x [T, O]; bias [O].
func addBias(x, bias []float32) {
	for at := 0; at < len(x); at += len(bias) {
		tensor.Add(x[at:at+len(bias)], bias, 1)
	}
}

// threadWork is how many values make waking another thread worthwhile: about 10 microseconds of work.
const threadWork = 32 << 10

// split runs part over all rows, on several threads if there is enough to do. Cost is the values in a row.
func (s *Step) split(rows, cost int, part func(first, end int)) {
	chunks := 4 * s.pool.Threads() // some more than threads, in case one of them is held up
	s.splitBy((rows+chunks-1)/chunks, rows, cost, part)
}

// splitBy is split with a number of rows to do at once.
func (s *Step) splitBy(chunk, rows, cost int, part func(first, end int)) {
	if rows*cost < threadWork {
		part(0, rows)
		return
	}
	s.chunk, s.splitRows, s.part = chunk, rows, part
	s.pool.Do((rows+chunk-1)/chunk, s.chunkWork)
}

func (s *Step) runChunk(i, _ int) {
	s.part(i*s.chunk, min((i+1)*s.chunk, s.splitRows))
}

// gather copies rows of x to dst, which grows if it must, and returns it. If the rows ascend dst may be x.
//
// Shapes: x [T, width]; rows [n]; result [n, width].
func gather(dst, x []float32, rows []int32, width int) []float32 {
	dst = grow(dst, len(rows)*width)
	for i, row := range rows {
		copy(dst[i*width:(i+1)*width], x[int(row)*width:])
	}
	return dst
}

// grow returns a slice of n values, in buf's memory where that suffices. The values are not cleared.
func grow(buf []float32, n int) []float32 {
	if cap(buf) >= n {
		return buf[:n]
	}
	return make([]float32, n)
}
