// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// suiteFile returns a file of the template suite, which is too large and of too many owners to be kept here.
func suiteFile(t *testing.T, path ...string) string {
	t.Helper()
	root := os.Getenv("SAMPO_TEMPLATE_SUITE")
	if root == "" {
		t.Skip("SAMPO_TEMPLATE_SUITE is not set: the suite of templates is not checked")
	}
	return filepath.Join(append([]string{root}, path...)...)
}

var suiteClock = time.Date(2026, 3, 15, 9, 26, 53, 0, time.UTC)

func parseLines(t *testing.T, file string) []*ordjson.Object {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*ordjson.Object
	for line := range bytes.Lines(data) {
		v, err := ordjson.Parse(line, 100)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v.(*ordjson.Object))
	}
	return out
}

func joined(segments []Segment) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString(s.Text)
	}
	return b.String()
}

// kindOf names the kind of an error as the suite does.
func kindOf(err error) string {
	var (
		syntax   *SyntaxError
		security *SecurityError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &syntax):
		return "syntax"
	case errors.As(err, &security):
		return "security"
	}
	return "runtime"
}

func TestLanguageSuite(t *testing.T) {
	for _, c := range parseLines(t, suiteFile(t, "golden", "jinja.jsonl")) {
		name, _ := c.String("name")
		t.Run(name, func(t *testing.T) {
			source, _ := c.String("source")
			vars, _ := c.Object("vars")
			got := ""
			tpl, err := Parse("test", source, Strict())
			if err == nil {
				var segments []Segment
				segments, err = tpl.Render(Input{Vars: FromJSON(vars).(*Dict), Now: suiteClock})
				got = joined(segments)
			}
			wantKind, _ := c.String("error_kind")
			if kind := kindOf(err); kind != wantKind {
				t.Fatalf("%s: error %v, want kind %q", source, err, wantKind)
			}
			if want, _ := c.String("output"); err == nil && got != want {
				t.Errorf("%s:\n got %q\nwant %q", source, got, want)
			}
			var raised *RaisedError
			if want, ok := c.String("message"); ok && (!errors.As(err, &raised) || raised.Message != want) {
				t.Errorf("%s: error %v, want the message %q", source, err, want)
			}
		})
	}
}
