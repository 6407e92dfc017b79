// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	maxFileLines = 500
	maxFuncLines = 60
	maxParams    = 5
	maxNesting   = 3
	maxExported  = 20
	maxBinary    = 1 << 20
	licence      = "SPDX-License-Identifier: Apache-2.0"
)

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		comments[f.pkg] = append(comments[f.pkg], nil...)
		if f.ast.Doc != nil {
			comments[f.pkg] = append(comments[f.pkg], f.path)
		}
	}
	for pkg, files := range comments {
		if len(files) != 1 {
			t.Errorf("package %s has %d package comments (%v), want 1", pkg, len(files), files)
		}
	}
}

func TestEverySourceFileNamesItsLicence(t *testing.T) {
	err := walk(func(path string, _ fs.DirEntry) error {
		switch filepath.Ext(path) {
		case ".go", ".s", ".py", ".js", ".mjs", ".ts", ".c", ".h", ".sh":
		default:
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		head := text[:min(len(text), 400)]
		if !bytes.Contains(head, []byte(licence)) {
			t.Errorf("%s: no %q in the first lines", path, licence)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.generated {
			continue
		}
		if n := bytes.Count(f.text, []byte("\n")); n > maxFileLines && !allowed(longFiles, f.path) {
			t.Errorf("%s: %d lines, want at most %d", f.path, n, maxFileLines)
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			checkFunc(t, f, fn)
		}
	}
}

func checkFunc(t *testing.T, f sourceFile, fn *ast.FuncDecl) {
	t.Helper()
	key := f.pkg + "." + fn.Name.Name
	lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
	if lines > maxFuncLines && !allowed(longFuncs, key) {
		t.Errorf("%s: function %s has %d lines, want at most %d", f.path, fn.Name.Name, lines, maxFuncLines)
	}
	if n := fn.Type.Params.NumFields(); n > maxParams && !allowed(manyParams, key) {
		t.Errorf("%s: function %s has %d parameters, want at most %d", f.path, fn.Name.Name, n, maxParams)
	}
	if n := nesting(fn.Body); n > maxNesting && !allowed(deepFuncs, key) {
		t.Errorf("%s: function %s nests %d deep, want at most %d", f.path, fn.Name.Name, n, maxNesting)
	}
}

// nesting returns how deep if, for, switch and select statements stand inside each other; an else-if counts once.
func nesting(body *ast.BlockStmt) int {
	deepest := 0
	var visit func(n ast.Node, depth int)
	visit = func(n ast.Node, depth int) {
		ast.Inspect(n, func(c ast.Node) bool {
			if c == nil || c == n {
				return true
			}
			switch s := c.(type) {
			case *ast.FuncLit:
				visit(s.Body, 0)
				return false
			case *ast.IfStmt:
				chain(s, depth+1, visit)
				deepest = max(deepest, depth+1)
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				deepest = max(deepest, depth+1)
				visit(c, depth+1)
				return false
			}
			return true
		})
	}
	visit(body, 0)
	return deepest
}

// chain visits an if statement and its else-ifs at one depth.
func chain(s *ast.IfStmt, depth int, visit func(ast.Node, int)) {
	for {
		visit(s.Body, depth)
		next, ok := s.Else.(*ast.IfStmt)
		if !ok {
			if s.Else != nil {
				visit(s.Else, depth)
			}
			return
		}
		s = next
	}
}

func TestPackagesExportFewNames(t *testing.T) {
	names := map[string]int{}
	for _, f := range sources(t) {
		if f.test || f.generated || f.ast.Name.Name == "main" {
			continue
		}
		for _, d := range f.ast.Decls {
			names[f.pkg] += exported(d)
		}
	}
	for pkg, n := range names {
		if n > maxExported && !allowed(widePackages, pkg) {
			t.Errorf("package %s exports %d names, want about %d: add the package to the list with its reason, or split it", pkg, n, maxExported)
		}
	}
}

// exported counts the exported functions and types of a declaration; constants, variables and methods go with their type.
func exported(d ast.Decl) int {
	n := 0
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.IsExported() {
				n++
			}
		}
	}
	return n
}

// numeric lists the packages whose exported functions on slices of numbers must state shapes.
var numeric = []string{"internal/tensor", "internal/quant", "internal/kernel", "internal/sampler", "internal/model"}

func TestNumericDocstringsStateShapes(t *testing.T) {
	for _, f := range sources(t) {
		dir, _, _ := ruleOf(f.pkg)
		if f.test || f.generated || !contains(numeric, dir) {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || !takesFloats(fn.Type.Params) {
				continue
			}
			if fn.Doc == nil || !strings.Contains(fn.Doc.Text(), "Shapes:") {
				t.Errorf("%s: %s takes numbers, but its docstring has no line \"Shapes:\"", f.path, fn.Name.Name)
			}
		}
	}
}

// takesFloats reports whether a parameter is a slice of floats.
func takesFloats(params *ast.FieldList) bool {
	for _, p := range params.List {
		if a, ok := p.Type.(*ast.ArrayType); ok && a.Len == nil {
			if id, ok := a.Elt.(*ast.Ident); ok && (id.Name == "float32" || id.Name == "float64") {
				return true
			}
		}
	}
	return false
}

func TestOnlyKernelsHaveInit(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasPrefix(f.pkg, "internal/kernel") {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init functions hide what a program does; build it in main", f.path)
			}
		}
	}
}

func TestOnlyCliAndKernelReadTheEnvironment(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, "internal/cli") || strings.HasPrefix(f.pkg, "internal/kernel") ||
			strings.HasPrefix(f.pkg, "tests") || strings.HasPrefix(f.pkg, "tools") || strings.HasPrefix(f.pkg, "bench") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && x.Name == "os" && (sel.Sel.Name == "Getenv" || sel.Sel.Name == "LookupEnv" || sel.Sel.Name == "Environ") {
				t.Errorf("%s: os.%s: only cli and kernel read the environment", f.path, sel.Sel.Name)
			}
			return true
		})
	}
}

func TestNoLargeFilesOutsideAssets(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == ".git" || n == "node_modules" || n == ".cache" || n == "assets" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if info.Size() > maxBinary && rel != "sampo" && rel != "sampo.exe" && filepath.Ext(path) != ".test" {
			t.Errorf("%s: %d bytes; files over 1 MiB belong in assets/ or nowhere", filepath.ToSlash(rel), info.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
