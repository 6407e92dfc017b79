// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/token"
)

const (
	fakeVocab  = 40
	fakeWindow = 24
)

// A fake is a model whose logits are random numbers drawn from a hash of the tokens before them. It reads those tokens
// back through the block tables, as attention would, so a wrong table, copy or position gives other logits.
type fake struct {
	context int
	habit   bool                       // the latest two tokens nearly decide the next: the model repeats itself
	forward func(b *model.Batch) error // if set, called first
	kept    [][]slot                   // [group][block*BlockSize+slot]
	hidden  []float32
	seen    []token.ID
	logits  *rand.PCG
}

type slot struct {
	id  token.ID
	pos int32
}

func newFake(context int) *fake { return &fake{context: context, logits: rand.NewPCG(0, 0)} }

func (f *fake) Config() model.Config {
	return model.Config{
		Family: "fake", Vocab: fakeVocab, Hidden: 4, Layers: 2, KVHeads: 64, HeadDim: 64, MaxContext: f.context,
		Window: fakeWindow, WindowLayers: []bool{false, true},
	}
}

func (f *fake) NewCache(blocks []int) *model.Cache {
	f.kept = nil
	for _, n := range blocks {
		f.kept = append(f.kept, make([]slot, n*model.BlockSize))
	}
	return new(model.Cache)
}

func (f *fake) copyBlock(group int, dst, src kvcache.BlockID) {
	copy(f.kept[group][int(dst)*model.BlockSize:][:model.BlockSize], f.kept[group][int(src)*model.BlockSize:])
}

func (f *fake) at(group int, table []kvcache.BlockID, pos int) *slot {
	return &f.kept[group][int(table[pos/model.BlockSize])*model.BlockSize+pos%model.BlockSize]
}

func (f *fake) Forward(b *model.Batch, _ *model.Cache) ([]float32, error) {
	if f.forward != nil {
		if err := f.forward(b); err != nil {
			return nil, err
		}
	}
	row := 0
	for _, s := range b.Sequences {
		for i := range s.Rows {
			for g := range s.Tables {
				*f.at(g, s.Tables[g], s.Past+i) = slot{b.Tokens[row], int32(s.Past + i)}
			}
			row++
		}
	}
	f.hidden = f.hidden[:0]
	row, next := 0, 0
	for _, s := range b.Sequences {
		for i := range s.Rows {
			if next < len(b.Outputs) && b.Outputs[next] == int32(row) {
				next++
				f.hidden = f.row(f.hidden, s, s.Past+i)
			}
			row++
		}
	}
	return f.hidden, nil
}

// row appends the hidden row of the token at pos: a hash of what its layers see, 16 bits in each number.
func (f *fake) row(dst []float32, s model.Sequence, pos int) []float32 {
	seen := f.seen[:0]
	for g, first := range [...]int{0, max(0, pos-fakeWindow+1)} {
		for p := first; p <= pos; p++ {
			at := f.at(g, s.Tables[g], p)
			seen = append(seen, at.id+token.ID(at.pos)-token.ID(p)) // another position gives another hash
		}
	}
	f.seen = seen
	return f.hash(dst, seen, pos)
}

// hash appends the hidden row of the token at pos, which sees seen: all tokens, then those of the window.
func (f *fake) hash(dst []float32, seen []token.ID, pos int) []float32 {
	dst = appendHash(dst, seen)
	if f.habit {
		copy(dst[len(dst)-2:], appendHash(nil, seen[max(0, pos-1):pos+1])[:2])
	}
	return dst
}

// appendHash appends the FNV-1a hash of ids, 16 bits in each number.
func appendHash(dst []float32, ids []token.ID) []float32 {
	sum := uint64(14695981039346656037)
	for _, id := range ids {
		sum = (sum ^ uint64(uint32(id))) * 1099511628211
	}
	for i := range 4 {
		dst = append(dst, float32(sum>>(16*i)&0xffff))
	}
	return dst
}

func (f *fake) Head(dst, hidden []float32, n int) {
	for i := range n {
		sum := uint64(0)
		for j := range 4 {
			sum |= uint64(hidden[4*i+j]) << (16 * j)
		}
		f.logits.Seed(sum, 1)
		for j := range fakeVocab {
			dst[i*fakeVocab+j] = float32(f.logits.Uint64()%4096)/512 - 4
		}
		if f.habit {
			f.logits.Seed(sum>>32, 2)
			dst[i*fakeVocab+int(f.logits.Uint64()%fakeVocab)] += 10
		}
	}
}

