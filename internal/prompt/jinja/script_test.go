// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// A script is one case of testdata: tools/jinjagen/scripts.py says how they are written and fills in the results.
type script struct{ name, vars, source, want string }

func scripts(t testing.TB) []script {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var out []script
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, text := range strings.Split(string(data), "## ")[1:] {
			name, body, _ := strings.Cut(text, "\n")
			source, want, _ := strings.Cut(body, "\n----\n")
			s := script{name: group + "/" + name, vars: "{}", source: source, want: strings.TrimSpace(want)}
			if vars, ok := strings.CutPrefix(source, "vars "); ok {
				s.vars, s.source, _ = strings.Cut(vars, "\n")
			}
			out = append(out, s)
		}
	}
	return out
}

func renderScript(s script) (string, error) {
	vars, err := ordjson.Parse([]byte(s.vars), 100)
	if err != nil {
		return "", err
	}
	tpl, err := Parse("script", s.source, Strict())
	if err != nil {
		return "", err
	}
	out, err := tpl.Render(Input{Vars: FromJSON(vars).(*Dict), Now: suiteClock})
	return joined(out), err
}

func TestScriptsGiveWhatPythonGives(t *testing.T) {
	for _, s := range scripts(t) {
		t.Run(s.name, func(t *testing.T) {
			out, err := renderScript(s)
			got := "! " + kindOf(err)
			if err == nil {
				got = ordjson.Marshal(out)
			}
			want := s.want
			if v, err := ordjson.Parse([]byte(want), 1); err == nil {
				want = ordjson.Marshal(v)
			}
			if got != want {
				t.Errorf("%s\n got %s (%v)\nwant %s", s.source, got, err, want)
			}
		})
	}
}
