// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"time"
)

// A ContextCost is how much longer a step takes because of the tokens in the cache, and how long reading their keys and values
// takes at least. The two are measured in turn, as the speed of memory may change within a run: each is the median over the
// rounds, and so is Ratio, of the ratios of each round.
type ContextCost struct {
	Context  int
	Parallel int
	Added    float64 // seconds, to a step at context 0
	Reading  float64 // seconds, by the best loop of a round
	Ratio    float64
}

const (
	contextRounds = 3 // for each measurement of a case
	contextSteps  = 8 // one for so many steps of a measurement of decode
)

// contextCost measures a case with a context on its sequences.
func (r *runner) contextCost(ctx context.Context, s *sequences, c decodeCase) (ContextCost, error) {
	cost := ContextCost{Context: c.context, Parallel: c.parallel}
	memory, err := takeReadMemory(r.pool, r.opt.readBytes)
	if err != nil {
		return cost, err
	}
	defer memory.release()
	steps := max(1, r.opt.DecodeTokens/contextSteps)
	bytes := r.costs.decode(c.context, steps, c.parallel).Bytes - r.costs.decode(0, steps, c.parallel).Bytes
	var added, reading, ratios []float64
	for range contextRounds * r.opt.Repeat {
		if err := ctx.Err(); err != nil {
			return cost, err
		}
		without, err := stepTime(s, 0, steps)
		if err != nil {
			return cost, err
		}
		with, err := stepTime(s, c.context, steps)
		if err != nil {
			return cost, err
		}
		longer, least := with-without, seconds9(bytes/float64(steps), memory.speedNow(r.pool))
		added, reading, ratios = append(added, longer), append(reading, least), append(ratios, longer/least)
	}
	cost.Added, cost.Reading, cost.Ratio = median(added), median(reading), median(ratios)
	return cost, nil
}

// stepTime is the time of a step, in seconds, once a step has brought to the caches what one leaves there for the next.
func stepTime(s *sequences, past, steps int) (float64, error) {
	if err := s.decode(past, 1); err != nil {
		return 0, err
	}
	start := time.Now()
	err := s.decode(past, steps)
	return time.Since(start).Seconds() / float64(steps), err
}