func (f *fake) Close() error { return nil }

// reference generates one choice the obvious way: the whole list through the hash for every token.
func reference(t *testing.T, req inference.Request, number, context int) ([]token.ID, inference.Finish) {
	t.Helper()
	return referenceOn(t, newFake(context), req, number)
}

func referenceOn(t *testing.T, f *fake, req inference.Request, number int) ([]token.ID, inference.Finish) {
	t.Helper()
	context, c := f.context, &choice{req: &request{Request: req, maxOutput: req.MaxTokens}}
	if req.MaxTokens == inference.Unlimited {
		c.req.maxOutput = context - len(req.Prompt)
	}
	state := sampler.NewState(samplingParams(&req), req.Prompt, seed(&req, number))
	tokens, row := slices.Clone(req.Prompt), make([]float32, fakeVocab)
	for {
		seen := append(slices.Clone(tokens), tokens[max(0, len(tokens)-fakeWindow):]...)
		f.Head(row, f.hash(nil, seen, len(tokens)-1), 1)
		id, err := sampler.New(fakeVocab).Sample(row, state)
		if err != nil {
			t.Fatal(err)
		}
		state.Add(id)
		tokens = append(tokens, id)
		c.output++
		if end := c.finish(id, context); end != inference.Running {
			return tokens[len(req.Prompt):], end
		}
	}
}

// start runs an engine over f until the test ends, and then checks that nothing is left in it.
func start(t *testing.T, f *fake, cfg Config) *Engine {
	t.Helper()
	e := prepare(t, f, cfg)
	run(t, e)
	return e
}

func run(t *testing.T, e *Engine) {
	go e.run()
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		checkEmpty(t, e)
	})
}

func prepare(t *testing.T, f *fake, cfg Config) *Engine {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	e, err := newEngine(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.copyBlock = f.copyBlock
	return e
}

// checkEmpty looks into an engine that has stopped.
func checkEmpty(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.scheduler.Check(); err != nil {
		t.Error(err)
	}
	for g, total := range e.cfg.Blocks {
		if free := e.pool.Free(g); free != total {
			t.Errorf("group %d: %d of %d blocks are free at the end", g, free, total)
		}
	}
	if d := e.drafter; d != nil {
		for g := range d.pool.Groups() {
			if d.pool.Free(g) != d.pool.Total(g) {
				t.Errorf("draft model: group %d: %d of %d blocks are free at the end", g, d.pool.Free(g), d.pool.Total(g))
			}
		}
	}
	if running, waiting := e.scheduler.Load(); running+waiting+len(e.open) > 0 {
		t.Errorf("%d sequences run, %d wait, %d requests are open at the end", running, waiting, len(e.open))
	}
}

// An answer is all that a stream gave.
type answer struct {
	tokens [][]token.ID
	ends   []inference.Finish
	events []inference.Event
	prompt *inference.PromptInfo
	err    error
}

func submitAndRead(ctx context.Context, e *Engine, req inference.Request) answer {
	s, err := e.Submit(ctx, req)
	if err != nil {
		return answer{err: err}
	}
	return read(s, max(1, req.Choices))
}

func read(s inference.Stream, choices int) answer {
	a := answer{tokens: make([][]token.ID, choices), ends: make([]inference.Finish, choices)}
	for {
		event, err := s.Next()
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			a.err = err
			return a
		}
		a.add(event)
	}
}

func (a *answer) add(event inference.Event) {
	a.events = append(a.events, event)
	if event.Prompt != nil {
		a.prompt = event.Prompt
	}
	if event.Token != token.None {
		a.tokens[event.Choice] = append(a.tokens[event.Choice], event.Token)
	}
	if event.Finish != inference.Running {
		a.ends[event.Choice] = event.Finish
	}
}

// plainRequest asks for tokens without logprobs.
func plainRequest(prompt []token.ID, maxTokens int) inference.Request {
	return inference.Request{
		Prompt: prompt, MaxTokens: maxTokens, EOS: token.None,
		Logprobs: inference.NoLogprobs, PromptLogprobs: inference.NoLogprobs,
	}
}

func randomPrompt(r *rand.Rand, most int) []token.ID {
	ids := make([]token.ID, 1+r.IntN(most))
	for i := range ids {
		// Long common prefixes, then anything.
		ids[i] = token.ID(i % 7)
		if i > 40 {
			ids[i] = token.ID(r.IntN(fakeVocab))
		}
	}
	ids[len(ids)-1] = token.ID(r.IntN(fakeVocab))
	return ids
}
