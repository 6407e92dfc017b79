// SPDX-License-Identifier: Apache-2.0

// Package sampo runs language models inside a Go program: no C compiler, no Python, no second process.
//
//	model, err := sampo.Load("sampo/mini-chat", sampo.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer model.Close()
//	for delta, err := range model.Chat(ctx, []sampo.Message{{Role: "user", Content: "Hello"}}, sampo.SamplingParams{}) {
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Print(delta.Text)
//	}
//
// Load opens a model, Generate continues a text, Chat answers a conversation; both stream. A Model may be used by many
// goroutines at once: their requests share each step of the computation, and each gets the tokens that it would get
// alone. At most 64 requests run at once and 256 wait; further ones are refused with ErrBusy.
package sampo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/registry"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// Errors that a caller can do something about. A request whose context ends has the error of the context.
var (
	// ErrNoTemplate says that Chat was asked of a base model, which has no chat template. Generate works with it.
	ErrNoTemplate = answer.ErrNoTemplate
	// ErrBusy says that as many requests wait as may. It may be tried again once some have ended.
	ErrBusy = inference.ErrBusy
	// ErrClosed says that the model was closed, before the request or while it ran.
	ErrClosed = inference.ErrClosed
)

// Options say how a model is opened. The zero value suits a program that does little else.
type Options struct {
	Threads      int    // workers of the computation; 0: one for each core
	CacheBytes   int64  // most memory for keys and values; 0: 40 % of the free memory
	Context      int    // most tokens of prompt plus output; 0: what the model was trained for, if its cache fits
	ChatTemplate string // source of a chat template in place of the model's own
}

// check refuses what no machine has.
func (o Options) check() error {
	switch {
	case o.Threads < 0 || o.Threads > tensor.MaxThreads:
		return fmt.Errorf("sampo: Threads: got %d, want 0 to %d", o.Threads, tensor.MaxThreads)
	case o.CacheBytes < 0:
		return fmt.Errorf("sampo: CacheBytes: got %d, want at least 0", o.CacheBytes)
	case o.Context < 0:
		return fmt.Errorf("sampo: Context: got %d, want at least 0", o.Context)
	}
	return nil
}

// A Model is an open model.
type Model struct {
	local *local.Model
	close func() error // once
}

// Load opens a model: "sampo/mini-chat", which is part of every program; the path of a GGUF file or of a folder with
// safetensors; or the name of a model that is already on this machine, such as "owner/name" or "owner/name:Q4_K_M".
// It downloads nothing.
//
// A name is looked up in the folders where other programs keep their models by default, in the user's home: the environment is not
// read, so models that HF_HOME and its like have moved are loaded by their paths.
func Load(name string, opt Options) (*Model, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	b, err := open(name, opt)
	if err != nil {
		return nil, err
	}
	pool := tensor.NewPool(opt.Threads)
	m, err := local.Open(b, pool, local.Options{CacheBytes: opt.CacheBytes, Context: opt.Context})
	if err != nil {
		pool.Close()
		return nil, err
	}
	closeAll := func() error {
		defer pool.Close()
		return m.Close()
	}
	return &Model{local: m, close: sync.OnceValue(closeAll)}, nil
}

// open finds the files of a model.
func open(name string, opt Options) (*bundle.Bundle, error) {
	home := homeDir()
	unset := func(string) string { return "" }
	models := registry.New(registry.Config{
		Locations: registry.Locate(home, filepath.Join(home, ".sampo"), unset),
		Embedded:  map[string][]byte{assets.MiniChatName: assets.MiniChat()},
	})
	found, err := models.Resolve(name)
	if err != nil {
		return nil, err
	}
	if found.Backend != "" && found.Backend != "cpu" {
		return nil, fmt.Errorf("sampo: %s: backend %q is not part of this build; it has @cpu", name, found.Backend)
	}
	return found.Open(bundle.Options{ChatTemplate: opt.ChatTemplate})
}

