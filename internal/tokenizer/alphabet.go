// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "sync"

// The byte-level alphabet spells each byte as one printable rune: printable Latin-1 as itself, the other 68 bytes, in order, from
// U+0100 on (GPT-2).
const alphabetSize = 0x100 + 68

// noByte in alphabet marks a rune that spells no byte.
const noByte = -1

// alphabet returns the byte that each rune below alphabetSize spells.
var alphabet = sync.OnceValue(func() *[alphabetSize]int16 {
	var a [alphabetSize]int16
	for r := range a {
		a[r] = noByte
	}
	next := rune(0x100)
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			a[b] = int16(b)
			continue
		}
		a[next] = int16(b)
		next++
	}
	return &a
})

// byteRunes returns the rune that spells each byte.
var byteRunes = sync.OnceValue(func() *[256]rune {
	var runes [256]rune
	for r, b := range alphabet() {
		if b != noByte {
			runes[b] = rune(r)
		}
	}
	return &runes
})

// appendAlphabet appends the bytes that piece spells. ok is false, and dst unchanged, if piece has a rune that spells no byte.
func appendAlphabet[T string | []byte](dst []byte, piece T) (out []byte, ok bool) {
	a, out := alphabet(), dst
	for _, r := range string(piece) {
		if r >= alphabetSize || a[r] == noByte {
			return dst, false
		}
		out = append(out, byte(a[r]))
	}
	return out, true
}
