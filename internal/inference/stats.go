// SPDX-License-Identifier: Apache-2.0

package inference

import "time"

// A Meter is an Engine that counts what it does.
type Meter interface {
	// Stats returns a snapshot that is consistent in itself. It is cheap enough for every scrape.
	Stats() Stats
}

// Stats are figures of an engine: gauges of now, and counters since its start, which only grow. Tokens sampled for a
// choice whose stop string was found meanwhile are counted here, though nobody reads them.
type Stats struct {
	Running int // sequences
	Waiting int // sequences; not those that Submit took and no step saw yet

	Steps         uint64
	StepTime      time.Duration // of all steps together
	StepSeconds   Histogram     // a step's duration
	StepTokens    Histogram     // tokens that a step computed
	PrefillTokens uint64        // prompt tokens computed, again after preemption too
	PromptTokens  uint64        // of requests whose prompt is computed; those were looked for in the prefix cache
	CachedTokens  uint64        // of those, read from the prefix cache
	OutputTokens  uint64
	Preemptions   uint64
	Evictions     uint64    // cached blocks whose contents were given up
	Finished      [4]uint64 // choices, by Finish
	Stopped       uint64    // choices ended by Stream.Stop
	Aborted       uint64    // requests whose client left, or that the engine's end cut off
	Failed        uint64    // requests that ended with ErrEngine
	Refused       uint64    // requests that Submit answered with ErrBusy
	Expired       uint64    // requests that ended with ErrExpired
	BlocksUsed    []int     // per cache group: blocks that sequences hold
	Blocks        []int     // per cache group: all

	Drafts         uint64 // times that tokens were proposed by speculation
	DraftTokens    uint64 // tokens proposed
	AcceptedTokens uint64 // of those, the ones that became output
}

// Usage returns the share of the cache that sequences hold: that of the fullest group, from 0 to 1.
func (s *Stats) Usage() float64 {
	most := 0.0
	for g, n := range s.Blocks {
		if n > 0 && g < len(s.BlocksUsed) {
			most = max(most, float64(s.BlocksUsed[g])/float64(n))
		}
	}
	return most
}

// A Histogram counts values by size. Counts[i] has those above Bounds[i-1] and up to Bounds[i], the last one those
// above all bounds.
type Histogram struct {
	Bounds []float64 // ascending; never changed
	Counts []uint64  // one more than Bounds
	Sum    float64
	Count  uint64
}

// NewHistogram returns an empty histogram over the given bounds.
func NewHistogram(bounds []float64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]uint64, len(bounds)+1)}
}

// Add counts a value.
func (h *Histogram) Add(v float64) {
	i := 0
	for i < len(h.Bounds) && v > h.Bounds[i] {
		i++
	}
	h.Counts[i]++
	h.Sum += v
	h.Count++
}

// Clone returns a copy that later values do not change.
func (h *Histogram) Clone() Histogram {
	c := *h
	c.Counts = append([]uint64(nil), h.Counts...)
	return c
}
