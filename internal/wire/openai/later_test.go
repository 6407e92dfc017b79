// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/token"
)

// everyToken returns an output token with the logprobs of a vocabulary of n tokens, some of which have one text.
func everyToken(n int) chat.Token {
	spell := func(id token.ID) []byte { return []byte("w" + strconv.Itoa(int(id/2))) }
	t := chat.Token{TokenLogprob: chat.Describe(3, spell(3)), Scored: true, Top: chat.Ranking{Bytes: spell}}
	for id := range n {
		t.Top.Entries = append(t.Top.Entries, chat.Candidate{ID: token.ID(id), Logprob: -float32(id)})
	}
	return t
}

// A pieceWriter keeps what is written, and how much of it came at once.
type pieceWriter struct {
	bytes.Buffer
	longest int
}

func (w *pieceWriter) Write(p []byte) (int, error) {
	w.longest = max(w.longest, len(p))
	return w.Buffer.Write(p)
}

func TestLogprobsOfTheWholeVocabularyAreWrittenInPieces(t *testing.T) {
	const vocabulary = 50_000
	all, top := chat.AllLogprobs, 20
	a := &chat.Answer{
		Prompts: []chat.PromptInfo{{Logprobs: []chat.Token{{}, everyToken(40)}}},
		Choices: []chat.Choice{{Text: "w1w1", Tokens: []chat.Token{everyToken(vocabulary), everyToken(vocabulary)}}},
	}
	completion := CompletionRequest{}
	completion.Completion.Choices, completion.Completion.Logprobs, completion.Completion.PromptLogprobs = 1, &all, &top
	conversation := ChatRequest{}
	conversation.Chat.Choices, conversation.Chat.Logprobs, conversation.Chat.PromptLogprobs = 1, &all, &top
	for name, write := range map[string]func(w *pieceWriter) error{
		"completion": func(w *pieceWriter) error { return completion.WriteBody(w, Head{}, a) },
		"chat":       func(w *pieceWriter) error { return conversation.WriteBody(w, Head{}, a) },
	} {
		var w pieceWriter
		if err := write(&w); err != nil {
			t.Fatal(err)
		}
		if w.longest > 2*pieceBytes || w.Len() < 10*pieceBytes {
			t.Errorf("%s: pieces of up to %d bytes of %d", name, w.longest, w.Len())
		}
		var body struct {
			Choices []struct {
				Logprobs json.RawMessage `json:"logprobs"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(w.Bytes(), &body); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		strict := json.NewDecoder(bytes.NewReader(body.Choices[0].Logprobs))
		strict.DisallowUnknownFields()
		var inChat chatLogprobs
		var inCompletion completionLogprobs
		if name == "chat" {
			if err := strict.Decode(&inChat); err != nil || len(inChat.Content) != 2 || len(inChat.Content[1].Top) != vocabulary {
				t.Errorf("chat: %v", err)
			}
			continue
		}
		if err := strict.Decode(&inCompletion); err != nil || len(inCompletion.Top) != 2 || len(inCompletion.Top[1]) != vocabulary {
			t.Errorf("completion: %v", err)
		}
	}
}

func TestABodyEndsWithItsReader(t *testing.T) {
	a := &chat.Answer{Prompts: []chat.PromptInfo{{}}, Choices: []chat.Choice{{Tokens: []chat.Token{everyToken(50_000)}}}}
	r := CompletionRequest{}
	all := chat.AllLogprobs
	r.Completion.Choices, r.Completion.Logprobs = 1, &all
	w := &closedWriter{}
	if err := r.WriteBody(w, Head{}, a); !errors.Is(err, errGone) || w.writes != 1 {
		t.Errorf("got %v after %d writes", err, w.writes)
	}
}

var errGone = errors.New("gone")

type closedWriter struct{ writes int }

func (w *closedWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errGone
}

func TestNumbersAreWrittenAsByTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []float32{0, -0.25, 1e-6, 9.99e-7, -1e-9, 1e-10, 1e20, 1e21, -3.4e38, math.SmallestNonzeroFloat32, lowest}
	for range 10_000 {
		values = append(values, math.Float32frombits(r.Uint32()))
	}
	for _, v := range values {
		if v != v || math.IsInf(float64(v), 0) {
			continue
		}
		s := sink{}
		s.float(v)
		if want := string(encode(v)); string(s.buf) != want {
			t.Errorf("got %s, want %s", s.buf, want)
		}
	}
}

func TestMarksAreNotFoundInText(t *testing.T) {
	p := newParts()
	body := struct {
		Text  string             `json:"text"`
		Later *later[chatChoice] `json:"later"`
	}{`"` + strings.ToLower(p.name) + `0"`, postpone[chatChoice](p, func(s *sink) { s.raw("7") })}
	var out bytes.Buffer
	if err := p.send(&out, body); err != nil || !strings.HasSuffix(out.String(), `"later":7}`) {
		t.Errorf("got %s, %v", out.String(), err)
	}
}
