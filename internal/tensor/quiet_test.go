// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// A quietTimer times passes that all threads of a pool have their cores for themselves in. The system does not tell whether the other
// half of a core works for somebody else, as on shared machines it does. So each thread does some arithmetic just before a pass and
// just after it, which then takes longer than it ever did.
type quietTimer struct {
	pool  *Pool
	times []time.Duration // of each thread
	least time.Duration
	look  func(i, worker int)
	sums  []uint64
}

const (
	quietPatience = 100 * time.Millisecond // for one pass
	quietLooks    = 2000                   // before the first pass, to learn how long the arithmetic takes
)

func newQuietTimer(p *Pool) *quietTimer {
	q := &quietTimer{pool: p, times: make([]time.Duration, p.Threads()), sums: make([]uint64, p.Threads()), least: math.MaxInt64}
	q.look = func(i, _ int) {
		start := time.Now()
		var a, b, c, d, e uint64
		for k := range uint64(6000) {
			a, b, c, d, e = a+k, b^k, c+k, d^k, e+k
		}
		q.times[i], q.sums[i] = time.Since(start), a+b+c+d+e
	}
	for range quietLooks {
		q.quiet()
	}
	return q
}

// quiet looks once.
func (q *quietTimer) quiet() bool {
	clear(q.times)
	q.pool.Do(len(q.times), q.look)
	q.least = min(q.least, slices.Min(q.times))
	return slices.Max(q.times) <= q.least*6/5
}

// seconds returns the time of a pass, or 0 if none was quiet.
func (q *quietTimer) seconds(pass func()) float64 {
	for end := time.Now().Add(quietPatience); time.Now().Before(end); {
		if !q.quiet() {
			continue
		}
		start := time.Now()
		pass()
		if t := time.Since(start).Seconds(); q.quiet() {
			return t
		}
	}
	return 0
}

// ofReading measures passes beside each way to read memory, in turn, as long as the benchmark runs. It reports the median speed, and
// the median of its ratios to the best of those ways. Next is a piece of memory, another one each time, which are more than the caches
// hold; work reads all of the latest piece.
func (q *quietTimer) ofReading(b *testing.B, next func() []byte, work func()) {
	var speeds []float64
	ways := kernel.ReadLoops()
	ratios := make([][]float64, len(ways))
	for b.Loop() {
		speed := q.speed(next, func([]byte) { work() })
		if speed == 0 {
			continue
		}
		speeds = append(speeds, speed)
		for i, way := range ways {
			if reading := q.speed(next, func(piece []byte) { q.read(piece, way) }); reading > 0 {
				ratios[i] = append(ratios[i], speed/reading)
			}
		}
	}
	b.ReportMetric(float64(len(speeds)), "quiet-passes")
	b.ReportMetric(medianOf(speeds), "GB/s")
	least := math.Inf(1)
	for _, r := range ratios {
		least = min(least, medianOf(r))
	}
	b.ReportMetric(least, "of-reading")
}

// speed is that of a pass over the next piece, in GB/s; 0 if none was quiet.
func (q *quietTimer) speed(next func() []byte, pass func(piece []byte)) float64 {
	bytes := 0
	t := q.seconds(func() {
		piece := next()
		bytes = len(piece)
		pass(piece)
	})
	if t == 0 {
		return 0
	}
	return float64(bytes) / t / 1e9
}

// read reads a piece in chunks, as the limit of the machine is measured.
func (q *quietTimer) read(piece []byte, way kernel.ReadLoop) {
	q.pool.Do((len(piece)+chunkBytes-1)/chunkBytes, func(i, _ int) { way.Read(piece[i*chunkBytes : min((i+1)*chunkBytes, len(piece))]) })
}

// medianOf is the upper median, or not a number.
func medianOf(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return x[len(x)/2]
}
