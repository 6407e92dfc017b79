// SPDX-License-Identifier: Apache-2.0

// Package answer takes a conversation or raw prompts to a model and gives the answer back as it comes: the line from
// a request of package chat through template, tokenizer, engine, decoder and parser to events of package chat.
//
// A Model is a name with what stands behind it. Chat and Complete check what depends on the model, submit one request
// to the engine for each prompt, and return a Stream; Collect puts a stream together.
//
// Always true: every choice of a stream ends with exactly one Finish, or the stream with one error; tokens sampled
// after the one that completed a stop string appear nowhere; a prompt is cut only where the request asks for it.
//
// Nothing here knows JSON bodies or HTTP. Servers, commands and the Go library share it.
package answer
