// SPDX-License-Identifier: Apache-2.0

package scripted

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/token"
)

// read returns a choice's tokens and finishes of a whole stream, and the error it ended with.
func read(s inference.Stream) (map[int][]token.ID, map[int]inference.Finish, error) {
	tokens, ends := map[int][]token.ID{}, map[int]inference.Finish{}
	for {
		e, err := s.Next()
		if err != nil {
			return tokens, ends, err
		}
		if e.Token != token.None {
			tokens[e.Choice] = append(tokens[e.Choice], e.Token)
		}
		if e.Finish != inference.Running {
			ends[e.Choice] = e.Finish
		}
	}
}

func TestEndsLikeAnEngine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		req    inference.Request
		tokens []token.ID
		end    inference.Finish
	}{
		{"all said", inference.Request{MaxTokens: -1, EOS: 9}, []token.ID{1, 2, 9, 3}[:3], inference.FinishEOS},
		{"length", inference.Request{MaxTokens: 2, EOS: 9}, []token.ID{1, 2}, inference.FinishLength},
		{"ignored EOS", inference.Request{MaxTokens: -1, EOS: 9, IgnoreEOS: true}, []token.ID{1, 2, 9, 3}, inference.FinishLength},
		{"stop token", inference.Request{MaxTokens: -1, EOS: 9, Stop: []token.ID{2}}, []token.ID{1, 2}, inference.FinishStop},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Say(inference.Info{}, 1, 2, 9, 3)
			s, err := e.Submit(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			tokens, ends, err := read(s)
			if !errors.Is(err, io.EOF) || ends[0] != tt.end {
				t.Errorf("ended with %d, %v, want %d and io.EOF", ends[0], err, tt.end)
			}
			if diff := cmp.Diff(tt.tokens, tokens[0]); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStepsSetThePace(t *testing.T) {
	step := make(chan struct{})
	e := New(inference.Info{}, func(inference.Request, int) Reply {
		return Reply{Tokens: []token.ID{1, 2, 3}, Step: step}
	})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := e.Submit(ctx, inference.Request{MaxTokens: -1})
	if err != nil {
		t.Fatal(err)
	}
	step <- struct{}{}
	if event, err := s.Next(); err != nil || event.Token != 1 {
		t.Errorf("got token %d, %v, want 1", event.Token, err)
	}
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: got %v, want context.Canceled", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestFailsAfterItsTokens(t *testing.T) {
	e := New(inference.Info{}, func(inference.Request, int) Reply {
		return Reply{Tokens: []token.ID{1, 2}, Err: inference.ErrEngine}
	})
	s, err := e.Submit(t.Context(), inference.Request{MaxTokens: -1, Choices: 1})
	if err != nil {
		t.Fatal(err)
	}
	tokens, _, err := read(s)
	if len(tokens[0]) != 2 || !errors.Is(err, inference.ErrEngine) {
		t.Errorf("got %v, %v, want two tokens and ErrEngine", tokens, err)
	}
}

func TestStopEndsOneChoice(t *testing.T) {
	step := make(chan struct{})
	e := New(inference.Info{}, func(_ inference.Request, choice int) Reply {
		r := Reply{Tokens: []token.ID{1, 2, 3}}
		if choice == 0 {
			r.Step = step
		}
		return r
	})
	s, err := e.Submit(t.Context(), inference.Request{MaxTokens: -1, Choices: 2})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop(0)
	tokens, ends, err := read(s)
	if !errors.Is(err, io.EOF) || ends[0] != inference.FinishEOS || len(tokens[0]) != 0 || len(tokens[1]) != 3 {
		t.Errorf("got %v %v %v, want choice 0 stopped and choice 1 whole", tokens, ends, err)
	}
}
