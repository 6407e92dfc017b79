// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/token"
)

// A client is what a random user wants from one sequence; its tokens are a function of those before, as a model's are.
type client struct {
	seq   Sequence
	limit int // tokens in the end
}

// A yard runs random clients and keeps what the tensors would hold: which prefix each slot was computed for.
type yard struct {
	t         *testing.T
	r         *rand.Rand
	pool      *kvcache.Pool
	scheduler *Scheduler
	cfg       Config
	slots     [][]kvcache.Hash // [group][block*size+slot]
	clients   []*client
	context   int
	now       time.Time
}

func TestEverySequenceEndsUnderRandomUse(t *testing.T) {
	for seed := range uint64(60) {
		y := newYard(t, seed)
		for range 150 {
			y.turn()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		for steps := 0; len(y.clients) > 0; steps++ {
			y.step()
			if t.Failed() || steps > 5000 {
				t.Fatalf("seed %d: %d sequences left after %d steps", seed, len(y.clients), steps)
			}
		}
		for g := range y.pool.Groups() {
			if y.pool.Free(g) != y.pool.Total(g) {
				t.Fatalf("seed %d: group %d: %d of %d blocks free at the end", seed, g, y.pool.Free(g), y.pool.Total(g))
			}
		}
	}
}

func newYard(t *testing.T, seed uint64) *yard {
	r := rand.New(rand.NewPCG(seed, 3))
	y := &yard{t: t, r: r, context: 8 + r.IntN(40)}
	y.cfg = Config{MaxRunning: 1 + r.IntN(5)}
	if mixed := r.IntN(5); mixed > 0 {
		y.cfg.MixedCost = costOf(float64(mixed)+r.Float64(), r.IntN(2)*(1+r.IntN(9)))
	}
	if r.IntN(2) == 0 {
		y.cfg.Patience = time.Duration(1+r.IntN(20)) * time.Second
	}
	y.cfg.MaxBatchTokens = y.cfg.MaxRunning + r.IntN(12)
	size := 1 + r.IntN(4)
	groups, blocks := []kvcache.Group{{}}, []int{}
	if r.IntN(2) == 0 {
		groups = append(groups, kvcache.Group{Kind: kvcache.Window, Window: 1 + r.IntN(9)})
	}
	for _, g := range groups {
		n := g.Blocks(y.context, y.cfg.MaxBatchTokens, size) + r.IntN(12)
		blocks = append(blocks, n)
		y.slots = append(y.slots, make([]kvcache.Hash, n*size))
	}
	var err error
	y.pool, err = kvcache.New(kvcache.Config{BlockSize: size, Groups: groups, Blocks: blocks, NoReuse: r.IntN(6) == 0})
	if err == nil {
		y.scheduler, err = New(y.cfg, y.pool)
	}
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func (y *yard) turn() {
	switch n := len(y.clients); {
	case n < 12 && y.r.IntN(3) == 0:
		y.add()
	case n > 0 && y.r.IntN(12) == 0:
		y.leave(y.r.IntN(n))
	case n > 0 && y.r.IntN(8) == 0:
		y.fork(y.clients[y.r.IntN(n)])
	default:
		y.step()
	}
	if err := y.scheduler.Check(); err != nil {
		y.t.Error(err)
	}
}

func (y *yard) add() {
	c := &client{limit: 2 + y.r.IntN(y.context-1)}
	for range 1 + y.r.IntN(c.limit-1) {
		c.seq.Tokens = append(c.seq.Tokens, token.ID(y.r.IntN(9)/8))
	}
	c.seq.Owner, c.seq.Priority, c.seq.SkipCache = c, int64(y.r.IntN(3)), y.r.IntN(5) == 0
	c.seq.Tenant, c.seq.Arrived = string(rune('a'+y.r.IntN(3))), y.now
	c.seq.Table = y.pool.NewTable(kvcache.Root(""), 0)
	y.scheduler.Add(&c.seq)
	y.clients = append(y.clients, c)
}

func (y *yard) leave(i int) {
	y.scheduler.Remove(&y.clients[i].seq)
	y.clients = slices.Delete(y.clients, i, i+1)
}

func (y *yard) fork(parent *client) {
	if parent.seq.state != running || parent.seq.remaining() != 1 {
		return
	}
	c := &client{limit: parent.limit}
	c.seq = Sequence{Owner: c, Priority: parent.seq.Priority, Tokens: slices.Clone(parent.seq.Tokens)}
	c.seq.Tokens[len(c.seq.Tokens)-1] ^= 1
	y.scheduler.Fork(&parent.seq, &c.seq, 0)
	y.clients = append(y.clients, c)
}

func (y *yard) step() {
	decoding := map[*Sequence]bool{}
	for _, q := range y.scheduler.running {
		decoding[q] = q.decoding()
		y.guess(q)
	}
	y.now = y.now.Add(time.Second)
	b := y.scheduler.Schedule(y.now)
	if len(b.Slices) == 0 && len(y.clients) > 0 {
		y.t.Errorf("an empty step with %d sequences left", len(y.clients))
	}
	size := y.pool.BlockSize()
	for _, c := range b.Copies {
		copy(y.slots[c.Group][int(c.Dst)*size:][:size], y.slots[c.Group][int(c.Src)*size:][:size])
	}
	for _, slice := range b.Slices {
		delete(decoding, slice.Sequence)
		y.compute(slice)
	}
	for q, was := range decoding {
		if was && !slices.Contains(b.Preempted, q) {
			y.t.Errorf("a decoding sequence got no token")
		}
	}
	y.scheduler.Done(b)
	for _, slice := range b.Slices {
		if slice.remaining() == 0 {
			y.advance(slice.Owner.(*client), slice.Draft[:slice.Drafts])
		}
		slice.Draft = nil
	}
}

// guess proposes what follows a sequence, rightly or not.
func (y *yard) guess(q *Sequence) {
	c := q.Owner.(*client)
	for len(q.Tokens)+len(q.Draft) < c.limit-1 && y.r.IntN(3) > 0 {
		q.Draft = append(q.Draft, next(len(q.Tokens)+len(q.Draft)))
	}
	if n := len(q.Draft); n > 0 && y.r.IntN(2) == 0 {
		q.Draft[y.r.IntN(n)] += 5
	}
}

// compute writes a slice's slots, then checks that all that it reads was computed for its own prefix.
func (y *yard) compute(slice Slice) {
	size := y.pool.BlockSize()
	tokens := slices.Concat(slice.Tokens, slice.Draft[:slice.Drafts])
	for g, group := range y.pool.Groups() {
		table := slice.Table.Blocks()[g]
		for pos := slice.First; pos < slice.First+slice.Count; pos++ {
			y.slots[g][int(table[pos/size])*size+pos%size] = prefix(tokens, pos)
		}
		first := 0
		if group.Kind == kvcache.Window {
			first = max(0, slice.First-group.Window+1)
		}
		for pos := first; pos < slice.First+slice.Count; pos++ {
			b := table[pos/size]
			if b == kvcache.None || y.slots[g][int(b)*size+pos%size] != prefix(tokens, pos) {
				y.t.Errorf("group %d: position %d of %s lies in block %d with other contents", g, pos, fmt.Sprint(tokens), b)
				return
			}
		}
	}
}

func prefix(tokens []token.ID, pos int) kvcache.Hash {
	return kvcache.Chain(kvcache.Root(""), tokens[:pos+1])
}

// advance gives a client its next token, and those that were guessed right.
func (y *yard) advance(c *client, drafts []token.ID) {
	for i := 0; ; i++ {
		if len(c.seq.Tokens) >= c.limit {
			y.leave(slices.Index(y.clients, c))
			return
		}
		c.seq.Tokens = append(c.seq.Tokens, next(len(c.seq.Tokens)))
		if i == len(drafts) || c.seq.Tokens[len(c.seq.Tokens)-1] != drafts[i] {
			return
		}
		y.scheduler.Accept(&c.seq)
	}
}

// next returns the token that a model gives at a position.
func next(pos int) token.ID { return token.ID(pos % 7 / 6) }
