// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// wants says what a flag of a type takes. Types that are not here have a Set that says so itself.
var wants = map[string]string{
	"int":      "want a whole number",
	"int64":    "want a whole number",
	"intSlice": "want whole numbers with commas between them",
	"float64":  "want a number",
	"bool":     "want true or false",
	"duration": "want a time such as 30s or 1m30s",
	"bytes":    "want a size such as 4GiB or 500MB",
}

// flagError says in our words what is wrong with a flag: the library's tell of functions of the Go language. The value came
// under the given name; "" is the flag's own.
func flagError(name string, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	flag := invalid.GetFlag()
	if name == "" {
		name = "--" + flag.Name
	}
	want, known := wants[flag.Value.Type()]
	switch {
	case !known:
		return fmt.Errorf("%s: %w", name, errors.Unwrap(invalid))
	case flag.Name == "port":
		want += " from 0 to 65535"
	}
	return fmt.Errorf("%s: %s, got %q", name, want, invalid.GetValue())
}
