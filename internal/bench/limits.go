// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
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

// readSpeed reads memory that no cache holds, in chunks that threads claim as they do those of a product.
func readSpeed(p *tensor.Pool) (float64, error) {
	memory, release, err := takeMemory(readBytes)
	if err != nil {
		return 0, err
	}
	defer release()
	chunk := func(i int) []byte { return memory[i*readChunk:][:readChunk] }
	// A page that was never written is not there: all such pages are one page of zeros.
	p.Do(readBytes/readChunk, func(i, _ int) {
		for at, b := 0, chunk(i); at < len(b); at += 8 {
			binary.LittleEndian.PutUint64(b[at:], uint64(i*readChunk+at))
		}
	})
	best := 0.0
	for _, way := range kernel.ReadLoops() {
		work := func(i, _ int) { way.Read(chunk(i)) }
		best = max(best, bestRate(readBytes, func() { p.Do(readBytes/readChunk, work) }))
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
