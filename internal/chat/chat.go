// SPDX-License-Identifier: Apache-2.0

// Package chat holds the neutral form of a conversation that every API maps to and every prompt is rendered from.
//
// A Conversation is what a chat template sees: messages, tools, documents and switches. Params are what the client
// asked of generation, with nil for what it left open.
package chat

import "github.com/sampo-ai/sampo/internal/ordjson"

// A Conversation is what a chat template renders.
type Conversation struct {
	Messages            []Message
	Tools               []Tool
	Documents           []any // JSON values of package ordjson
	AddGenerationPrompt bool
	ContinueFinal       bool            // leave the last message open
	Kwargs              *ordjson.Object // further variables of the template; may be nil
}

// A Message is one turn.
type Message struct {
	Role       string
	Name       string
	Content    []Part // nil: no content
	Reasoning  string
	ToolCalls  []ToolCall
	ToolCallID string
}

// A Part is a piece of a message's content. Only text exists so far.
type Part struct {
	Text string
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  *ordjson.Object // JSON Schema; nil: no arguments
	Raw         *ordjson.Object // the whole entry as the client sent it, {"type":"function","function":{...}}
}

// A ToolCall is a call that the model made.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON text as the model wrote it; may be broken
}
