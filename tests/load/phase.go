// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// alone runs requests one after the other until the time is up, without help of a cache, and keeps their answers.
func (c *client) alone(ctx context.Context, all []request, limit time.Duration) ([]exchange, error) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	var known []exchange
	for begun := time.Now(); len(known) < len(all) && (len(known) == 0 || time.Since(begun) < limit); {
		q := all[len(known)]
		q.CacheSalt = salt(r, "alone-", 1<<60)
		answer, _, err := c.ask(ctx, q, streams, 0)
		if err != nil {
			return nil, fmt.Errorf("request %d alone: %w", len(known), err)
		}
		if len(answer) != q.MaxTokens {
			return nil, fmt.Errorf("request %d alone: %d tokens, want %d", len(known), len(answer), q.MaxTokens)
		}
		known = append(known, exchange{all[len(known)], answer})
	}
	return known, nil
}

// together lets clients send the requests until the time is up, and waits for their last answers.
func (c *client) together(ctx context.Context, known []exchange, o options) *report {
	r := &report{Clients: o.clients, Requests: len(known)}
	end := time.Now().Add(o.duration - o.duration/3)
	begun := time.Now()
	var work sync.WaitGroup
	for i := range o.clients {
		work.Go(func() {
			random := rand.New(rand.NewPCG(o.seed, uint64(i)+1))
			for time.Now().Before(end) && ctx.Err() == nil {
				c.turn(ctx, random, known, r)
			}
		})
	}
	work.Wait()
	r.finish(time.Since(begun))
	return r
}

// turn sends one request and compares.
func (c *client) turn(ctx context.Context, random *rand.Rand, known []exchange, r *report) {
	x := known[random.IntN(len(known))]
	m := streams
	switch random.IntN(8) {
	case 0, 1:
		m = waits
	case 2:
		m = vanishes
	case 3:
		m = stalls
	}
	q := x.request
	q.CacheSalt = salt(random, "shared-", 3)
	tokens, t, err := c.ask(ctx, q, m, 1+random.IntN(x.MaxTokens))
	switch {
	case errors.Is(err, errBusy):
		r.busy()
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	case errors.Is(err, errVanished):
		r.add(vanishes, len(tokens), t, slices.Equal(tokens, x.answer[:min(len(tokens), len(x.answer))]))
	case err != nil:
		r.fail(err)
	default:
		r.add(m, len(tokens), t, slices.Equal(tokens, x.answer))
	}
}

// drained waits until nothing runs or waits on the server, and returns what is left after a while.
func (c *client) drained(ctx context.Context) (left int, err error) {
	for range 50 {
		var load struct {
			Load int `json:"server_load"`
		}
		if err := c.get(ctx, "/load", &load); err != nil {
			return 0, err
		}
		if left = load.Load; left == 0 {
			return 0, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left, nil
}
