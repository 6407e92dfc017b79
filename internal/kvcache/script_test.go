// SPDX-License-Identifier: Apache-2.0

package kvcache

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/testkit"
	"github.com/sampo-ai/sampo/internal/token"
)

// A desk performs script commands on a pool. Sequences have one-letter tokens: "abcd" is four.
type desk struct {
	t      *testing.T
	pool   *Pool
	tables map[string]*Table
}

func TestScripts(t *testing.T) {
	testkit.Scripts(t, "testdata/*.txt", func(t *testing.T) func(testkit.Command) string {
		d := &desk{t: t}
		return func(c testkit.Command) string {
			out := d.do(c)
			var tables []*Table
			for _, table := range d.tables {
				tables = append(tables, table)
			}
			if err := d.pool.Check(tables...); err != nil {
				t.Errorf("%s: %v", c.Where, err)
			}
			return out
		}
	})
}

func (d *desk) do(c testkit.Command) string {
	switch c.Name {
	case "pool":
		d.open(c)
		return ""
	case "match":
		d.tables[c.Words[0]] = d.pool.NewTable(Root(c.Options["salt"]), 0)
		n := d.pool.Match(d.tables[c.Words[0]], letters(c.Words[1]))
		return fmt.Sprintf("%d cached\n", n)
	case "compute":
		name := c.Words[0]
		if d.tables[name] == nil {
			d.tables[name] = d.pool.NewTable(Root(""), 0)
		}
		if c.Options["keep"] == "yes" {
			d.tables[name].Keep()
		}
		if !d.pool.Grow(d.tables[name], len(c.Words[1])) {
			return "no blocks\n"
		}
		d.pool.Commit(d.tables[name], letters(c.Words[1]))
	case "fork":
		d.tables[c.Words[1]] = d.pool.Fork(d.tables[c.Words[0]], 0)
	case "release":
		d.pool.Release(d.tables[c.Words[0]])
	case "show":
		return d.show(c.Words)
	default:
		d.t.Fatalf("%s: unknown command", c.Where)
	}
	return d.copies()
}

func (d *desk) open(c testkit.Command) {
	cfg := Config{BlockSize: c.Int(d.t, "size", 2), NoReuse: c.Options["reuse"] == "no"}
	for _, word := range c.Words {
		kind, blocks, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(blocks)
		if err != nil {
			d.t.Fatalf("%s: group %q", c.Where, word)
		}
		group := Group{}
		if w, ok := strings.CutPrefix(kind, "window"); ok {
			group.Kind = Window
			group.Window, _ = strconv.Atoi(w)
		}
		cfg.Groups, cfg.Blocks = append(cfg.Groups, group), append(cfg.Blocks, n)
	}
	pool, err := New(cfg)
	if err != nil {
		d.t.Fatalf("%s: %v", c.Where, err)
	}
	d.pool, d.tables = pool, map[string]*Table{}
}

func (d *desk) copies() string {
	var out strings.Builder
	for _, c := range d.pool.TakeCopies() {
		fmt.Fprintf(&out, "copy group %d: %d to %d\n", c.Group, c.Src, c.Dst)
	}
	return out.String()
}

func (d *desk) show(names []string) string {
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "%s %v\n", name, d.tables[name].Blocks())
	}
	for g := range d.pool.Groups() {
		fmt.Fprintf(&out, "free %d of %d\n", d.pool.Free(g), d.pool.Total(g))
	}
	return out.String()
}

func letters(s string) []token.ID {
	ids := make([]token.ID, len(s))
	for i := range s {
		ids[i] = token.ID(s[i])
	}
	return ids
}
