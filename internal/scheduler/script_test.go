// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/testkit"
	"github.com/sampo-ai/sampo/internal/token"
)

// A stage performs script commands. After a step every sequence that is wholly computed gets one more token, and for
// each draft that was guessed right another one.
type stage struct {
	t         *testing.T
	pool      *kvcache.Pool
	scheduler *Scheduler
	named     map[string]*Sequence
	now       time.Time
}

func TestScripts(t *testing.T) {
	testkit.Scripts(t, "testdata/*.txt", func(t *testing.T) func(testkit.Command) string {
		s := &stage{t: t}
		return func(c testkit.Command) string {
			out := s.do(c)
			if err := s.scheduler.Check(); err != nil {
				t.Errorf("%s: %v", c.Where, err)
			}
			return out
		}
	})
}

func (s *stage) do(c testkit.Command) string {
	switch c.Name {
	case "config":
		s.open(c)
	case "add":
		q := s.sequence(c)
		q.Table = s.pool.NewTable(kvcache.Root(""), len(q.Tokens))
		s.scheduler.Add(q)
	case "fork":
		parent := s.named[c.Words[0]]
		child := &Sequence{Owner: c.Words[1], Priority: parent.Priority}
		child.Tokens = append(child.Tokens, parent.Tokens...)
		child.Tokens[len(child.Tokens)-1]++
		s.named[c.Words[1]] = child
		s.scheduler.Fork(parent, child, 0)
	case "remove":
		s.scheduler.Remove(s.named[c.Words[0]])
	case "limit":
		s.scheduler.cfg.MixedCost = costOf(float64(c.Int(s.t, "mixed", 0)), c.Int(s.t, "reach", 0))
	case "draft":
		s.draft(c)
	case "step":
		s.now = s.now.Add(time.Duration(c.Int(s.t, "after", 0)) * time.Second)
		return s.step()
	case "load":
		running, waiting := s.scheduler.Load()
		return fmt.Sprintf("%d running, %d waiting\n", running, waiting)
	default:
		s.t.Fatalf("%s: unknown command", c.Where)
	}
	return ""
}

func (s *stage) open(c testkit.Command) {
	groups, blocks := []kvcache.Group{{}}, []int{c.Int(s.t, "blocks", 100)}
	if w := c.Int(s.t, "window", 0); w > 0 {
		groups = append(groups, kvcache.Group{Kind: kvcache.Window, Window: w})
		blocks = append(blocks, c.Int(s.t, "window_blocks", 100))
	}
	pool, err := kvcache.New(kvcache.Config{BlockSize: c.Int(s.t, "block_size", 2), Groups: groups, Blocks: blocks})
	if err != nil {
		s.t.Fatalf("%s: %v", c.Where, err)
	}
	cfg := Config{MaxBatchTokens: c.Int(s.t, "budget", 8), MaxRunning: c.Int(s.t, "running", 4)}
	cfg.Patience = time.Duration(c.Int(s.t, "patience", 0)) * time.Second
	if mixed := c.Int(s.t, "mixed", 0); mixed > 0 {
		cfg.MixedCost = costOf(float64(mixed), c.Int(s.t, "reach", 0))
	}
	if s.scheduler, err = New(cfg, pool); err != nil {
		s.t.Fatalf("%s: %v", c.Where, err)
	}
	s.pool, s.named = pool, map[string]*Sequence{}
}

// costOf allows so many tokens of prompts, where one at position reach counts twice; 0: all count alike.
func costOf(mixed float64, reach int) Cost {
	return func(tokens, before int) float64 {
		if mixed == 0 {
			return 1
		}
		cost := float64(tokens)
		if reach > 0 {
			cost += float64(before) / float64(reach)
		}
		return cost / mixed
	}
}

// sequence makes a prompt of its own tokens, behind those of option same if given.
func (s *stage) sequence(c testkit.Command) *Sequence {
	q := &Sequence{Owner: c.Words[0], Priority: int64(c.Int(s.t, "priority", 0)), SkipCache: c.Options["cache"] == "skip"}
	q.Tenant, q.Arrived = c.Options["tenant"], s.now
	if other := s.named[c.Options["same"]]; other != nil {
		q.Tokens = append(q.Tokens, other.Tokens[:c.Int(s.t, "first", len(other.Tokens))]...)
	}
	for i := len(q.Tokens); i < c.Int(s.t, "prompt", 1); i++ {
		q.Tokens = append(q.Tokens, token.ID(1000*(len(s.named)+1)+i))
	}
	s.named[c.Words[0]] = q
	return q
}

// draft guesses what follows a sequence: tokens guesses, the first of them right.
func (s *stage) draft(c testkit.Command) {
	q := s.named[c.Words[0]]
	q.Draft = q.Draft[:0]
	for i := range c.Int(s.t, "tokens", 1) {
		guess := token.ID(len(q.Tokens) + i)
		if i >= c.Int(s.t, "right", 0) {
			guess = -7
		}
		q.Draft = append(q.Draft, guess)
	}
}

func (s *stage) step() string {
	b := s.scheduler.Schedule(s.now)
	var out strings.Builder
	for _, q := range b.Preempted {
		fmt.Fprintf(&out, "preempt %s\n", q.Owner)
	}
	for _, c := range b.Copies {
		fmt.Fprintf(&out, "copy %d to %d\n", c.Src, c.Dst)
	}
	for _, slice := range b.Slices {
		fmt.Fprintf(&out, "%s %d..%d  ", slice.Owner, slice.First, slice.First+slice.Count)
	}
	for g := range s.pool.Groups() {
		fmt.Fprintf(&out, " free=%d", s.pool.Free(g))
	}
	s.scheduler.Done(b)
	for _, slice := range b.Slices {
		if slice.computed == len(slice.Tokens) {
			s.extend(slice)
		}
		slice.Draft = slice.Draft[:0]
	}
	return out.String() + "\n"
}

func (s *stage) extend(slice Slice) {
	next := token.ID(len(slice.Tokens))
	slice.Tokens = append(slice.Tokens, next)
	for _, guess := range slice.Draft[:slice.Drafts] {
		if guess != next {
			return
		}
		s.scheduler.Accept(slice.Sequence)
		next = token.ID(len(slice.Tokens))
		slice.Tokens = append(slice.Tokens, next)
	}
}
