// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"errors"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

func TestHostileTemplatesHitLimits(t *testing.T) {
	limits := Limits{Steps: 2_000_000, Bytes: 32 << 20, OutputBytes: 1 << 20}
	for _, source := range []string{
		"{{ 'x' * 10 ** 9 }}", "{{ 'x' * 2 ** 80 }}", "{{ [0] * 10 ** 9 }}", "{{ (1,) * 10 ** 12 }}", "{{ 'a'.center(10 ** 10) }}",
		"{{ 'a'.ljust(2 ** 40) }}", "{{ 'a'.zfill(10 ** 9) }}", "{{ 'a\tb'.expandtabs(10 ** 9) }}", "{{ '%1000000000d' % 1 }}", "{{ '%.1000000000f' % 1.5 }}",
		"{{ '%*d' % (10 ** 9, 1) }}", "{{ '{:1000000000}'.format(1) }}", "{{ '{:.1000000000f}'.format(1.5) }}", "{{ 'a' | indent(10 ** 9) }}",
		"{{ [1] | tojson(indent=10 ** 9) }}", "{{ 10 ** 100000 }}", "{{ 2 ** 100000000 }}", "{{ (2 ** 60000) * (2 ** 60000) }}", "{{ 3 ** (2 ** 70) }}",
		"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
		"{% set ns = namespace(s='ab') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"{% set ns = namespace(s=['ab']) %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"{% set ns = namespace(s=[1]) %}{% for i in range(40) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
		"{% set ns = namespace(s=[1]) %}{% for i in range(40) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s | tojson }}",
		"{% set a = namespace(s=[1], t=[1]) %}{% for i in range(40) %}{% set a.s = [a.s, a.s] %}{% set a.t = [a.t, a.t] %}{% endfor %}{{ a.s == a.t }}",
		"{% set a = namespace(s=[1], t=[1]) %}{% for i in range(40) %}{% set a.s = [a.s, a.s] %}{% set a.t = [a.t, a.t] %}{% endfor %}{{ a.s < a.t }}",
		"{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}", "{{ ('a' * 100000).replace('', 'b' * 100000) }}", "{{ ('b' * 100000).join('a' * 100000) }}",
		"{{ (['a' * 100000] * 1000) | join }}", "{{ ([[1] * 1000] * 1000) | pprint }}", "{{ [1] | batch(10 ** 9, 0) | list }}",
		"{{ [1] | slice(10 ** 9) | list }}", "{% set l = [1] %}{% for x in l %}{{ l.append(x) or '' }}{% endfor %}", "{{ lipsum(10 ** 9) }}", "{{ lipsum(1, min=10 ** 9) }}",
		"{% macro m() %}{% for i in range(1000) %}{{ m() }}{% endfor %}{% endmacro %}{{ m() }}",
	} {
		tpl, err := Parse("test", source, Extended())
		if err == nil { // without limits most of these would outlast the test's time limit, or the memory
			_, err = tpl.Render(Input{Limits: limits})
		}
		var limit *LimitError
		var runtime *RuntimeError
		if !errors.As(err, &limit) && !(errors.As(err, &runtime) && runtime.Type == "RecursionError") {
			t.Errorf("%s: error %v, want a LimitError", source, err)
		}
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	for name, source := range map[string]string{
		"brackets":    strings.Repeat("{{ (", 1) + strings.Repeat("(", 20_000) + "1",
		"lists":       "{{ " + strings.Repeat("[", 20_000),
		"not":         "{{ " + strings.Repeat("not ", 20_000) + "1 }}",
		"minus":       "{{ " + strings.Repeat("-", 20_000) + "1 }}",
		"sum":         "{{ 1" + strings.Repeat(" + 1", 20_000) + " }}",
		"and":         "{{ 1" + strings.Repeat(" and 1", 20_000) + " }}",
		"attributes":  "{{ a" + strings.Repeat(".a", 20_000) + " }}",
		"calls":       "{{ a" + strings.Repeat("()", 20_000) + " }}",
		"filters":     "{{ a" + strings.Repeat("|upper", 20_000) + " }}",
		"conditions":  "{{ 1" + strings.Repeat(" if 1 else 1", 20_000) + " }}",
		"if":          strings.Repeat("{% if 1 %}", 20_000) + strings.Repeat("{% endif %}", 20_000),
		"for":         strings.Repeat("{% for x in y %}", 20_000),
		"set filters": "{% set a" + strings.Repeat("|upper", 20_000) + " %}{% endset %}",
		"subscripts":  "{{ a" + strings.Repeat("[a", 20_000),
		"tuples":      "{% set " + strings.Repeat("(", 20_000),
	} {
		var syntax *SyntaxError
		if _, err := Parse("test", source, Strict()); !errors.As(err, &syntax) {
			t.Errorf("%s: error %v, want a SyntaxError", name, err)
		}
	}
}

func TestDeepValuesAreRefused(t *testing.T) {
	const deep = "{% set ns = namespace(s=[]) %}{% for i in range(5000) %}{% set ns.s = [ns.s] %}{% endfor %}"
	const tuples = "{% set ns = namespace(s=()) %}{% for i in range(5000) %}{% set ns.s = (ns.s,) %}{% endfor %}"
	for _, source := range []string{
		deep + "{{ ns.s }}", deep + "{{ ns.s | tojson }}", deep + "{{ ns.s | pprint }}", deep + "{{ ns.s == [ns.s[0][0]] }}", tuples + "{{ {ns.s: 1} }}",
		"{% set l = [] %}{{ l.append(l) }}{{ l }}", "{% set l = [] %}{{ l.append(l) }}{{ l | tojson }}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "{% block a %}{{ self.a() }}{% endblock %}",
	} {
		tpl, err := Parse("test", source, Extended())
		if err != nil {
			t.Fatal(err)
		}
		var runtime *RuntimeError
		if _, err := tpl.Render(Input{}); !errors.As(err, &runtime) {
			t.Errorf("%s: error %v, want a RuntimeError", source, err)
		}
	}
}

func TestStopEndsARendering(t *testing.T) {
	tpl, err := Parse("test", "{% for i in range(100000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}", Strict())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	close(stop)
	var limit *LimitError
	if _, err := tpl.Render(Input{Limits: Limits{Stop: stop}}); !errors.As(err, &limit) {
		t.Errorf("error %v, want a LimitError", err)
	}
}

func TestStopEndsARenderingWhoseStepsAreLarge(t *testing.T) {
	// Each step counts for thousands: the check must not wait for a round number.
	tpl, err := Parse("test", "{% set s = 'ab' * 500000 %}{% for i in range(100000) %}{% if 'c' in s %}{% endif %}{% endfor %}", Strict())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	close(stop)
	var limit *LimitError
	if _, err := tpl.Render(Input{Limits: Limits{Steps: 1 << 60, Stop: stop}}); !errors.As(err, &limit) || limit.Max != 0 {
		t.Errorf("error %v, want a LimitError that says stopped", err)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for _, tt := range []struct {
		source string
		line   int
	}{
		{"a\n{{ 1 / 0 }}", 2}, {"{% if 1 %}\n\n{{ x.y }}\n{% endif %}", 3}, {"{% macro m() %}\n{{ x.y }}{% endmacro %}\n\n{{ m() }}", 2},
	} {
		tpl, err := Parse("name", tt.source, Strict())
		if err != nil {
			t.Fatal(err)
		}
		var runtime *RuntimeError
		if _, err = tpl.Render(Input{}); !errors.As(err, &runtime) || runtime.Line != tt.line {
			t.Errorf("%q: %v, want line %d", tt.source, err, tt.line)
		}
	}
	var syntax *SyntaxError
	if _, err := Parse("name", "a\nb\n{{ 1 1 }}", Strict()); !errors.As(err, &syntax) || syntax.Line != 3 || syntax.Name != "name" {
		t.Errorf("%v, want line 3 of name", err)
	}
}

func TestRenderingIsRepeatable(t *testing.T) {
	tpl, err := Parse("test", "{% set c = cycler(1, 2) %}{{ c.next() }}{{ [3, 1] | random }}{% set l = [1] %}{{ l.append(2) }}{{ l }}", Extended())
	if err != nil {
		t.Fatal(err)
	}
	first, err := tpl.Render(Input{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := tpl.Render(Input{})
	if err != nil || joined(first) != joined(second) {
		t.Errorf("first %q, then %q (%v)", joined(first), joined(second), err)
	}
}

// FuzzRender checks that no template crashes, and that what it prints of data is marked as data.
func FuzzRender(f *testing.F) {
	for _, s := range scripts(f) {
		f.Add(s.source, s.vars)
	}
	f.Add("{% for m in s recursive %}{{ loop(m) }}{% endfor %}{{ '{:>{w}}'.format(s, w=9) }}", `{"s": [["a"], {"b": 1.5}]}`)
	f.Fuzz(func(t *testing.T, source, vars string) {
		v, err := ordjson.Parse([]byte(vars), 20)
		if err != nil {
			v = ordjson.NewObject()
		}
		d, ok := FromJSON(v).(*Dict)
		if !ok {
			d = NewDict()
		}
		d.Set("zz", Data(taint))
		tpl, err := Parse("fuzz", source, Extended())
		if err != nil {
			if kindOf(err) != "syntax" {
				t.Errorf("%s: %v", source, err)
			}
			return
		}
		out, err := tpl.Render(Input{Vars: d, Limits: Limits{Steps: 20_000, Bytes: 4 << 20, OutputBytes: 1 << 20}})
		var runtime *RuntimeError
		if errors.As(err, &runtime) && runtime.Type == internalError {
			t.Errorf("%s: %v", source, err)
		}
		if err == nil && !strings.Contains(strings.ToLower(source), taint[1:2]) && leaks(out) != nil {
			t.Errorf("%s: data came out as template: %+v", source, out)
		}
	})
}
