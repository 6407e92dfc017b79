// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/binary"
	"testing"
	"unicode/utf8"
)

func TestClustersAreWholeUpToFiveBytes(t *testing.T) {
	loadProps()
	for _, tt := range []struct {
		text string
		want int
	}{
		{"ab", 1},
		{"\r\na", 2},
		{"e\u0301x", 3},
		{"e\u0301\u0308x", 5},
		{"\u200b\u0301", 3},       // a control character takes no marks
		{"\u0600ab", 3},           // a sign before a number
		{"\u00a9\u200d\u00ae", 7}, // pictographs joined
		{"\u00a9\u200da", 5},
		{"\u1100\u1161\u11a8\u1100", 9},
		{"\uac00\u11a8a", 6},
		{"\uac01\u1161", 3},
	} {
		if got := clusterLen(tt.text); got != tt.want {
			t.Errorf("the cluster of %+q has %d bytes, want %d", tt.text, got, tt.want)
		}
	}
}

func TestDamagedCharacterMapsAreRefused(t *testing.T) {
	for _, data := range []string{"", "\x04\x00\x00", "\x03\x00\x00\x00abcd", "\x00\x00\x00\x00", "\x08\x00\x00\x00abcd"} {
		if _, err := newCharsMap([]byte(data)); err == nil {
			t.Errorf("%q is taken for a character map", data)
		}
	}
}

func FuzzCharsMap(f *testing.F) {
	loadProps()
	f.Add([]byte{4, 0, 0, 0, 1, 2, 3, 4, 'x', 0}, "a\u0301 b")
	f.Add(append(binary.LittleEndian.AppendUint32(nil, 16), make([]byte, 20)...), "\u00a9\u200d\u00ae")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		m, err := newCharsMap(data)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		m.apply(text, false)
		for s := text; s != ""; s = s[clusterLen(s):] {
			if n := clusterLen(s); n <= 0 || n > len(s) {
				t.Fatalf("the cluster of %+q has %d bytes", s, n)
			}
		}
	})
}
