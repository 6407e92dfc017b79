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

//go:noescape
func streamsQ8AVX2X1(args *kvStreamArgs)

//go:noescape
func streamsQ8AVX2X2(args *kvStreamArgs)

//go:noescape
func streamsQ8AVX2X3(args *kvStreamArgs)

//go:noescape
func streamsQ8AVX2X4(args *kvStreamArgs)

// sortColumns puts n times 16 sums of BF16 numbers in order.
//
//go:noescape
func sortColumns(x *float32, n int)

// kvStreamKernels has the kernels for each number of rows.
var kvStreamKernels = [kvTypes][KVStreamRows + 1]streamFunc{
	KVF16:  {1: streamsF16AVX2X1, 2: streamsF16AVX2X2, 3: streamsF16AVX2X3, 4: streamsF16AVX2X4},
	KVBF16: {1: streamsBF16AVX2X1, 2: streamsBF16AVX2X2, 3: streamsBF16AVX2X3, 4: streamsBF16AVX2X4},
	KVQ8:   {1: streamsQ8AVX2X1, 2: streamsQ8AVX2X2, 3: streamsQ8AVX2X3, 4: streamsQ8AVX2X4},
}

func hasStreams() bool { return active == avx2 }

// streamKernel is the kernel for parts with the rows of this product, or nil.
func streamKernel(p *KVProduct) streamFunc {
	if !hasStreams() || p.Rows > KVStreamRows || p.B.dim%BlockCols != 0 {
		return nil
	}
	return kvStreamKernels[p.B.Type][p.Rows]
}
