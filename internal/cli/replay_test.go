// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// A replay is a question of tools/minimodels/questions.json: the request, the prompt that the template makes of it and
// the greedy answer of the shipped model, which passed the checks of tools/minimodels/evaluate.py.
type replay struct {
	Skill   string
	Request map[string]any
	Prompt  string
	Answer  replayAnswer
}

type replayAnswer struct {
	Thought string
	Text    string
	Calls   []replayCall
}

type replayCall struct {
	Name      string
	Arguments string // JSON
}

// Forty questions, greedy, thoughts and tool calls included: the embedded model, through the server and the engine,
// gives the right answers that were noted for it.
func TestTheBuiltInModelGivesItsFortyAnswers(t *testing.T) {
	data, err := os.ReadFile(filepath.FromSlash("../../tools/minimodels/questions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var questions []replay
	if err := json.Unmarshal(data, &questions); err != nil {
		t.Fatal(err)
	}
	if len(questions) != 40 {
		t.Errorf("%d questions, want 40", len(questions))
	}
	s := startServer(t, nil)
	thoughts, calls := 0, 0
	for _, q := range questions {
		prompt, answer := s.ask(t, q.Request)
		if prompt != q.Prompt {
			t.Errorf("%s: prompt %q, want %q", q.Skill, prompt, q.Prompt)
		}
		if !reflect.DeepEqual(answer, q.Answer) {
			t.Errorf("%s: to %q\n the answer is %+v,\n want          %+v", q.Skill, q.Prompt, answer, q.Answer)
		}
		calls += len(answer.Calls)
		if answer.Thought != "" {
			thoughts++
		}
	}
	if thoughts == 0 || calls == 0 {
		t.Errorf("%d thoughts and %d calls among the answers, want some of both", thoughts, calls)
	}
}

// ask sends a chat request, greedy, and returns the rendered prompt and the answer.
func (s *testServer) ask(t *testing.T, request map[string]any) (string, replayAnswer) {
	t.Helper()
	request["temperature"], request["return_prompt_text"] = 0, true
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Prompt  string `json:"prompt_text"`
		Error   any
		Choices []struct {
			Message struct {
				Content          string
				ReasoningContent string                          `json:"reasoning_content"`
				ToolCalls        []struct{ Function replayCall } `json:"tool_calls"`
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Choices) != 1 {
		t.Fatalf("status %d, error %v", resp.StatusCode, got.Error)
	}
	m := got.Choices[0].Message
	answer := replayAnswer{Thought: m.ReasoningContent, Text: m.Content}
	for _, c := range m.ToolCalls {
		answer.Calls = append(answer.Calls, c.Function)
	}
	return got.Prompt, answer
}
