// SPDX-License-Identifier: Apache-2.0

// Package openai maps the JSON of the OpenAI-compatible API to package chat and back: requests are decoded and
// validated, answers are written as bodies or as server-sent events, errors as error bodies.
//
// Decoding is strict where it can change an answer. Keys match exactly, null equals absent, the last of repeated keys
// counts, and numbers, strings and booleans don't stand in for each other; an integral float is an integer. Every
// field of the API is honoured, ignored because it changes nothing, or refused by name. The names of other fields are
// kept, for the header that tells of them.
//
// What a request asks for that cannot be done is told apart from what is malformed (Common.Refused): a server
// checks the model's name in between.
//
// The package does no I/O and knows token IDs only as numbers in a body.
package openai
