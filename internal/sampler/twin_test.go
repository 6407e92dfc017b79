// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/token"
)

// twin is the slow, obvious sampler: a map of logits, a full sort, one rule after the other.
func twin(logits []float32, p Params, prompt, output []token.ID, seed uint64) (token.ID, error) {
	z := slices.Clone(logits)
	twinMasks(z, &p, output)
	for _, b := range p.Bias {
		z[b.Token] += b.Value
	}
	times := map[token.ID]float32{}
	for _, id := range output {
		times[id]++
	}
	for id := range token.ID(len(z)) {
		if _, ok := times[id]; (ok || slices.Contains(prompt, id)) && p.Repetition > 0 {
			if z[id] > 0 {
				z[id] /= p.Repetition
			} else {
				z[id] *= p.Repetition
			}
		}
		if times[id] > 0 {
			z[id] -= float32(p.Frequency * times[id])
			z[id] -= p.Presence
		}
	}
	ids := make([]token.ID, len(z))
	for i := range ids {
		ids[i] = token.ID(i)
		if v := float64(z[i]); math.IsNaN(v) || math.IsInf(v, 1) {
			return token.None, ErrNotFinite
		}
	}
	slices.SortFunc(ids, func(a, b token.ID) int {
		return cmp.Or(cmp.Compare(z[b], z[a]), cmp.Compare(a, b))
	})
	if math.IsInf(float64(z[ids[0]]), -1) {
		return token.None, ErrNoToken
	}
	if p.Temperature == 0 {
		return ids[0], nil
	}
	return twinDraw(z, ids, &p, Uniform(seed, uint64(len(output)))), nil
}

func twinMasks(z []float32, p *Params, output []token.ID) {
	out := float32(math.Inf(-1))
	for i := range z {
		if p.Allowed != nil && !p.Allowed.Has(token.ID(i)) {
			z[i] = out
		}
	}
	for _, w := range p.BadWords {
		m := len(w) - 1
		if len(output) >= m && slices.Equal(output[len(output)-m:], w[:m]) {
			z[w[m]] = out
		}
	}
	if len(output) < p.MinTokens {
		for _, id := range p.Ends {
			z[id] = out
		}
	}
}

// twinDraw filters and draws; ids are sorted, best first.
func twinDraw(z []float32, ids []token.ID, p *Params, uniform uint64) token.ID {
	for i := range z {
		z[i] *= 1 / max(p.Temperature, 0.01)
	}
	slices.SortFunc(ids, func(a, b token.ID) int { // dividing may have made ties
		return cmp.Or(cmp.Compare(z[b], z[a]), cmp.Compare(a, b))
	})
	weights := make([]*big.Int, len(z))
	for i := range z {
		weights[i] = new(big.Int).SetUint64(weight(kernel.Exp(z[i] - z[ids[0]])))
	}
	ids = slices.DeleteFunc(ids, func(id token.ID) bool {
		w, _ := weights[id].Float64()
		return w < float64(p.MinP)*weightOne
	})
	if p.TopK > 0 && p.TopK < len(ids) {
		least := z[ids[p.TopK-1]]
		ids = slices.DeleteFunc(ids, func(id token.ID) bool { return z[id] < least })
	}
	total := new(big.Int)
	for _, id := range ids {
		total.Add(total, weights[id])
	}
	if p.TopP > 0 && p.TopP < 1 {
		f, _ := total.Float64()
		target, _ := big.NewFloat(float64(p.TopP) * f).Int(nil)
		above, keep := new(big.Int), 0
		for keep = range ids {
			if keep > 0 && above.Cmp(target) >= 0 && (above.Cmp(target) > 0 || float64(p.TopP)*f == math.Trunc(float64(p.TopP)*f)) {
				keep--
				break
			}
			above.Add(above, weights[ids[keep]])
		}
		ids, total = ids[:keep+1], above
	}
	slices.Sort(ids)
	at := new(big.Int).Mul(new(big.Int).SetUint64(uniform), total)
	at.Rsh(at, 64)
	for _, id := range ids {
		if at.Cmp(weights[id]) < 0 {
			return id
		}
		at.Sub(at, weights[id])
	}
	panic("twin: a draw beyond the sum")
}

func TestSampleEqualsItsTwin(t *testing.T) {
	bad := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 7))
		vocab := 1 + r.IntN(300)
		logits := randomRow(r, vocab)
		p := randomParams(r, vocab)
		prompt, output := randomIDs(r, vocab, 6), randomIDs(r, vocab, 6)
		st := NewState(p, prompt, seed)
		for _, id := range output {
			st.Add(id)
		}
		before := slices.Clone(logits)
		got, gotErr := New(vocab).Sample(logits, st)
		want, wantErr := twin(logits, p, prompt, output, seed)
		if got != want || !errors.Is(gotErr, wantErr) {
			t.Fatalf("seed %d: %+v: got %d, %v, want %d, %v", seed, p, got, gotErr, want, wantErr)
		}
		if wantErr != nil {
			bad++
		}
		if !slices.EqualFunc(before, logits, sameBits) {
			t.Fatalf("seed %d: Sample changed the row", seed)
		}
	}
	if bad < 20 {
		t.Errorf("only %d rows were bad: the test does not reach them", bad)
	}
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func randomRow(r *rand.Rand, vocab int) []float32 {
	z := make([]float32, vocab)
	scale := []float32{0.1, 1, 5, 30}[r.IntN(4)]
	ties := r.IntN(3) == 0
	for i := range z {
		z[i] = float32(r.NormFloat64()) * scale
		if ties {
			z[i] = float32(math.Round(float64(z[i])))
		}
		switch r.IntN(60) {
		case 0:
			z[i] = float32(math.Inf(-1))
		case 1:
			z[i] = float32(math.Copysign(0, -1))
		}
	}
	if r.IntN(40) == 0 {
		z[r.IntN(vocab)] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[r.IntN(3)]
	}
	return z
}

func randomParams(r *rand.Rand, vocab int) Params {
	pick := func(values ...float32) float32 { return values[r.IntN(len(values))] }
	p := Params{
		Temperature: pick(0, 1e-6, 0.3, 1, 1, 5),
		TopP:        pick(0, 0, 1, 0.001, 0.5, 0.9, 0.95),
		TopK:        []int{-1, 0, 0, 1, 2, 20, vocab, vocab + 1}[r.IntN(8)],
		MinP:        pick(0, 0, 0.05, 0.5, 1),
		Repetition:  pick(0, 0, 1, 0.5, 1.3),
		Presence:    pick(0, 0, 1.5, -1),
		Frequency:   pick(0, 0, 0.7, -0.2),
		MinTokens:   r.IntN(8),
		Ends:        randomIDs(r, vocab, 3),
	}
	for _, id := range randomIDs(r, vocab, 3) {
		p.Bias = append(p.Bias, Bias{id, pick(-100, 3, 100)})
	}
	for range r.IntN(3) {
		p.BadWords = append(p.BadWords, append(randomIDs(r, vocab, 1), token.ID(r.IntN(vocab))))
	}
	if r.IntN(4) == 0 {
		p.Allowed = token.NewMask(vocab)
		for range 1 + r.IntN(20) {
			p.Allowed.Add(token.ID(r.IntN(vocab)))
		}
	}
	return p
}

func randomIDs(r *rand.Rand, vocab, most int) []token.ID {
	var ids []token.ID
	for range r.IntN(most + 1) {
		ids = append(ids, token.ID(r.IntN(vocab)))
	}
	return ids
}
