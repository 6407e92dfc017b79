// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// words cuts s with a splitter; gaps that belong to no word come in parentheses.
func words(s string, split splitter) []string {
	var out []string
	for s != "" {
		n := split(s)
		if n < 0 {
			out = append(out, "("+s[:-n]+")")
			s = s[-n:]
			continue
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func isolated(tb testing.TB, pattern string) splitter {
	tb.Helper()
	re, err := compileRegex(pattern)
	if err != nil {
		tb.Fatalf("%s: %v", pattern, err)
	}
	split, err := splitting(re.pieces, "Isolated", false)
	if err != nil {
		tb.Fatal(err)
	}
	return split
}

// hardRunes are those that the patterns treat apart.
var hardRunes = []rune(" \t\n\r\u0085\u00a0\u3000''.,/-_()[]<>=+^$|~`\u201caZzéßſKǅʰªאا的々〇ぁー中한̈́́ंಾ⃝\u200d\u200c0123½²٣Ⅷ፩😀🇫\u0378\ue000\U0002ebf0\U00016ff0\x00\x7f$€©")

// hardText returns random text of them, with whole words in between.
func hardText(random *rand.Rand) string {
	parts := []string{"'s", "'LL", "'ve", "don't", "\r\n", "   ", "\n\n ", "HTTPServer", "ǅabc", "123456", "!!!\n", "/\r\n", "e\u0301", "Äiti", "的中文", "，。"}
	var b strings.Builder
	for range 1 + random.IntN(24) {
		if random.IntN(4) == 0 {
			b.WriteString(parts[random.IntN(len(parts))])
			continue
		}
		r := hardRunes[random.IntN(len(hardRunes))]
		b.WriteString(strings.Repeat(string(r), 1+random.IntN(3)*random.IntN(2)))
	}
	return b.String()
}

func TestScannersSplitAsTheirPatterns(t *testing.T) {
	loadClasses()
	random := rand.New(rand.NewPCG(5, 6))
	var texts []string
	for range 4000 {
		texts = append(texts, hardText(random))
	}
	for _, r := range references(t, "gpt2") {
		texts = append(texts, repair(string(r.Text)))
	}
	for _, p := range patterns {
		engine := isolated(t, p.regex)
		for _, s := range texts {
			if got, want := words(s, p.scan), words(s, engine); !slices.Equal(got, want) {
				t.Errorf("%s\nsplitting %+q:\nscanner %+q\npattern %+q", p.regex, s, got, want)
				break
			}
		}
	}
}

func TestNamedPretokenizersCompile(t *testing.T) {
	for _, n := range namedPretokenizers {
		for _, name := range n.names {
			if _, _, ok := pretokenizer(name); !ok {
				t.Errorf("%q does not compile", name)
			}
		}
	}
}

func TestPatternsSplit(t *testing.T) {
	loadClasses()
	for _, tt := range []struct{ name, pattern, text, want string }{
		{"greedy", `a+b`, "xaabaay", "x|aab|aay"},
		{"lazy", `a+?b|a`, "aab", "aab"},
		{"lazy stops early", `a{1,3}?`, "aaa", "a|a|a"},
		{"possessive keeps all", `a++ab|a`, "aab", "a|a|b"},
		{"atomic group keeps all", `(?>a|ab)c|ab`, "abc", "ab|c"},
		{"earlier alternative first", `a|ab`, "ab", "a|b"},
		{"look-ahead", `\s+(?!\S)|\s+`, "a   b  ", "a|  | |b|  "},
		{"positive look-ahead", `\d+(?=%)`, "12% 34", "12|% 34"},
		{"empty matches cut", `(?=(\d{3})+(?!\d))`, "1234567", "1|234|567"},
		{"nested set", `[^(\s|[.,])]+`, "ab.c (d|e)", "ab|.|c| (|d|||e|)"},
		{"intersection", `[\p{L}&&[^\p{Han}]]+`, "ab中c", "ab|中|c"},
		{"ignoring case", `(?i:'ſ|'ll)`, "x'S'LL", "x|'S|'LL"},
		{"case is back behind the group", `(?i:a)b`, "AbAB", "Ab|AB"},
		{"case for the whole pattern", `(?i)ab`, "xAB", "x|AB"},
		{"counts of groups", `(?:ab){2,3}`, "abababab ab", "ababab|ab ab"},
		{"brace that counts nothing", `a{x}|{,2`, "a{x}{,2", "a{x}|{,2"},
		{"interval then plus repeats it", `a{2}+`, "aaaaa", "aaaa|a"},
		{"end of line", `b$`, "ab\nb", "a|b|\n|b"},
		{"dot takes no newline", `.+`, "ab\nc", "ab|\n|c"},
		{"dot takes a newline", `(?m:.+)`, "ab\nc", "ab\nc"},
		{"negated property", `\P{L}+|\p{^L}`, "a12b", "a|12|b"},
		{"code points", `\x41|\u4e2d|\x{1F600}`, "A中😀b", "A|中|😀|b"},
		{"hex digits", `\h+`, "fgFF", "f|g|FF"},
		{"range of escapes", `[\x30-\x32\-]+`, "01-3", "01-|3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(words(tt.text, isolated(t, tt.pattern)), "|"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPatternsAreRefusedByName(t *testing.T) {
	for pattern, want := range map[string]string{
		`(a`: "not closed", `a)`: "unmatched", `*a`: "nothing to repeat", `[a`: "not closed", `[]`: "empty set", `\p{Klingon}`: "Klingon",
		`(?<=a)b`: "kind of group", `\1`: `\1`, `(?:a*)*`: "may be empty", `(?i:ss)`: "ignoring case", `[[:alpha:]]`: "POSIX",
		`a{3}?`: "{n}?", `[b-a]`: "not in order", `a\`: "backslash", `\x{110000}`: "code point", `a{5000}`: "repetitions",
		`((((a{99}){99}){99}){99})`: "too large",
	} {
		if _, err := compileRegex(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", pattern, err, want)
		}
	}
}

func TestCatastrophicPatternsEnd(t *testing.T) {
	split := isolated(t, `(?:a|a)*b|(?:a?){30}a{30}c`)
	if got := words(strings.Repeat("a", 30)+"d", split); len(got) == 0 {
		t.Error("no words")
	}
}

func TestSplitBehaviors(t *testing.T) {
	find := stringPieces("-")
	for _, tt := range []struct {
		behavior   string
		one, other string // of -a--b-, as it is and inverted
	}{
		{"Isolated", "-|a|-|-|b|-", "-|a|-|-|b|-"},
		{"Removed", "(-)|a|(-)|(-)|b|(-)", "-|(a)|-|-|(b)|-"},
		{"MergedWithPrevious", "-|a-|-|b-", "-a|-|-b|-"},
		{"MergedWithNext", "-a|-|-b|-", "-|a-|-|b-"},
		{"Contiguous", "-|a|--|b|-", "-|a|--|b|-"},
	} {
		for _, invert := range []bool{false, true} {
			split, err := splitting(find, tt.behavior, invert)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.one
			if invert {
				want = tt.other
			}
			if got := strings.Join(words("-a--b-", split), "|"); got != want {
				t.Errorf("%s, invert %t: got %s, want %s", tt.behavior, invert, got, want)
			}
		}
	}
}

func FuzzRegex(f *testing.F) {
	for _, p := range patterns {
		f.Add(p.regex, "It's  12345 e\u0301 ABcd\r\n!")
	}
	f.Add(`(?>a|ab)*?c{2,}(?!x)|[^\p{Han}&&\w]++$`, "abcc")
	loadClasses()
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := compileRegex(pattern)
		if err != nil || re.before || len(text) > 1<<7 {
			return
		}
		text = repair(text)
		for _, behavior := range []string{"Isolated", "Removed"} {
			split, err := splitting(re.pieces, behavior, false)
			if err != nil {
				t.Fatal(err)
			}
			joined := ""
			for s := text; s != ""; {
				n := split(s)
				if n < 0 {
					n = -n
				}
				joined += s[:n]
				s = s[n:]
			}
			if joined != text {
				t.Errorf("%q cuts %+q into %+q", pattern, text, joined)
			}
		}
		last := 0
		re.each(text, func(start, end int) {
			if start < last || end < start {
				t.Errorf("%q: match %d to %d behind %d", pattern, start, end, last)
			}
			last = end
		})
	})
}
