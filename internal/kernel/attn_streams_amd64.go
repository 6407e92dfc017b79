// SPDX-License-Identifier: Apache-2.0

package kernel

// A streamFunc multiplies a fixed number of rows with a block of each segment, a piece of each in turn.
type streamFunc func(args *kvStreamArgs)

//go:noescape
func streamsF16AVX2X1(args *kvStreamArgs)

//go:noescape
func streamsF16AVX2X2(args *kvStreamArgs)

//go:noescape
func streamsF16AVX2X3(args *kvStreamArgs)

//go:noescape
func streamsF16AVX2X4(args *kvStreamArgs)

//go:noescape
func streamsBF16AVX2X1(args *kvStreamArgs)

//go:noescape
func streamsBF16AVX2X2(args *kvStreamArgs)

//go:noescape
func streamsBF16AVX2X3(args *kvStreamArgs)

//go:noescape
func streamsBF16AVX2X4(args *kvStreamArgs)

// kvStreamKernels has a kernel for each number of rows, which does either product.
var kvStreamKernels = [kvTypes][KVStreamRows + 1]streamFunc{
	KVF16:  {1: streamsF16AVX2X1, 2: streamsF16AVX2X2, 3: streamsF16AVX2X3, 4: streamsF16AVX2X4},
	KVBF16: {1: streamsBF16AVX2X1, 2: streamsBF16AVX2X2, 3: streamsBF16AVX2X3, 4: streamsBF16AVX2X4},
}

// streamKernel is the kernel for several segments of this product, or nil.
func streamKernel(p *KVProduct) streamFunc {
	if active != avx2 || p.Rows > KVStreamRows || p.B.dim%BlockCols != 0 {
		return nil
	}
	return kvStreamKernels[p.B.Type][p.Rows]
}
