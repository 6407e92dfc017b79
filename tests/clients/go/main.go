// SPDX-License-Identifier: Apache-2.0

// Command clients runs the OpenAI SDK for Go against the servers at SAMPO_BASE_URL and SAMPO_BUSY_URL (see ../common.sh).
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var client = openai.NewClient(option.WithBaseURL(os.Getenv("SAMPO_BASE_URL")), option.WithMaxRetries(0))

func main() {
	ctx := context.Background()
	page, err := client.Models.List(ctx)
	if err != nil || len(page.Data) == 0 {
		fmt.Println("FAIL models:", err)
		os.Exit(1)
	}
	model := page.Data[0].ID
	tests := []struct {
		name string
		run  func(context.Context, string) error
	}{
		{"chat answers", chatAnswers},
		{"a stream joins to the plain answer", streamJoins},
		{"tool calls stream", toolCallsStream},
		{"n gives n choices", nChoices},
		{"stop and logprobs", stopAndLogprobs},
		{"completions are scored", completionsAreScored},
		{"many at once", manyAtOnce},
		{"errors name the field", errorsNameTheField},
		{"errors have their status", errorsHaveTheirStatus},
		{"a retry finds the place that was freed", retryFindsPlace},
		{"leaving early is fine", leavingEarly},
	}
	failed := 0
	for _, t := range tests {
		if err := t.run(ctx, model); err != nil {
			failed++
			fmt.Println("FAIL", t.name, err)
			continue
		}
		fmt.Println("ok  ", t.name)
	}
	fmt.Printf("%d passed, %d failed\n", len(tests)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func question(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:       model,
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the capital of Finland?")},
		Temperature: openai.Float(0),
	}
}

func chatAnswers(ctx context.Context, model string) error {
	answer, err := client.Chat.Completions.New(ctx, question(model))
	if err != nil {
		return err
	}
	if got := answer.Choices[0].Message.Content; !strings.Contains(got, "Helsinki") {
		return fmt.Errorf("answer %q does not name Helsinki", got)
	}
	return nil
}

func streamJoins(ctx context.Context, model string) error {
	whole, err := client.Chat.Completions.New(ctx, question(model))
	if err != nil {
		return err
	}
	stream := client.Chat.Completions.NewStreaming(ctx, question(model))
	acc := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			return errors.New("the accumulator refused a chunk")
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if got, want := acc.Choices[0].Message.Content, whole.Choices[0].Message.Content; got != want {
		return fmt.Errorf("streamed %q, whole %q", got, want)
	}
	return nil
}

func nChoices(ctx context.Context, model string) error {
	params := question(model)
	params.N, params.Temperature, params.Seed = openai.Int(2), openai.Float(1), openai.Int(3)
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	if len(answer.Choices) != 2 {
		return fmt.Errorf("%d choices, want 2", len(answer.Choices))
	}
	return nil
}

func stopAndLogprobs(ctx context.Context, model string) error {
	params := question(model)
	params.Stop = openai.ChatCompletionNewParamsStopUnion{OfStringArray: []string{"Hel"}}
	params.Logprobs, params.TopLogprobs = openai.Bool(true), openai.Int(2)
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	choice := answer.Choices[0]
	if strings.Contains(choice.Message.Content, "Hel") {
		return fmt.Errorf("the stop string is in %q", choice.Message.Content)
	}
	if got, want := len(choice.Logprobs.Content), int(answer.Usage.CompletionTokens); got != want {
		return fmt.Errorf("%d logprobs for %d tokens", got, want)
	}
	return nil
}

// say asks the scripted model for a text that is known.
func say(script string) openai.ChatCompletionNewParams {
	params := question("scripted")
	params.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage("say:" + script)}
	return params
}

func toolCallsStream(ctx context.Context, _ string) error {
	params := say("calls")
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:       "get_weather",
		Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
	})}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	acc := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		acc.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return err
	}
	calls := acc.Choices[0].Message.ToolCalls
	if len(calls) != 2 || calls[0].Function.Arguments != `{"city": "Oulu"}` || calls[1].Function.Arguments != `{"city": "Oslo"}` {
		return fmt.Errorf("calls %+v", calls)
	}
	if got := acc.Choices[0].FinishReason; got != "tool_calls" {
		return fmt.Errorf("finish reason %q", got)
	}
	return nil
}

