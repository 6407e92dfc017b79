// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// Such errors said "no such file or folder: file does not exist": a sentence of ours, then the same in the words of the system.
// weights.MissingError is what errors.Is finds and says nothing twice.
func TestNoErrorOfOursEndsWithTheSystemsWordsForTheSame(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || name(call.Fun) != "fmt.Errorf" && name(call.Fun) != "errors.Join" {
				return true
			}
			for _, arg := range call.Args {
				if of, what, _ := strings.Cut(name(arg), "."); (of == "fs" || of == "os") && strings.HasPrefix(what, "Err") {
					t.Errorf("%s: %s wraps %s: its words follow a sentence that says them already", f.fset.Position(call.Pos()), name(call.Fun), name(arg))
				}
			}
			return true
		})
	}
}

// name spells a selector such as fs.ErrNotExist; anything else is "".
func name(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	of, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return of.Name + "." + s.Sel.Name
}
