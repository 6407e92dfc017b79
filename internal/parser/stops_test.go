// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// search runs pieces through Stops and returns all text and the stop string that was met.
func search(stops []string, include bool, pieces []string) (text, found string) {
	s := NewStops(stops, include)
	for _, piece := range pieces {
		var out string
		out, found = s.Add(piece)
		text += out
		if found != "" {
			return text, found
		}
	}
	return text + s.Flush(), ""
}

func TestStopsCutTheText(t *testing.T) {
	for _, tt := range []struct {
		name    string
		stops   []string
		include bool
		in      string
		text    string
		found   string
	}{
		{"none", nil, false, "abc", "abc", ""},
		{"cuts before the stop string", []string{"XYZ"}, false, "abcXYZdef", "abc", "XYZ"},
		{"keeps it when asked", []string{"XYZ"}, true, "abcXYZdef", "abcXYZ", "XYZ"},
		{"the one that ends first counts", []string{"def", "XYZ"}, false, "abcXYZdef", "abc", "XYZ"},
		{"an inner one ends first", []string{"aXb", "X"}, false, "1aXb", "1a", "X"},
		{"of two that end together the first of the list", []string{"b", "ab"}, false, "xab", "xa", "b"},
		{"a prefix that does not complete comes back", []string{"XYZ"}, false, "abXY", "abXY", ""},
		{"overlapping starts", []string{"aab"}, false, "aaab", "a", "aab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, pieces := range [][]string{{tt.in}, strings.Split(tt.in, "")} {
				text, found := search(tt.stops, tt.include, pieces)
				if text != tt.text || found != tt.found {
					t.Errorf("stops %q, pieces %q: got %q, %q, want %q, %q", tt.stops, pieces, text, found, tt.text, tt.found)
				}
			}
		})
	}
}

func TestStopsHoldOnlyWhatMayBecomeAStopString(t *testing.T) {
	s := NewStops([]string{"XYZ", "\n\n"}, false)
	for _, step := range []struct{ piece, want string }{
		{"abX", "ab"}, {"Y", ""}, {"X", "XY"}, {"a", "Xa"}, {"\n", ""}, {"b", "\nb"},
	} {
		if got, _ := s.Add(step.piece); got != step.want {
			t.Errorf("Add(%q) = %q, want %q", step.piece, got, step.want)
		}
	}
}

func TestPassedTextEndsNoStopStringButMayBeginOne(t *testing.T) {
	s := NewStops([]string{"ab"}, false)
	text := s.Pass("ab") + s.Pass("a")
	if text != "ab" {
		t.Errorf("Pass gave %q, want %q", text, "ab")
	}
	if text, found := s.Add("b"); text != "" || found != "ab" {
		t.Errorf("Add = %q, %q, want the stop string that began before", text, found)
	}
}

func FuzzStops(f *testing.F) {
	f.Add("abcabd", "abd", "ca", uint64(1))
	f.Fuzz(func(t *testing.T, text, a, b string, seed uint64) {
		var stops []string
		for _, s := range []string{a, b} {
			if s = strings.ToValidUTF8(s, "?"); s != "" {
				stops = append(stops, s)
			}
		}
		text = strings.ToValidUTF8(text, "?")
		wantText, wantFound := search(stops, false, []string{text})
		pieces := split(rand.New(rand.NewPCG(seed, 3)), text)
		if gotText, gotFound := search(stops, false, pieces); gotText != wantText || gotFound != wantFound {
			t.Errorf("stops %q, pieces %q: got %q, %q, want %q, %q", stops, pieces, gotText, gotFound, wantText, wantFound)
		}
	})
}
