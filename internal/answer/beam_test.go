// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
)

// A toyModel says "a", "b", "c" or the end of text, each with a probability that depends on the token before.
type toyModel struct {
	tokens   []token.ID
	logprobs map[token.ID][]float32 // by the token before; in the order of tokens
}

func newToyModel(seed uint64) *toyModel {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &toyModel{tokens: bytechat.Tokens(bytechat.Tokenizer(), "abc<|im_end|>"), logprobs: map[token.ID][]float32{}}
	for _, before := range append(bytechat.Tokens(bytechat.Tokenizer(), "x"), m.tokens...) {
		weights, sum := make([]float64, len(m.tokens)), 0.0
		for i := range weights {
			weights[i] = 0.05 + rng.Float64()
			sum += weights[i]
		}
		for _, w := range weights {
			m.logprobs[before] = append(m.logprobs[before], float32(math.Log(w/sum)))
		}
	}
	return m
}

// best lists the tokens that may follow, the most probable first.
func (m *toyModel) best(before token.ID) []inference.TokenLogprob {
	var list []inference.TokenLogprob
	for i, id := range m.tokens {
		list = append(list, inference.TokenLogprob{Token: id, Logprob: m.logprobs[before][i]})
	}
	slices.SortStableFunc(list, func(a, b inference.TokenLogprob) int { return cmp.Compare(b.Logprob, a.Logprob) })
	return list
}

func (m *toyModel) serve() (*answer.Model, *scripted.Engine) {
	return bytechat.New("m", func(req inference.Request, _ int) scripted.Reply {
		top := m.best(req.Prompt[len(req.Prompt)-1])
		return scripted.Reply{Tokens: []token.ID{top[0].Token}, Logprob: func(int, token.ID) (float32, []inference.TokenLogprob) {
			return top[0].Logprob, top[:min(len(top), max(0, req.Logprobs))]
		}}
	})
}

// A scored is an output and what it is compared by.
type scored struct {
	text  string
	score float64
}

// all returns every output of at most limit tokens with its score, the best first.
func (m *toyModel) all(limit int, penalty float64) []scored {
	var list []scored
	var walk func(text string, before token.ID, length int, sum float64)
	walk = func(text string, before token.ID, length int, sum float64) {
		for _, t := range m.best(before) {
			total := sum + float64(t.Logprob)
			switch end := t.Token == m.tokens[3]; {
			case end:
				list = append(list, scored{text, total / math.Pow(float64(max(1, length)), penalty)})
			case length+1 == limit:
				list = append(list, scored{text + string(rune('a'+slices.Index(m.tokens, t.Token))), total / math.Pow(float64(limit), penalty)})
			default:
				walk(text+string(rune('a'+slices.Index(m.tokens, t.Token))), t.Token, length+1, total)
			}
		}
	}
	walk("", bytechat.Tokens(bytechat.Tokenizer(), "x")[0], 0, 0)
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return list
}

// beams asks for choices by beam search and returns their texts.
func beams(t *testing.T, m *answer.Model, p chat.Params) []string {
	t.Helper()
	s, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{{Text: "x"}}, Params: p})
	if err != nil {
		t.Fatal(err)
	}
	a, err := answer.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, c := range a.Choices {
		texts = append(texts, c.Text)
	}
	return texts
}

func TestBeamSearchThatFollowsEverythingFindsTheBest(t *testing.T) {
	const limit, n = 4, 5
	for seed := range uint64(10) {
		toy := newToyModel(seed)
		m, engine := toy.serve()
		for _, penalty := range []float64{0, 1, 4} {
			got := beams(t, m, chat.Params{Choices: n, MaxTokens: ptr(limit), Beam: &chat.Beam{Width: 64, LengthPenalty: penalty}})
			all := toy.all(limit, penalty)
			for i, text := range got {
				at := slices.IndexFunc(all, func(s scored) bool { return s.text == text })
				// Outputs of the same transitions in another order are as good.
				if at < 0 || math.Abs(all[at].score-all[i].score) > 1e-5 || slices.Contains(got[:i], text) {
					t.Errorf("seed %d, length penalty %v: choice %d of %q, want those of %v", seed, penalty, i, got, all[:n])
				}
			}
		}
		_ = engine.Close()
	}
}

func TestBeamSearchOfWidthOneIsGreedy(t *testing.T) {
	for seed := range uint64(10) {
		toy := newToyModel(seed)
		m, engine := toy.serve()
		want, before := "", bytechat.Tokens(bytechat.Tokenizer(), "x")[0]
		for range 6 {
			best := toy.best(before)[0].Token
			if best == toy.tokens[3] {
				break
			}
			want += string(rune('a' + slices.Index(toy.tokens, best)))
			before = best
		}
		if got := beams(t, m, chat.Params{MaxTokens: ptr(6), Beam: &chat.Beam{Width: 1, LengthPenalty: 1}}); got[0] != want {
			t.Errorf("seed %d: got %q, want %q", seed, got[0], want)
		}
		_ = engine.Close()
	}
}

func TestBeamsKeepToMasksAndStops(t *testing.T) {
	toy := newToyModel(1)
	m, engine := toy.serve()
	defer engine.Close()
	beam := &chat.Beam{Width: 16, LengthPenalty: 1}
	for _, text := range beams(t, m, chat.Params{Choices: 4, MaxTokens: ptr(4), MinTokens: 3, Allowed: toy.tokens[:2], Beam: beam}) {
		if len(text) != 4 || slices.Contains([]byte(text), 'c') {
			t.Errorf("got %q, want four of a and b", text)
		}
	}
	for _, text := range beams(t, m, chat.Params{Choices: 8, MaxTokens: ptr(4), Stop: []string{"b"}, BadWords: []string{"c"}, Beam: beam}) {
		if slices.Contains([]byte(text), 'b') || slices.Contains([]byte(text), 'c') {
			t.Errorf("got %q, want neither b nor c", text)
		}
	}
}

func TestBeamSearchRefusesWhatItHasNoUseFor(t *testing.T) {
	m, engine := newToyModel(1).serve()
	defer engine.Close()
	for _, p := range []chat.Params{
		{Choices: 2, Beam: &chat.Beam{Width: 1}},
		{PresencePenalty: 1, Beam: &chat.Beam{Width: 1}},
		{Bias: []chat.TokenBias{{Token: 1, Value: 1}}, Beam: &chat.Beam{Width: 1}},
	} {
		_, err := m.Complete(t.Context(), chat.Completion{Prompts: []chat.Prompt{{Text: "x"}}, Params: p})
		var input *answer.InputError
		if !errors.As(err, &input) {
			t.Errorf("%+v: got %v, want an *InputError", p, err)
		}
	}
}
