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
func keyStreamsQ8AVX2X1(args *kvStreamArgs)

//go:noescape
func keyStreamsQ8AVX2X2(args *kvStreamArgs)

//go:noescape
func keyStreamsQ8AVX2X3(args *kvStreamArgs)

//go:noescape
func keyStreamsQ8AVX2X4(args *kvStreamArgs)

//go:noescape
func valueStreamsQ8AVX2X1(args *kvStreamArgs)

//go:noescape
func valueStreamsQ8AVX2X2(args *kvStreamArgs)

//go:noescape
func valueStreamsQ8AVX2X3(args *kvStreamArgs)

//go:noescape
func valueStreamsQ8AVX2X4(args *kvStreamArgs)

// sortColumns puts n times 16 sums of BF16 numbers in order.
//
//go:noescape
func sortColumns(x *float32, n int)

// kvStreamKernels has the kernels for each number of rows.
var kvStreamKernels = [kvTypes]struct{ keys, values [KVStreamRows + 1]streamFunc }{
	KVF16:  {streamsF16, streamsF16},
	KVBF16: {streamsBF16, streamsBF16},
	KVQ8: {
		[...]streamFunc{1: keyStreamsQ8AVX2X1, 2: keyStreamsQ8AVX2X2, 3: keyStreamsQ8AVX2X3, 4: keyStreamsQ8AVX2X4},
		[...]streamFunc{1: valueStreamsQ8AVX2X1, 2: valueStreamsQ8AVX2X2, 3: valueStreamsQ8AVX2X3, 4: valueStreamsQ8AVX2X4},
	},
}

// Floats have the same kernels for both products.
var (
	streamsF16  = [...]streamFunc{1: streamsF16AVX2X1, 2: streamsF16AVX2X2, 3: streamsF16AVX2X3, 4: streamsF16AVX2X4}
	streamsBF16 = [...]streamFunc{1: streamsBF16AVX2X1, 2: streamsBF16AVX2X2, 3: streamsBF16AVX2X3, 4: streamsBF16AVX2X4}
)

func hasStreams() bool { return active == avx2 }

// streamKernel is the kernel for several segments of this product, or nil.
func streamKernel(p *KVProduct) streamFunc {
	if !hasStreams() || p.Rows > KVStreamRows || p.B.dim%BlockCols != 0 {
		return nil
	}
	if p.B.Keys {
		return kvStreamKernels[p.B.Type].keys[p.Rows]
	}
	return kvStreamKernels[p.B.Type].values[p.Rows]
}
