// SPDX-License-Identifier: Apache-2.0

// Package server answers HTTP: the OpenAI-compatible routes, the service routes, and what protects them.
//
// A request passes, in this order: the Host and Origin check, the key, the route, the content type, the size, the
// JSON, the types and ranges of its fields, the model's name, what the model can do, the template, the length, the
// queue. The first that fails answers with the one error envelope (errors.go); keys are checked before a body is read.
//
// Always true: status and headers of a stream leave with its first token, so an error before it is an ordinary HTTP
// error; an error after it is an event and [DONE]; a client that goes away ends its generation within one step;
// prompts and answers are never logged.
//
// One exchange holds what belongs to one request. Handlers are short: they decode, ask package answer, and encode.
package server