// homeDir returns the user's home, or a path that does not exist.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "no-home")
	}
	return home
}

// Close ends all requests, with ErrClosed, and frees the model's memory. It may be called more than once, and while others use the
// model.
func (m *Model) Close() error {
	err := m.close()
	runtime.GC() // frees the weights
	return err
}

// Name returns the model's name.
func (m *Model) Name() string { return m.local.Name }

// MaxContext returns the most tokens that a prompt and its output may have together.
func (m *Model) MaxContext() int { return m.local.MaxContext() }

// Tokenize returns the token IDs of a text, after those that the model's prompts begin with. Text that looks like a control token
// stays text, as it does in a Message; in the prompt of Generate it is that token.
func (m *Model) Tokenize(text string) []int {
	ids := m.local.Tokenizer.Encode(text, tokenizer.Options{AddSpecial: true})
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}

// Generate continues a text. Without MaxTokens it stops after 16 tokens. Control tokens that the prompt spells, such as
// "<|im_start|>", are control tokens: text from others belongs into a Message.
//
// The sequence ends after the delta whose Finish is set, or with an error. Leaving the loop early ends the request.
func (m *Model) Generate(ctx context.Context, prompt string, params SamplingParams) iter.Seq2[Delta, error] {
	p := params.chat()
	if p.MaxTokens == nil {
		few := 16
		p.MaxTokens = &few
	}
	return deltas(func() (*answer.Stream, error) {
		if err := params.check(); err != nil {
			return nil, err
		}
		return m.local.Complete(ctx, chat.Completion{Prompts: []chat.Prompt{{Text: prompt}}, Params: p})
	})
}

// A Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user", "assistant", or another that the model's template knows
	Content string
}

// Chat answers a conversation. Without MaxTokens the answer may fill the rest of the context.
//
// The sequence ends after the delta whose Finish is set, or with an error: ErrNoTemplate for a base model. Leaving the
// loop early ends the request.
func (m *Model) Chat(ctx context.Context, messages []Message, params SamplingParams) iter.Seq2[Delta, error] {
	r := chat.Request{Params: params.chat(), Thinking: params.Thinking}
	r.AddGenerationPrompt = true
	for _, msg := range messages {
		r.Messages = append(r.Messages, chat.Message{Role: msg.Role, Content: []chat.Part{{Text: msg.Content}}})
	}
	return deltas(func() (*answer.Stream, error) {
		if len(messages) == 0 {
			return nil, errors.New("sampo: a conversation needs at least one message")
		}
		if i := slices.IndexFunc(messages, func(m Message) bool { return m.Role == "" }); i >= 0 {
			return nil, fmt.Errorf("sampo: message %d of the conversation has no role", i)
		}
		if err := params.check(); err != nil {
			return nil, err
		}
		return m.local.Chat(ctx, r)
	})
}

// deltas turns a stream of one choice into a sequence.
func deltas(start func() (*answer.Stream, error)) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		stream, err := start()
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer stream.Close()
		for {
			d, err := stream.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Delta{}, err)
				return
			}
			if !yield(newDelta(d), nil) {
				return
			}
		}
	}
}

// Text joins the text of a sequence: the whole answer without its reasoning, or what came of it before an error.
func Text(deltas iter.Seq2[Delta, error]) (string, error) {
	var text []byte
	for d, err := range deltas {
		if err != nil {
			return string(text), err
		}
		text = append(text, d.Text...)
	}
	return string(text), nil
}

