// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"strconv"
	"strings"
	"testing"
)

// A rule gives the height of a package: it may import packages of lower layers, and what its rule allows beside them.
type rule struct {
	layer   int
	also    []string // packages of the same layer that it may import
	never   []string // packages of lower layers that it may not import
	only    []string // if set: the only packages of ours that it may import
	because string   // why the exceptions are what they are
}

// rules is the import table. A directory that is not listed takes the rule of the nearest listed directory above it;
// packages below one listed directory may import each other.
var rules = map[string]rule{
	"internal/kernel":    {layer: 0, because: "a leaf: kernels never see a model"},
	"internal/token":     {layer: 0, because: "a leaf"},
	"internal/ordjson":   {layer: 0, because: "a leaf"},
	"internal/webui":     {layer: 0, because: "a leaf"},
	"internal/wholefile": {layer: 0, because: "a leaf"},
	"assets":             {layer: 0, because: "a leaf"},
	"internal/chat":      {layer: 0, also: []string{"internal/token", "internal/ordjson"}, because: "the neutral form names token IDs and JSON values"},

	"internal/quant":     {layer: 1},
	"internal/tokenizer": {layer: 1},
	"internal/grammar":   {layer: 1},
	"internal/parser":    {layer: 1},
	"internal/media":     {layer: 1},
	"internal/wire":      {layer: 1, only: []string{"internal/chat", "internal/token", "internal/ordjson"}, because: "wire packages map JSON to chat and nothing else"},
	"internal/hub":       {layer: 1, only: []string{}, because: "downloads know nothing of models"},
	"internal/tracing":   {layer: 1, only: []string{"internal/chat", "internal/token", "internal/ordjson"}, because: "spans tell of requests, not of engines"},
	"internal/store":     {layer: 1, only: []string{}, because: "rows know nothing of models"},

	"internal/tensor":    {layer: 2},
	"internal/kvcache":   {layer: 2},
	"internal/sampler":   {layer: 2},
	"internal/prompt":    {layer: 2},
	"internal/inference": {layer: 2},

	"internal/weights":   {layer: 3},
	"internal/scheduler": {layer: 3, only: []string{"internal/kvcache", "internal/inference", "internal/token"}, because: "the scheduler never sees a tensor, a string or a socket"},

	"internal/model":  {layer: 4, never: []string{"internal/scheduler"}, because: "a model runs what it is given"},
	"internal/bundle": {layer: 4, also: []string{"internal/model"}, never: []string{"internal/scheduler"}, because: "a bundle opens models"},

	"internal/engine":   {layer: 5, never: []string{"internal/chat", "internal/prompt", "internal/parser"}, because: "the engine never sees JSON or a chat message"},
	"internal/upstream": {layer: 5, never: []string{"internal/chat", "internal/prompt", "internal/parser"}, because: "token IDs in, token IDs out"},
	"internal/registry": {layer: 5, also: []string{"internal/engine", "internal/upstream", "internal/hub", "internal/store"}, because: "it holds what is loaded"},
	"internal/quantize": {layer: 5, never: []string{"internal/kvcache", "internal/sampler", "internal/scheduler", "internal/inference", "internal/prompt"}, because: "it turns files into files and runs nothing"},
	"internal/accounts": {layer: 5, only: []string{"internal/store"}, because: "keys are rows"},
	"internal/jobs":     {layer: 5, only: []string{"internal/store"}, because: "runners are handed to it"},

	"internal/answer":  {layer: 6},
	"internal/local":   {layer: 6, also: []string{"internal/answer"}, because: "it puts bundle, engine and answers together for cli and package sampo"},
	"internal/imagery": {layer: 6},
	"internal/bench":   {layer: 6},
	"internal/evals":   {layer: 6, also: []string{"internal/answer"}, because: "an evaluation asks for answers"},

	"internal/server": {layer: 7},
	".":               {layer: 7, because: "package sampo wires the library as cli wires the program"},

	"internal/cli": {layer: 8},
	"cmd":          {layer: 9, because: "main calls cli"},

	"internal/testkit":  {layer: 8, because: "test support may use anything below the program"},
	"internal/archtest": {layer: 9},
	"bench":             {layer: 9, because: "benchmark programs use the program's packages"},
	"tests":             {layer: 9, because: "tests from outside"},
	"tools":             {layer: 9, because: "generators"},
}

// ruleOf returns the listed directory that governs pkg.
func ruleOf(pkg string) (string, rule, bool) {
	for dir := pkg; ; {
		if r, ok := rules[dir]; ok {
			return dir, r, true
		}
		cut := strings.LastIndexByte(dir, '/')
		if cut < 0 {
			return "", rule{}, false
		}
		dir = dir[:cut]
	}
}

func TestPackagesImportOnlyWhatTheirLayerAllows(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue // tests may build what they need
		}
		from, r, ok := ruleOf(f.pkg)
		if !ok {
			t.Errorf("%s: package %s is not in the import table", f.path, f.pkg)
			continue
		}
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			target := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
			if target == "" {
				target = "."
			}
			to, tr, ok := ruleOf(target)
			if !ok {
				t.Errorf("%s: imports %s, which is not in the import table", f.path, target)
				continue
			}
			if msg := forbidden(from, r, to, tr); msg != "" {
				t.Errorf("%s: imports %s: %s", f.path, target, msg)
			}
		}
	}
}

// forbidden says why a package governed by from may not import one governed by to, or "".
func forbidden(from string, r rule, to string, tr rule) string {
	switch {
	case from == to:
		return ""
	case to == "internal/testkit" && from != "tests":
		return "test support is for tests"
	case r.only != nil && !contains(r.only, to):
		return "not allowed: " + r.because
	case contains(r.never, to):
		return "not allowed: " + r.because
	case tr.layer < r.layer, contains(r.also, to):
		return ""
	default:
		return "layer " + strconv.Itoa(r.layer) + " may import lower layers only, not layer " + strconv.Itoa(tr.layer)
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestLeavesImportOnlyStandardLibraryAndXSys(t *testing.T) {
	for _, f := range sources(t) {
		_, r, ok := ruleOf(f.pkg)
		if !ok || r.layer != 0 || f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(path, "golang.org/x/sys") && !strings.HasPrefix(path, module+"/") {
				t.Errorf("%s: imports %s: layer 0 uses the standard library and golang.org/x/sys only", f.path, path)
			}
		}
	}
}
