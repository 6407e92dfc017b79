// SPDX-License-Identifier: Apache-2.0

// Package parser takes the text of an answer apart while it streams: stop strings, reasoning, tool calls.
//
// Stops looks for stop strings in the raw text. A Parser then splits what is left into events of package chat,
// after the markers of a Format. Both hold text back only while it may still become part of a stop string or a
// marker: the longest suffix that is a proper prefix of one.
//
// Always true: any split of a text into pieces gives the same events, once neighbours of one kind are joined; and
// the work is linear in the length of the text.
//
// It knows no tokens and no JSON Schema: a tool call is whatever JSON object with a name stands between the markers.
package parser