// SamplingParams say how tokens are chosen and when to stop. Nil and zero values leave it to the model's own defaults,
// and where it has none, to plain sampling at temperature 1.
type SamplingParams struct {
	MaxTokens *int // nil: 16 for Generate, the rest of the context for Chat
	MinTokens int  // the model's end of text, stop tokens and stop strings wait until so many

	Temperature       *float64 // 0 is greedy
	TopP              *float64 // above 0, at most 1
	TopK              *int     // 0 and -1 are off
	MinP              *float64
	RepetitionPenalty *float64 // above 0; 1 is off
	PresencePenalty   float64
	FrequencyPenalty  float64
	Seed              *int64 // equal seeds give equal answers
	LogitBias         map[int]float64

	Stop         []string // strings that end the text; they are not part of it
	StopTokenIDs []int
	IgnoreEOS    bool
	Logprobs     *int // nil: none; N: of each token and of the N best ones; -1: of all

	Thinking *bool // Chat with a reasoning model: think first; nil: as its template has it
}

// check refuses what the neutral parameters cannot say. All else is checked against the model.
func (s SamplingParams) check() error {
	for id, bias := range s.LogitBias {
		added := float64(float32(bias))
		switch {
		case int(token.ID(id)) != id:
			return fmt.Errorf("sampo: LogitBias: token %d is in no vocabulary", id)
		case math.IsNaN(added) || math.IsInf(added, 0):
			return fmt.Errorf("sampo: LogitBias: got %v for token %d, want a finite float32", bias, id)
		}
	}
	for _, id := range s.StopTokenIDs {
		if int(token.ID(id)) != id {
			return fmt.Errorf("sampo: StopTokenIDs: token %d is in no vocabulary", id)
		}
	}
	return nil
}

// chat maps the parameters to the neutral ones.
func (s SamplingParams) chat() chat.Params {
	p := chat.Params{
		MaxTokens: s.MaxTokens, MinTokens: s.MinTokens, Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MinP: s.MinP,
		RepetitionPenalty: s.RepetitionPenalty, PresencePenalty: s.PresencePenalty, FrequencyPenalty: s.FrequencyPenalty,
		Seed: s.Seed, Stop: s.Stop, IgnoreEOS: s.IgnoreEOS, Logprobs: s.Logprobs,
	}
	for id, bias := range s.LogitBias {
		p.Bias = append(p.Bias, chat.TokenBias{Token: token.ID(id), Value: bias})
	}
	for _, id := range s.StopTokenIDs {
		p.StopTokens = append(p.StopTokens, token.ID(id))
	}
	return p
}

// A Delta is what one step added to an answer.
type Delta struct {
	Text      string
	Reasoning string  // thinking of a reasoning model, without its markers
	Tokens    []Token // the output tokens behind the delta
	Finish    string  // "stop" or "length" on the last delta, else ""
	Usage     Usage   // so far
}

// A Token is an output token.
type Token struct {
	ID      int
	Text    string
	Logprob float64 // if Logprobs was set
	Top     []Token // the best ones, best first, if Logprobs was not 0
}

// Usage counts tokens.
type Usage struct{ PromptTokens, CachedTokens, OutputTokens int }

func newDelta(d chat.Delta) Delta {
	out := Delta{Usage: Usage{d.Usage.PromptTokens, d.Usage.CachedTokens, d.Usage.OutputTokens}}
	for _, e := range d.Events {
		switch e.Kind {
		case chat.Text:
			out.Text += e.Text
		case chat.Reasoning:
			out.Reasoning += e.Text
		default: // calls do not occur without tools
		}
	}
	for _, t := range d.Tokens {
		tok := newToken(t.TokenLogprob)
		for i := range t.Top.Len() {
			tok.Top = append(tok.Top, newToken(t.Top.At(i)))
		}
		out.Tokens = append(out.Tokens, tok)
	}
	if d.Finish != nil {
		out.Finish = string(d.Finish.Reason)
	}
	return out
}

func newToken(t chat.TokenLogprob) Token {
	return Token{ID: int(t.ID), Text: t.Text, Logprob: float64(t.Logprob)}
}

// String prints the token for logs.
func (t Token) String() string { return fmt.Sprintf("%d %q %.4f", t.ID, t.Text, t.Logprob) }
