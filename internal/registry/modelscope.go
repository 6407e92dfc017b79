// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"path/filepath"
	"slices"
	"strings"
)

// modelScopeDot is what ModelScope writes for a dot in the name of a folder. Beside it there may be a link with the dot.
const modelScopeDot = "___"

// notOwners are folders of a ModelScope cache that hold something else: caches of different ages lie in one another.
var notOwners = []string{"models", "datasets", "hub", "ast_indexer"}

// modelScopeModels lists the models of a ModelScope cache: OWNER/NAME/files.
func modelScopeModels(root string) []Model {
	var all []Model
	for _, owner := range look(root).folders {
		if slices.Contains(notOwners, owner) {
			continue
		}
		dir := filepath.Join(root, owner)
		seen := map[string]bool{}
		for _, name := range look(dir).folders {
			repo := owner + "/" + strings.ReplaceAll(name, modelScopeDot, ".")
			if !seen[repo] {
				seen[repo] = true
				all = append(all, snapshotModels(Store{ModelScope, root}, repo, filepath.Join(dir, name))...)
			}
		}
	}
	return all
}
