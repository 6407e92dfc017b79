// SPDX-License-Identifier: Apache-2.0

package kernel

// A Float is a type of float weights.
type Float int

const (
	F32 Float = iota
	F16
	BF16
	floats
)

// Bytes is the size of one value.
func (f Float) Bytes() int {
	if f == F32 {
		return 4
	}
	return 2
}

// value decodes the i-th value of b.
func (f Float) value(b []byte, i int) float32 {
	switch f {
	case F16:
		return halfAt(b, i)
	case BF16:
		return floatAt([]byte{0, 0, b[2*i], b[2*i+1]})
	}
	return floatAt(b[4*i:])
}

const (
	// DotRows is how many weight rows a kernel takes at once.
	DotRows = 4
	// dotCols is what the columns must be a multiple of.
	dotCols = 16
)

// A dotFunc multiplies DotRows rows of weights, wstride bytes apart, with one or four rows of activations, xstride bytes
// apart, over 16*blocks columns. Row t's outputs are the 4 floats at dst + t*ldd bytes.
type dotFunc func(dst *float32, ldd uintptr, w *byte, wstride uintptr, x *float32, xstride uintptr, blocks int)

// dotKernels are the kernels for one and for four rows of activations; nil where a tier has none.
type dotKernels struct{ one, four dotFunc }

var dotTiers [avx512 + 1][floats]dotKernels

// Dot sets dst to the products of rows of float weights with rows of activations.
//
// Shapes: dst [tokens, rows] with ldd floats from row to row; w [rows, cols] of type f; x [tokens, cols].
//
// A product is 16 partial sums, of the columns that are equal modulo 16, in ascending order, added as a tree. The avx2
// and avx512 tiers use fma and give equal bits. In plain Go a multiplication and an addition may round apart.
func Dot(f Float, dst []float32, ldd int, w []byte, x []float32, rows, tokens, cols int) {
	_ = dst[(tokens-1)*ldd+rows-1]
	_ = w[rows*cols*f.Bytes()-1]
	_ = x[tokens*cols-1]
	kernels := dotTiers[active][f]
	if kernels.one == nil || cols%dotCols != 0 {
		dotPlain(f, dst, ldd, w, x, rows, tokens, cols)
		return
	}
	wstride, xstride, blocks := uintptr(cols*f.Bytes()), uintptr(cols)*4, cols/dotCols
	for o := 0; o < rows; {
		few := rows-o < DotRows
		for t := 0; t < tokens; {
			kernel, step := kernels.one, 1
			if kernels.four != nil && tokens-t >= 4 {
				kernel, step = kernels.four, 4
			}
			weights, input := &w[o*int(wstride)], &x[t*cols]
			if few {
				dotOne(dst[t*ldd+o:], ldd, kernel, step, weights, input, xstride, blocks)
			} else {
				kernel(&dst[t*ldd+o], uintptr(ldd)*4, weights, wstride, input, xstride, blocks)
			}
			t += step
		}
		if few {
			o++
		} else {
			o += DotRows
		}
	}
}

// dotOne multiplies a single weight row, which the kernel takes four times.
func dotOne(dst []float32, ldd int, kernel dotFunc, tokens int, w *byte, x *float32, xstride uintptr, blocks int) {
	var four [4 * DotRows]float32
	kernel(&four[0], DotRows*4, w, 0, x, xstride, blocks)
	for t := range tokens {
		dst[t*ldd] = four[t*DotRows]
	}
}

// dotPlain is Dot in plain Go, for any number of columns.
func dotPlain(f Float, dst []float32, ldd int, w []byte, x []float32, rows, tokens, cols int) {
	for o := range rows {
		row := w[o*cols*f.Bytes():][:cols*f.Bytes()]
		for t := range tokens {
			dst[t*ldd+o] = dotRow(f, row, x[t*cols:][:cols])
		}
	}
}

func dotRow(f Float, w []byte, x []float32) float32 {
	var sums [dotCols]float32
	for at := 0; at < len(x); at += dotCols {
		for i, v := range x[at:min(at+dotCols, len(x))] {
			sums[i] += f.value(w, at+i) * v
		}
	}
	return sumTree(&sums)
}

// sumTree adds 16 numbers: 8 and 8, 4 and 4, 2 and 2, 1 and 1.
func sumTree(sums *[dotCols]float32) float32 {
	for n := dotCols / 2; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
