// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// wellKnown are texts that give structure to what models say. They are control tokens wherever a vocabulary has them,
// also beside a template that leaves them to the model.
var wellKnown = []string{
	"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>",
}

// MarkControl makes control tokens of the markers of a model's chat templates, whatever its files call them: text of a user
// must not become one. Markers are the well-known ones, those of the answers that the templates tell of, and user-defined
// tokens in brackets that stand in a template, such as [INST] and <｜User｜>. Other user-defined tokens, such as runs of
// spaces and HTML tags that no template has, stay what they are and match in any text.
//
// This is the one rule for the program's tokenize and for what is served. A model's own control tokens (type 3 in GGUF,
// "special": true elsewhere) need no marking.
func MarkControl(t *tokenizer.Tokenizer, templates ...string) {
	markers := slices.Clone(wellKnown)
	for _, template := range templates {
		markers = append(markers, parser.DetectFormat(template).Markers()...)
		markers = append(markers, slices.DeleteFunc(t.UserDefinedIn(template), func(piece string) bool { return !bracketed(piece) })...)
	}
	t.MarkControl(markers...)
}

// bracketed reports whether a piece is something between brackets. A template's source is full of pieces that only happen
// to stand there: words, operators, runs of spaces.
func bracketed(piece string) bool {
	const brackets = "<>[]{}()"
	return len(piece) > 2 && strings.IndexByte(brackets, piece[0]) >= 0 && strings.IndexByte(brackets, piece[len(piece)-1]) >= 0 &&
		strings.Trim(piece, brackets) != ""
}
