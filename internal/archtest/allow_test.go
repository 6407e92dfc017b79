// SPDX-License-Identifier: Apache-2.0

package archtest

import "testing"

// Each list names what may exceed a limit, with its reason. An entry that is no longer needed fails the test below.
var (
	longFiles    = map[string]string{}
	longFuncs    = map[string]string{}
	manyParams   = map[string]string{}
	deepFuncs    = map[string]string{}
	widePackages = map[string]string{
		"internal/tensor":      "matrices, attention and the element-wise operations of all families",
		"internal/chat":        "the neutral form that every API maps to",
		"internal/wire/openai": "one request and one body for each endpoint",
		"internal/kernel":      "one name for each kernel",
	}
)

var used = map[string]bool{}

// allowed reports whether key stands in list, and remembers that it was needed.
func allowed(list map[string]string, key string) bool {
	_, ok := list[key]
	used[key] = used[key] || ok
	return ok
}

func TestExceptionsAreStillNeeded(t *testing.T) {
	TestFilesAndFunctionsStayShort(t)
	TestPackagesExportFewNames(t)
	for _, list := range []map[string]string{longFiles, longFuncs, manyParams, deepFuncs, widePackages} {
		for key, reason := range list {
			if reason == "" {
				t.Errorf("exception %s has no reason", key)
			}
			if !used[key] {
				t.Errorf("exception %s is not needed any more: remove it", key)
			}
		}
	}
}
