// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"unicode"
)

// printable makes text that comes from elsewhere, such as a file or its name, fit a line: line breaks and what is blank
// around them become a space, and what would steer the terminal U+FFFD.
func printable(s string) string {
	var b strings.Builder
	for i, line := range strings.FieldsFunc(s, breaksLine) {
		if i > 0 {
			b.WriteByte(' ')
			line = strings.TrimLeftFunc(line, unicode.IsSpace)
		}
		b.WriteString(line)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, b.String())
}

// breaksLine says whether a character is a space that is no blank inside a line.
func breaksLine(r rune) bool {
	return unicode.IsSpace(r) && unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// plural counts things in words.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// warn tells of what a person should know although the command goes on.
func (e *Env) warn(format string, args ...any) {
	fmt.Fprintf(e.Stderr, "sampo: warning: %s\n", printable(fmt.Sprintf(format, args...)))
}
