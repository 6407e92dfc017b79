// SPDX-License-Identifier: Apache-2.0

package bench

// Work is what a computation needs of the machine, whoever does it: bytes that must come from memory, and multiply-adds
// by the kind of numbers.
type Work struct {
	Bytes            float64
	Int8, FP32, BF16 float64 // multiply-adds
}

// The limits that can bind a computation.
const (
	boundMemory  = "memory"
	boundCompute = "compute"
)

func (w Work) plus(o Work) Work {
	return Work{w.Bytes + o.Bytes, w.Int8 + o.Int8, w.FP32 + o.FP32, w.BF16 + o.BF16}
}

// times is the work done n times.
func (w Work) times(n float64) Work {
	return Work{w.Bytes * n, w.Int8 * n, w.FP32 * n, w.BF16 * n}
}

// macs is the work without its bytes.
func (w Work) macs() Work {
	w.Bytes = 0
	return w
}

// bytes is the work without its multiply-adds.
func (w Work) bytes() Work { return Work{Bytes: w.Bytes} }

// least returns the shortest time in which the machine can do the work, in seconds, and what binds it. Reading and
// computing go on side by side, so the longer of the two counts; the kinds of multiply-adds share the same units, so their
// times add up.
func (l Limits) least(w Work) (seconds float64, bound string) {
	bf16 := l.BF16GMACs
	if bf16 == 0 {
		bf16 = l.FP32GMACs // widened first
	}
	memory := seconds9(w.Bytes, l.ReadGBps)
	compute := seconds9(w.Int8, l.Int8GMACs) + seconds9(w.FP32, l.FP32GMACs) + seconds9(w.BF16, bf16)
	if memory >= compute {
		return memory, boundMemory
	}
	return compute, boundCompute
}

// seconds9 is the time of so many units at so many 10^9 a second. A limit that is not known takes no time.
func seconds9(units, rate float64) float64 {
	if rate <= 0 {
		return 0
	}
	return units / (rate * 1e9)
}

// share is the part of the limit that was reached when work took so long, and what bound it.
func (l Limits) share(w Work, seconds float64) (share float64, bound string) {
	least, bound := l.least(w)
	if seconds <= 0 {
		return 0, bound
	}
	return least / seconds, bound
}