func completionsAreScored(ctx context.Context, model string) error {
	answer, err := client.Completions.New(ctx, openai.CompletionNewParams{
		Model: openai.CompletionNewParamsModel(model), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("The capital of Finland")},
		MaxTokens: openai.Int(0), Echo: openai.Bool(true), Logprobs: openai.Int(1),
	})
	if err != nil {
		return err
	}
	if got, want := len(answer.Choices[0].Logprobs.TokenLogprobs), int(answer.Usage.PromptTokens); got != want || answer.Usage.CompletionTokens != 0 {
		return fmt.Errorf("%d logprobs for %d tokens, %d written", got, want, answer.Usage.CompletionTokens)
	}
	return nil
}

func manyAtOnce(ctx context.Context, model string) error {
	var texts [16]string
	var errs [16]error
	var all sync.WaitGroup
	for i := range texts {
		all.Go(func() {
			params := question(model)
			params.Temperature, params.Seed, params.MaxTokens = openai.Float(1), openai.Int(int64(i%4)), openai.Int(12)
			answer, err := client.Chat.Completions.New(ctx, params)
			if err != nil {
				errs[i] = err
				return
			}
			texts[i] = answer.Choices[0].Message.Content
		})
	}
	all.Wait()
	for i, text := range texts {
		if text != texts[i%4] {
			return fmt.Errorf("seed %d gave %q and %q", i%4, texts[i%4], text)
		}
	}
	return errors.Join(errs[:]...)
}

func errorsNameTheField(ctx context.Context, model string) error {
	params := question(model)
	params.TopP = openai.Float(2)
	_, err := client.Chat.Completions.New(ctx, params)
	var api *openai.Error
	if !errors.As(err, &api) || api.StatusCode != 400 || api.Param != "top_p" {
		return fmt.Errorf("top_p 2: got %v", err)
	}
	return nil
}

func errorsHaveTheirStatus(ctx context.Context, model string) error {
	long := question(model)
	long.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Repeat("Hello ", 20_000))}
	stranger := openai.NewClient(option.WithBaseURL(os.Getenv("SAMPO_BASE_URL")), option.WithAPIKey("wrong"), option.WithMaxRetries(0))
	for _, t := range []struct {
		client openai.Client
		params openai.ChatCompletionNewParams
		status int
		code   string
	}{
		{client, long, 400, "context_length_exceeded"},
		{client, question("nope"), 404, "model_not_found"},
		{stranger, question(model), 401, "invalid_api_key"},
	} {
		_, err := t.client.Chat.Completions.New(ctx, t.params)
		var api *openai.Error
		if !errors.As(err, &api) || api.StatusCode != t.status || api.Code != t.code {
			return fmt.Errorf("want %d %s, got %v", t.status, t.code, err)
		}
		stream := t.client.Chat.Completions.NewStreaming(ctx, t.params)
		if stream.Next() || !errors.As(stream.Err(), &api) || api.StatusCode != t.status {
			return fmt.Errorf("streamed: want %d, got %v", t.status, stream.Err())
		}
	}
	return nil
}

// retryFindsPlace takes the only place of the busy server, and frees it when another request has been refused.
func retryFindsPlace(ctx context.Context, model string) error {
	holder := openai.NewClient(option.WithBaseURL(os.Getenv("SAMPO_BUSY_URL")), option.WithMaxRetries(0))
	endless := question(model)
	endless.MaxTokens, endless.N, endless.Temperature = openai.Int(4000), openai.Int(16), openai.Float(1)
	stream := holder.Chat.Completions.NewStreaming(ctx, endless, option.WithJSONSet("ignore_eos", true))
	if !stream.Next() {
		return stream.Err()
	}
	refused := 0
	patient := openai.NewClient(option.WithBaseURL(os.Getenv("SAMPO_BUSY_URL")), option.WithMaxRetries(5),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			response, err := next(r)
			if err == nil && response.StatusCode == http.StatusTooManyRequests {
				refused++
				return response, stream.Close()
			}
			return response, err
		}))
	short := question(model)
	short.MaxTokens = openai.Int(4)
	if _, err := patient.Chat.Completions.New(ctx, short); err != nil {
		return err
	}
	if refused == 0 {
		return errors.New("the busy server had a second place")
	}
	return nil
}

func leavingEarly(ctx context.Context, model string) error {
	endless := question(model)
	endless.MaxTokens, endless.N, endless.Temperature = openai.Int(4000), openai.Int(16), openai.Float(1)
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if _, err := client.Chat.Completions.New(short, endless, option.WithJSONSet("ignore_eos", true)); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("want the deadline, got %v", err)
	}
	stream := client.Chat.Completions.NewStreaming(ctx, endless, option.WithJSONSet("ignore_eos", true))
	stream.Next()
	if err := stream.Close(); err != nil {
		return err
	}
	return chatAnswers(ctx, model)
}
