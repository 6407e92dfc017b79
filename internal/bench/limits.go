// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// Limits are what the machine can do at most with the threads of a pool. A giga is 10^9.
type Limits struct {
	ReadGBps  float64 `json:"read_gbps"`  // bytes read from memory a second
	Int8GMACs float64 `json:"int8_gmacs"` // multiply-adds of bytes a second
	FP32GMACs float64 `json:"fp32_gmacs"` // of float32
	BF16GMACs float64 `json:"bf16_gmacs"` // of BF16; 0: the CPU has no instruction for them
}

const (
	readBytes   = 1 << 30   // more than caches hold
	readChunk   = 256 << 10 // what a thread reads at once: some 20 microseconds
	limitLoops  = 6         // the best one counts
	loopTime    = 50 * time.Millisecond
	chunkRounds = 256 // calls of a loop of arithmetic for each thread, between looks at the clock
)

// MeasureLimits measures each limit in some loops over all threads of the pool, and takes the best. It takes about two
// seconds and 1 GiB of memory.
func MeasureLimits(p *tensor.Pool) (Limits, error) {
	reads, err := readSpeed(p)
	if err != nil {
		return Limits{}, err
	}
	return Limits{
		ReadGBps: reads, Int8GMACs: bestPeak(p, kernel.Int8Peaks()),
		FP32GMACs: bestPeak(p, kernel.FP32Peaks()), BF16GMACs: bestPeak(p, kernel.BF16Peaks()),
	}, nil
}

// best returns the better of two measurements of the same machine, limit by limit.
func (l Limits) best(o Limits) Limits {
	return Limits{
		ReadGBps: max(l.ReadGBps, o.ReadGBps), Int8GMACs: max(l.Int8GMACs, o.Int8GMACs),
		FP32GMACs: max(l.FP32GMACs, o.FP32GMACs), BF16GMACs: max(l.BF16GMACs, o.BF16GMACs),
	}
}

// readMemory is memory that no cache holds.
type readMemory struct {
	bytes   []byte
	release func()
}

// takeReadMemory takes n bytes, rounded down to chunks.
func takeReadMemory(p *tensor.Pool, n int) (readMemory, error) {
	bytes, release, err := takeMemory(n / readChunk * readChunk)
	m := readMemory{bytes, release}
	if err != nil {
		return m, err
	}
	// A page that was never written is not there: all such pages are one page of zeros.
	m.each(p, func(at int, chunk []byte) {
		for i := 0; i < len(chunk); i += 8 {
			binary.LittleEndian.PutUint64(chunk[i:], uint64(at+i))
		}
	})
	return m, nil
}

// each does something with all chunks, which threads claim as they do those of a product.
func (m readMemory) each(p *tensor.Pool, do func(at int, chunk []byte)) {
	p.Do(len(m.bytes)/readChunk, func(i, _ int) { do(i*readChunk, m.bytes[i*readChunk:][:readChunk]) })
}

// read reads all once, in a way.
func (m readMemory) read(p *tensor.Pool, way kernel.ReadLoop) {
	m.each(p, func(_ int, chunk []byte) { way.Read(chunk) })
}

// speedNow reads all once in each way and returns the speed of the best, in GB/s.
func (m readMemory) speedNow(p *tensor.Pool) float64 {
	least := time.Duration(math.MaxInt64)
	for _, way := range kernel.ReadLoops() {
		start := time.Now()
		m.read(p, way)
		least = min(least, time.Since(start))
	}
	return float64(len(m.bytes)) / least.Seconds() / 1e9
}

// readSpeed is the limit of reading.
func readSpeed(p *tensor.Pool) (float64, error) {
	memory, err := takeReadMemory(p, readBytes)
	if err != nil {
		return 0, err
	}
	defer memory.release()
	best := 0.0
	for _, way := range kernel.ReadLoops() {
		best = max(best, bestRate(readBytes, func() { memory.read(p, way) }))
	}
	return best, nil
}

// bestPeak returns the multiply-adds a second of the best of some ways to do them, in 10^9; 0 if there is none.
func bestPeak(p *tensor.Pool, ways []kernel.PeakLoop) float64 {
	best := 0.0
	for _, way := range ways {
		calls := p.Threads() * chunkRounds
		work := func(int, int) { way.Run(way.Rounds) }
		best = max(best, bestRate(float64(calls)*float64(way.MACs)*float64(way.Rounds), func() { p.Do(calls, work) }))
	}
	return best
}

// bestRate runs work, which does so many units, for a while, some times over, and returns the best loop's speed in 10^9
// units a second.
func bestRate(units float64, work func()) float64 {
	best := 0.0
	for range limitLoops {
		done, start := 0.0, time.Now()
		elapsed := time.Duration(0)
		for elapsed < loopTime {
			work()
			done += units
			elapsed = time.Since(start)
		}
		best = max(best, done/elapsed.Seconds()/1e9)
	}
	return best
}
