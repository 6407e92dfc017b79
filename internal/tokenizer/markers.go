// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"

	"github.com/sampo-ai/sampo/internal/token"
)

// UserDefinedIn returns the pieces of user-defined tokens that stand in a text, such as the source of a chat template.
// Files are careless about the kind of such tokens: some of them are the template's markers.
func (t *Tokenizer) UserDefinedIn(text string) []string {
	var found []string
	for id := range token.ID(t.VocabSize()) {
		if t.Kind(id) != token.UserDefined {
			continue
		}
		if piece := t.Piece(id); strings.Contains(text, piece) {
			found = append(found, piece)
		}
	}
	return found
}
