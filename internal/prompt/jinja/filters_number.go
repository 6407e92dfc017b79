// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

func filterInt(_ *machine, v value, a []value) value {
	base := intArg(a[1], 10)
	switch x := unbool(v).(type) {
	case int, *big.Int:
		return x
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return given(a[0], 0)
		}
		return floatToInt(x)
	case *Str:
		if base == 0 || base >= 2 && base <= 36 {
			if n, ok := parseInt(x.text, base); ok {
				return n
			}
		}
		if f, ok := parseFloat(x.text); ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return floatToInt(f)
		}
	case *undefined:
		x.fail()
	}
	return given(a[0], 0)
}

func filterFloat(_ *machine, v value, a []value) value {
	switch x := v.(type) {
	case *Str:
		if f, ok := parseFloat(x.text); ok {
			return f
		}
	case *undefined:
		x.fail()
	default:
		if isNumber(v) {
			return toFloat(v)
		}
	}
	return given(a[0], 0.0)
}

func filterRound(m *machine, v value, a []value) value {
	method := "common"
	if a[1] != (missing{}) {
		method = textArg(a[1]).text
	}
	n := intArg(a[0], 0)
	if u, ok := v.(*undefined); ok {
		u.fail()
	}
	if !isNumber(v) {
		typeError("type %s doesn't define __round__ method", typeName(v))
	}
	switch method {
	case "common":
		if isInt(v) {
			return m.roundInt(unbool(v), n)
		}
		return roundFloat(v.(float64), n)
	case "ceil", "floor":
		scale := m.arithmetic("**", 10, n)
		f := toFloat(m.arithmetic("*", unbool(v), scale))
		if method == "ceil" {
			f = math.Ceil(f)
		} else {
			f = math.Floor(f)
		}
		return m.arithmetic("/", floatToInt(f), scale)
	}
	throw("FilterArgumentError", "method must be common, ceil or floor")
	return nil
}

// roundInt rounds an integer to a power of ten, half to even.
func (m *machine) roundInt(v value, n int) value {
	if n >= 0 {
		return v
	}
	if n < -maxIntDigits {
		return 0
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	q, r := new(big.Int).DivMod(toBig(v), unit, new(big.Int))
	c := new(big.Int).Mul(r, big.NewInt(2)).Cmp(unit)
	if c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return normal(q.Mul(q, unit))
}

// roundFloat is Python's round(f, n): exact, half to even.
func roundFloat(f float64, n int) value {
	if math.IsNaN(f) || math.IsInf(f, 0) || n > 350 {
		return f
	}
	if n < -350 {
		return math.Copysign(0, f)
	}
	if n >= 0 {
		out, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		return out
	}
	unit := math.Pow(10, float64(-n))
	return math.RoundToEven(f/unit) * unit
}

func filterFilesizeformat(_ *machine, v value, a []value) value {
	var size float64
	switch x := v.(type) {
	case *Str:
		f, ok := parseFloat(x.text)
		if !ok {
			valueError("could not convert string to float: %s", reprOf(x))
		}
		size = f
	case *undefined:
		x.fail()
	default:
		if !isNumber(v) {
			typeError("float() argument must be a string or a real number, not '%s'", typeName(v))
		}
		size = toFloat(v)
	}
	base, suffix := 1000.0, []string{"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"}
	if boolArg(a[0], false) {
		base, suffix = 1024, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	}
	if size == 1 {
		return bare("1 Byte")
	}
	if size < base {
		return bare(intText(floatToInt(size)) + " Bytes")
	}
	unit := base
	for i, s := range suffix {
		unit *= base
		if size < unit || i == len(suffix)-1 {
			return bare(fmt.Sprintf("%.1f %s", base*size/unit, s))
		}
	}
	return nil
}
