// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/api/openai.md left out fields that are accepted without effect.
func TestTheDocumentNamesEveryFieldOfARequest(t *testing.T) {
	text, err := os.ReadFile("../../../docs/api/openai.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_]+[*]?)(: [a-z]+)?`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	names := slices.Concat(ignoredAnywhere, ignoredByChat, ignoredByCompletion, refusedAnywhere, refusedByChat)
	for _, field := range slices.Concat(samplingFields, chatFields, completionFields, playgroundFields) {
		names = append(names, field.name)
	}
	for _, name := range names {
		if !named[name] && !(strings.HasPrefix(name, "guided_") && named["guided_*"]) {
			t.Errorf("field %s is not in the document", name)
		}
	}
}
