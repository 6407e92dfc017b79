// SPDX-License-Identifier: Apache-2.0

package scriptmodel

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

func open(t *testing.T) *local.Model {
	t.Helper()
	pool := tensor.NewPool(1)
	t.Cleanup(pool.Close)
	m, err := Open(pool, local.Options{CacheBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// said returns the bytes of the first choice's tokens, the end of text included.
func said(t *testing.T, m *local.Model, p chat.Params, messages ...chat.Message) string {
	t.Helper()
	r := chat.Request{Params: p}
	r.AddGenerationPrompt, r.Messages = true, messages
	s, err := m.Chat(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	a, err := answer.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, token := range a.Choices[0].Tokens {
		text = append(text, token.Bytes...)
	}
	return string(text)
}

func user(text string) chat.Message {
	return chat.Message{Role: "user", Content: []chat.Part{{Text: text}}}
}

func TestEveryScriptIsWrittenToItsEnd(t *testing.T) {
	m := open(t)
	for _, temperature := range []float64{0, 1} {
		seed := int64(1)
		p := chat.Params{Temperature: &temperature, Seed: &seed}
		for _, s := range Scripts {
			if got := said(t, m, p, user("Please "+Say(s.Name)+" now.")); got != s.Text()+end {
				t.Errorf("%s at temperature %g: %q, want %q", s.Name, temperature, got, s.Text()+end)
			}
		}
		if got := said(t, m, p, user("Hello")); got != Find(Default).Text()+end {
			t.Errorf("no script: %q", got)
		}
	}
}

func TestTheLastMessageThatIsNotTheModelsChooses(t *testing.T) {
	m := open(t)
	zero := 0.0
	answered := chat.Message{Role: "assistant", Content: []chat.Part{{Text: Say("json")}}}
	if got := said(t, m, chat.Params{Temperature: &zero}, user(Say("call")), answered, user(Say("yes"))); got != "yes."+end {
		t.Errorf("%q, want the script that the last message names", got)
	}
}

func TestTwoNamesLeaveItToSampling(t *testing.T) {
	m := open(t)
	heard := map[string]int{}
	for seed := range int64(20) {
		one := 1.0
		heard[said(t, m, chat.Params{Temperature: &one, Seed: &seed}, user(Say("yes", "no")))]++
	}
	if heard["yes."+end] < 2 || heard["no, never."+end] < 2 {
		t.Errorf("heard %v, want both", heard)
	}
}

func TestIgnoringTheEndFillsAnyContext(t *testing.T) {
	m := open(t)
	zero, n := 0.0, 100
	got := said(t, m, chat.Params{Temperature: &zero, MaxTokens: &n, IgnoreEOS: true}, user("Hello"))
	again := Find(Default).Text() + end
	if want := strings.Repeat(again, 20); !strings.HasPrefix(want, got) || len(got) < len(again)*9 {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBytesKeepTheirOwnTokens(t *testing.T) {
	m := open(t)
	for id, want := range m.Tokenizer.Encode("aé🦔\n", tokenizer.Options{}) {
		if want >= 256 {
			t.Errorf("byte %d is token %d, which belongs to a script", id, want)
		}
	}
}

func TestTheSameFileEveryTime(t *testing.T) {
	var a, b bytes.Buffer
	if err := Write(&a); err != nil {
		t.Fatal(err)
	}
	if err := Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two files differ")
	}
}

// Scripts that only a suite in tests/clients uses were lost once, and no test here noticed.
func TestEveryScriptThatAClientSuiteAsksForExists(t *testing.T) {
	const suites = "../../../tests/clients"
	asks := regexp.MustCompile(`say:([a-z]+)`)
	found := 0
	err := fs.WalkDir(os.DirFS(suites), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(suites + "/" + path)
		for _, name := range asks.FindAllSubmatch(text, -1) {
			found++
			if !slices.ContainsFunc(Scripts, func(s Script) bool { return s.Name == string(name[1]) }) {
				t.Errorf("%s asks for the script %q", path, name[1])
			}
		}
		return err
	})
	if err != nil || found < 10 {
		t.Errorf("%d found, %v", found, err)
	}
}
