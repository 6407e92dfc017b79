// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteUnits are tried longest first, so that GiB is not read as B.
var byteUnits = []struct {
	suffix string
	factor float64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"b", 1},
}

// A byteSize is a flag value such as 4GiB, 500MB or 1073741824.
type byteSize int64

// String prints the size with a binary unit.
func (b *byteSize) String() string {
	if b == nil || *b == 0 {
		return ""
	}
	return formatBytes(int64(*b))
}

// Type names the value in help texts.
func (b *byteSize) Type() string { return "bytes" }

// Set parses text.
func (b *byteSize) Set(text string) error {
	number, factor := strings.ToLower(strings.TrimSpace(text)), 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(value) || value*factor < 1 || value*factor >= math.MaxInt64 {
		return errors.New("not a size")
	}
	*b = byteSize(value * factor)
	return nil
}

// formatBytes prints n with a binary unit and three significant digits.
func formatBytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/1024, 0
	for value >= 999.5 && i < len(units)-1 {
		value /= 1024
		i++
	}
	return fmt.Sprintf("%.3g %ciB", value, units[i])
}

// formatCount prints a count of parameters: 135M, 1.7B.
func formatCount(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3gB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3gM", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.3gK", float64(n)/1e3)
	}
	return strconv.FormatInt(n, 10)
}
