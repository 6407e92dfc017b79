// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxIntBits bounds integers. Python has no bound, but prints only up to 4300 digits.
const maxIntBits = 1 << 16

// maxIntDigits is how many digits Python converts between integers and text.
const maxIntDigits = 4300

func isNumber(v value) bool {
	switch v.(type) {
	case bool, int, *big.Int, float64:
		return true
	}
	return false
}

func isInt(v value) bool {
	switch v.(type) {
	case bool, int, *big.Int:
		return true
	}
	return false
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unbool returns the integer of a bool, and other values as they are.
func unbool(v value) value {
	if b, ok := v.(bool); ok {
		return asInt(b)
	}
	return v
}

// toBig returns an integer as a big one.
func toBig(v value) *big.Int {
	switch v := unbool(v).(type) {
	case int:
		return big.NewInt(int64(v))
	case *big.Int:
		return v
	}
	panic("jinja: toBig of no integer")
}

// toFloat returns a number as a float.
func toFloat(v value) float64 {
	switch v := unbool(v).(type) {
	case int:
		return float64(v)
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		if math.IsInf(f, 0) {
			throw("OverflowError", "int too large to convert to float")
		}
		return f
	case float64:
		return v
	}
	panic("jinja: toFloat of no number")
}

// compareNumbers returns -1, 0 or 1, or 2 if one is not a number.
func compareNumbers(a, b value) int {
	a, b = unbool(a), unbool(b)
	fa, isFloatA := a.(float64)
	fb, isFloatB := b.(float64)
	if !isFloatA && !isFloatB {
		ia, okA := a.(int)
		ib, okB := b.(int)
		if okA && okB {
			return cmp(ia, ib)
		}
		return toBig(a).Cmp(toBig(b))
	}
	if isFloatA && isFloatB {
		if math.IsNaN(fa) || math.IsNaN(fb) {
			return 2
		}
		return cmp(fa, fb)
	}
	if isFloatB {
		return compareIntFloat(a, fb)
	}
	if c := compareIntFloat(b, fa); c != 2 {
		return -c
	}
	return 2
}

func cmp[T int | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareIntFloat(i value, f float64) int {
	switch {
	case math.IsNaN(f):
		return 2
	case math.IsInf(f, 0):
		return cmp(0, f)
	}
	return new(big.Float).SetPrec(maxIntBits).SetInt(toBig(i)).Cmp(big.NewFloat(f))
}

// floatText is Python's repr of a float: the shortest text that reads back equal.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	e := strings.IndexByte(text, 'e')
	exp, _ := strconv.Atoi(text[e+1:])
	if exp < -4 || exp >= 16 {
		return text
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func intText(v value) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case *big.Int:
		text := v.String()
		if len(text) > maxIntDigits {
			valueError("Exceeds the limit (%d digits) for integer string conversion", maxIntDigits)
		}
		return text
	}
	panic("jinja: intText of no integer")
}

// parseInt is Python's int(text, base).
func parseInt(text string, base int) (value, bool) {
	s := strings.TrimFunc(text, isSpace)
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	if s == "" || len(s) > maxIntDigits || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		return nil, false
	}
	s = asciiDigits(s)
	if len(s) > 2 && s[0] == '0' {
		prefix := map[byte]int{'x': 16, 'o': 8, 'b': 2}[s[1]|0x20]
		if prefix != 0 && (base == prefix || base == 0) {
			base = prefix
			s = strings.TrimPrefix(s[2:], "_")
		}
	}
	if base == 0 {
		if base = 10; len(s) > 1 && s[0] == '0' && strings.Trim(s, "0_") != "" {
			return nil, false
		}
	}
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return nil, false
	}
	b, ok := new(big.Int).SetString(strings.ReplaceAll(s, "_", ""), base)
	if !ok {
		return nil, false
	}
	if neg {
		b.Neg(b)
	}
	return normal(b), true
}

// parseFloat is Python's float(text).
func parseFloat(text string) (float64, bool) {
	s := asciiDigits(strings.TrimFunc(text, isSpace))
	low := strings.ToLower(strings.TrimLeft(s, "+-"))
	switch low {
	case "inf", "infinity", "nan":
	default:
		if low == "" || strings.ContainsAny(low, "xp") || strings.Contains(low, "inf") || strings.Contains(low, "nan") {
			return 0, false
		}
		if strings.HasPrefix(low, "_") || strings.HasSuffix(low, "_") || !underscoresBetweenDigits(low) {
			return 0, false
		}
		s = strings.ReplaceAll(s, "_", "")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func underscoresBetweenDigits(s string) bool {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !isDigit(s[i-1]) || !isDigit(s[i+1])) {
			return false
		}
	}
	return true
}

// floatToInt is Python's int(f).
func floatToInt(f float64) value {
	if math.IsNaN(f) {
		valueError("cannot convert float NaN to integer")
	}
	if math.IsInf(f, 0) {
		throw("OverflowError", "cannot convert float infinity to integer")
	}
	b, _ := big.NewFloat(math.Trunc(f)).Int(nil)
	return normal(b)
}
