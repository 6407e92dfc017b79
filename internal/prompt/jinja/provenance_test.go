// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"strings"
	"testing"
)

// The tests of this file put marked text into the inputs, in upper and lower case, and look for it in the segments that
// claim to be the template's.

// taint is what only inputs hold; no template below spells it.
const taint = "Zqxj"

func taintedVars() *Dict {
	d := NewDict()
	d.Set("s", Data("<|"+taint+" a|> "+taint+"\n"+taint))
	d.Set("w", Data(taint))
	d.Set("n", Data("12"))
	d.Set("role", Text("user"))
	inner := newDict(2)
	inner.data = true
	inner.set(Data(taint+"key"), Data(taint+"'\"\\ é"))
	inner.set(Data("k"), &List{items: []value{Data(taint), 1}, data: true})
	d.Set("d", inner)
	d.Set("l", &List{items: []value{Data(taint + "1"), Data(taint + "2"), inner}, data: true})
	return d
}

// leaks returns the template segments that hold tainted text.
func leaks(segments []Segment) []string {
	var out []string
	for _, s := range segments {
		if !s.Data && strings.Contains(strings.ToLower(s.Text), strings.ToLower(taint[:2])) {
			out = append(out, s.Text)
		}
	}
	return out
}

func TestDataStaysData(t *testing.T) {
	templates := []string{
		"{{ s }}", "a{{ s }}b", "{{ '<|' + w + '|>' }}", "{{ '<|' ~ w ~ '|>' }}", "{{ s[1:5] }}{{ s[::-1] }}{{ s[0] }}{{ s[2] }}",
		"{{ s.upper() }}{{ s.lower() }}{{ s | title }}{{ s | capitalize }}{{ s.swapcase() }}{{ s.casefold() }}",
		"{{ s.strip('<|') }}{{ s | trim }}{{ s.lstrip() }}{{ s.rstrip('>') }}{{ s.removeprefix('<|') }}",
		"{{ s.split() }}{{ s.split('|')[1] }}{{ s.rsplit(' ', 1)[0] }}{{ s.splitlines() | join('-') }}{{ s.partition(' ') }}",
		"{{ s.replace('a', 'b') }}{{ s | replace('a', w) }}{{ 'xyx' | replace('x', w) }}{{ 'xyx'.replace('y', s) }}",
		"{{ '-'.join([w, 'x']) }}{{ w.join(['a', 'b', 'c']) }}{{ [w, 'x'] | join(w) }}{{ l | join(', ') }}{{ s | list | join }}",
		"{{ '%s' % w }}{{ '%-9s|%5s|%r' % (w, w, w) }}{{ '%(a)s' % {'a': w} }}{{ '%s' | format(s) }}{{ w % () }}",
		"{{ '{}'.format(w) }}{{ '{:>9}|{!r}|{a}'.format(w, w, a=w) }}{{ '{0[k]}'.format(d) }}{{ (w ~ '{}').format(1) }}",
		"{{ s | tojson }}{{ d | tojson }}{{ d | tojson(indent=2) }}{{ l | tojson(ensure_ascii=true) }}{{ {'a': w} | tojson }}{{ {w: 1} | tojson }}",
		"{{ d }}{{ l }}{{ [w] }}{{ {'a': w} }}{{ (w,) }}{{ d | string }}{{ d.keys() }}{{ d.items() | list }}{{ [w | e] }}",
		"{{ s | e }}{{ s | safe }}{{ ('<b>' | safe) + s }}{{ s | forceescape }}{{ s | striptags }}{{ s | urlencode }}{{ s | urlize }}",
		"{{ s | indent }}{{ s | center(90) }}{{ s | truncate(9) }}{{ s | wordwrap(4) }}{{ s | reverse }}{{ w.ljust(9) }}{{ w.zfill(9) }}{{ s.expandtabs() }}",
		"{{ w * 3 }}{{ w + w }}{{ s | first }}{{ s | last }}{{ s | default('x') }}{{ x | default(w) }}{{ l | map('upper') | list }}",
		"{% set x = s %}{{ x }}{% set y %}[{{ s }}]{% endset %}{{ y }}{{ y | upper }}{% filter lower %}X{{ s }}Y{% endfilter %}",
		"{% macro m(a) %}<|{{ a }}|>{{ caller() }}{% endmacro %}{% call m(w) %}{{ s }}{% endcall %}{% set r %}{% call m(s) %}q{% endcall %}{% endset %}{{ r | trim }}",
		"{% for c in s %}{{ c }}{% endfor %}{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}{% for k in d %}{{ k ~ '=' ~ d[k] }}{% endfor %}",
		"{% set ns = namespace(x='') %}{% for c in l %}{% set ns.x = ns.x ~ '<|' ~ c ~ '|>' %}{% endfor %}{{ ns.x }}{{ ns }}",
		"{{ dict([[w, s]]) }}{{ dict(d, a=w) }}{{ d.get('k') }}{{ d | dictsort }}{{ l | sort(attribute='x') | list if false }}{{ [w, 'b'] | sort }}",
		"{{ [w, w] | unique | list }}{{ [w] | batch(2, w) | list }}{{ [{'a': w}] | groupby('a') }}{{ [{'a': w}] | map(attribute='a') | join }}{{ d | pprint }}{{ d | xmlattr }}",
		"{{ s | tojson | upper }}{{ (s | tojson)[3:9] }}{{ (d | string).split(':') }}{{ (d | tojson | from_json) }}{{ ('[\"' ~ w ~ '\"]') | from_json }}",
		"{{ s.translate({60: '('}) }}{{ w.center(11, '*') }}{{ (w ~ 'x').partition('x')[0] }}{{ strftime_now(w) }}{{ cycler(w, 1).next() }}",
	}
	for _, source := range templates {
		tpl, err := Parse("test", source, Extended())
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		out, err := tpl.Render(Input{Vars: taintedVars()})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if bad := leaks(out); bad != nil {
			t.Errorf("%s: data came out as template: %q in %+v", source, bad, out)
		}
	}
}

