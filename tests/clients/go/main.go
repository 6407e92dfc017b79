// SPDX-License-Identifier: Apache-2.0

// Command clients runs the OpenAI SDK for Go against a Sampo server at SAMPO_BASE_URL.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var client = openai.NewClient(
	option.WithBaseURL(os.Getenv("SAMPO_BASE_URL")), option.WithAPIKey("any-key-will-do"), option.WithMaxRetries(0))

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
		{"n gives n choices", nChoices},
		{"stop and logprobs", stopAndLogprobs},
		{"errors name the field", errorsNameTheField},
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
