// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
)

func TestBudgetClosesTheThinking(t *testing.T) {
	const open, closing, newline, thought, answer = 1, 2, 3, 4, 5
	for _, tt := range []struct {
		name   string
		tokens int
		open   token.ID
		wants  []token.ID // what the model would say at each position
		says   []token.ID
	}{
		{"the model opens it", 2, open, []token.ID{open, thought, thought, thought, thought, answer}, []token.ID{open, thought, thought, newline, closing, answer}},
		{"the prompt opened it", 1, token.None, []token.ID{thought, thought, thought, answer}, []token.ID{thought, newline, closing, answer}},
		{"no thought at all", 0, open, []token.ID{open, thought, thought, answer}, []token.ID{open, newline, closing, answer}},
		{"no thought where the prompt opened it", 0, token.None, []token.ID{thought, thought, answer}, []token.ID{newline, closing, answer}},
		{"the model ends in time", 3, open, []token.ID{open, thought, closing, answer, answer, answer}, []token.ID{open, thought, closing, answer, answer, answer}},
		{"the model does not think", 0, open, []token.ID{answer, answer}, []token.ID{answer, answer}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, temperature := range []float32{0, 0.01} {
				// A word that is forbidden is said all the same where it is forced.
				st := NewState(Params{
					Temperature: temperature, BadWords: [][]token.ID{{newline}},
					Budget: &Budget{Tokens: tt.tokens, Open: tt.open, Close: closing, Closing: []token.ID{newline, closing}},
				}, nil, 1)
				s := New(8)
				var got []token.ID
				for _, want := range tt.wants {
					logits := make([]float32, 8)
					logits[want] = 9
					id, err := s.Sample(logits, st)
					if err != nil {
						t.Fatal(err)
					}
					st.Add(id)
					got = append(got, id)
				}
				if diff := cmp.Diff(tt.says, got); diff != "" {
					t.Errorf("temperature %v: tokens (-want +got):\n%s", temperature, diff)
				}
			}
		})
	}
}
