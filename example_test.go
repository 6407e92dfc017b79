// SPDX-License-Identifier: Apache-2.0

package sampo_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/sampo-ai/sampo"
)

func ptr[T any](v T) *T { return &v }

// A conversation with the built-in model. The answer streams; Text joins it.
func ExampleModel_Chat() {
	model, err := sampo.Load("sampo/mini-chat", sampo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()

	answer, err := sampo.Text(model.Chat(context.Background(), []sampo.Message{
		{Role: "user", Content: "What is the capital of Finland?"},
	}, sampo.SamplingParams{Temperature: ptr(0.0)}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(answer, "Helsinki"))
	// Output: true
}

// A text that the model continues, token by token, with a limit and a seed.
func ExampleModel_Generate() {
	model, err := sampo.Load("sampo/mini-chat", sampo.Options{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()

	params := sampo.SamplingParams{MaxTokens: ptr(8), Seed: ptr(int64(42)), IgnoreEOS: true}
	tokens := 0
	for delta, err := range model.Generate(context.Background(), "The capital of", params) {
		if err != nil {
			log.Fatal(err)
		}
		tokens += len(delta.Tokens)
		if delta.Finish != "" {
			fmt.Println(tokens, delta.Finish)
		}
	}
	// Output: 8 length
}
