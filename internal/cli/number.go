// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A decimal is a flag whose numbers mean what they do to a person: the library takes 07441 for octal.
type decimal struct{ pflag.Value }

// Set implements pflag.Value.
func (d decimal) Set(text string) error { return d.Value.Set(withoutZeros(text)) }

// withoutZeros leaves out the zeros that a number begins with. 0x10 has none.
func withoutZeros(text string) string {
	digits := strings.TrimLeft(text, "+-")
	rest := strings.TrimLeft(digits, "0_")
	if rest == digits || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return text
	}
	return strings.TrimSuffix(text, digits) + rest
}

// takeDecimals makes the numbers of all flags decimal.
func takeDecimals(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if t := f.Value.Type(); t == "int" || t == "int64" {
				f.Value = decimal{f.Value}
			}
		})
	}
}