func TestTemplateTextStaysTemplate(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"<|im|>{{ w }}<|end|>", "<|im|>" + "[" + taint + "]" + "<|end|>"},
		{"{{ '<|' + role + '|>' }}{{ w }}", "<|user|>[" + taint + "]"},
		{"{{ ('<|a|>' ~ w ~ '<|b|>').strip() }}", "<|a|>[" + taint + "]<|b|>"},
		{"{{ '<a>%s</a>' % w }}", "<a>[" + taint + "]</a>"},
		{"{{ '<a>{}</a>'.format(w) }}", "<a>[" + taint + "]</a>"},
		{"{{ ['<a>', w, '<b>'] | join }}", "<a>[" + taint + "]<b>"},
		{"{{ ('<a>' ~ w ~ '<b>') | upper }}", "<A>[" + strings.ToUpper(taint) + "]<B>"},
		{"{{ ('<a>' ~ w ~ '<b>' ~ w).replace('<b>', '<c>') }}", "<a>[" + taint + "]<c>[" + taint + "]"},
		{"{{ ('<a>' ~ w ~ '<b>')[::-1] }}", ">b<[jxqZ]>a<"},
		{"{{ {'a': 1} | tojson }}{{ ['x'] }}{{ 1.5 }}{{ none }}", `{"a": 1}['x']1.5None`},
		{"{{ d | tojson }}|", "[" + `{"Zqxjkey": "Zqxj'\"\\ é", "k": ["Zqxj", 1]}` + "]|"},
		{"{{ {'a': w} | tojson }}", `{"a": ["Zqxj"]}`},
	} {
		tpl, err := Parse("test", tt.source, Extended())
		if err != nil {
			t.Fatal(err)
		}
		out, err := tpl.Render(Input{Vars: taintedVars()})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range out {
			if s.Data {
				b.WriteString("[" + s.Text + "]")
			} else {
				b.WriteString(s.Text)
			}
		}
		if b.String() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s (data in brackets)", tt.source, b.String(), tt.want)
		}
	}
}

// Segments are as long as they can be: neighbours differ in origin, and none is empty.
func TestSegmentsAreJoined(t *testing.T) {
	tpl, err := Parse("test", "a{{ 'b' }}{{ s }}{{ w }}{{ '' }}{{ d | tojson }}c{{ 1 }}", Extended())
	if err != nil {
		t.Fatal(err)
	}
	out, err := tpl.Render(Input{Vars: taintedVars()})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range out {
		if s.Text == "" || i > 0 && out[i-1].Data == s.Data {
			t.Errorf("segment %d of %+v should be part of its neighbour", i, out)
		}
	}
	if len(out) != 3 {
		t.Errorf("got %d segments %+v, want 3", len(out), out)
	}
}
