// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/sampo-ai/sampo"
)

// A sourceFile is one parsed Go file of the module.
type sourceFile struct {
	path      string // from the root, with slashes
	pkg       string // directory from the root; "." is the root
	text      []byte
	ast       *ast.File
	fset      *token.FileSet
	test      bool
	generated bool
}

// goFiles parses every Go file of the module once: not those of nested modules, nor testdata.
var goFiles = sync.OnceValues(func() ([]sourceFile, error) {
	var files []sourceFile
	err := walk(func(path string, d fs.DirEntry) error {
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{
			path: path, pkg: filepath.ToSlash(filepath.Dir(path)), text: text, ast: tree, fset: fset,
			test: strings.HasSuffix(path, "_test.go"), generated: ast.IsGenerated(tree),
		})
		return nil
	})
	return files, err
})

// walk calls visit for every file of the module, with its path from the root.
func walk(visit func(path string, d fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipDir(path, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		return visit(rel, d)
	})
}

func skipDir(path, name string) bool {
	if name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil // a module of its own
}

func sources(t *testing.T) []sourceFile {
	t.Helper()
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("found %d Go files; the walk is broken", len(files))
	}
	return files
}
