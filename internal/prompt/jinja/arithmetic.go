// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"math/bits"
)

// arithmetic is a op b for numbers that are no bools.
func (m *machine) arithmetic(op string, a, b value) value {
	_, floatA := a.(float64)
	_, floatB := b.(float64)
	if floatA || floatB || op == "/" {
		return m.floats(op, a, b)
	}
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			if v, ok := smallInts(op, x, y); ok {
				return v
			}
		}
	}
	return m.bigInts(op, toBig(a), toBig(b))
}

// smallInts computes what can't overflow.
func smallInts(op string, x, y int) (value, bool) {
	switch op {
	case "+":
		s := x + y
		return s, (s > x) == (y > 0)
	case "-":
		d := x - y
		return d, (d < x) == (y > 0)
	case "*":
		hi, lo := bits.Mul(uint(abs(x)), uint(abs(y)))
		return x * y, hi == 0 && lo <= math.MaxInt
	case "//", "%":
		if y == 0 {
			throw("ZeroDivisionError", "integer division or modulo by zero")
		}
		if y == -1 {
			return nil, false // may overflow
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q--
			r += y
		}
		if op == "%" {
			return r, true
		}
		return q, true
	}
	return nil, false
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

func (m *machine) bigInts(op string, x, y *big.Int) value {
	m.charge((x.BitLen() + y.BitLen()) / 8)
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		m.checkBits(x.BitLen() + y.BitLen())
		z.Mul(x, y)
	case "//", "%":
		if y.Sign() == 0 {
			throw("ZeroDivisionError", "integer division or modulo by zero")
		}
		r := new(big.Int)
		z.QuoRem(x, y, r)
		if r.Sign() != 0 && r.Sign() != y.Sign() {
			z.Sub(z, big.NewInt(1))
			r.Add(r, y)
		}
		if op == "%" {
			z = r
		}
	case "**":
		return m.power(x, y)
	}
	m.checkBits(z.BitLen())
	return normal(z)
}

func (m *machine) checkBits(n int) {
	if n > maxIntBits {
		panic(&LimitError{What: "integer bits", Max: maxIntBits})
	}
}

func (m *machine) power(x, y *big.Int) value {
	if y.Sign() < 0 {
		if x.Sign() == 0 {
			throw("ZeroDivisionError", "0.0 cannot be raised to a negative power")
		}
		return math.Pow(toFloat(normal(x)), toFloat(normal(y)))
	}
	if x.BitLen() > 1 {
		if !y.IsInt64() || y.Int64() > maxIntBits {
			m.checkBits(maxIntBits + 1)
		}
		m.checkBits((x.BitLen() - 1) * int(y.Int64()))
		m.charge(x.BitLen() * int(y.Int64()) / 8)
		m.steps += y.Int64()
	} else if y.Sign() > 0 {
		// The base is -1, 0 or 1: only whether the exponent is even matters.
		y = big.NewInt(2 - int64(y.Bit(0)))
	}
	return normal(new(big.Int).Exp(x, y, nil))
}

func (m *machine) floats(op string, a, b value) value {
	if op == "/" && isInt(a) && isInt(b) {
		return divideInts(toBig(a), toBig(b))
	}
	x, y := toFloat(a), toFloat(b)
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return powFloats(x, y)
	}
	if y == 0 {
		throw("ZeroDivisionError", "float division by zero")
	}
	if op == "/" {
		return x / y
	}
	mod := math.Mod(x, y)
	div := (x - mod) / y
	if mod != 0 && (mod < 0) != (y < 0) {
		mod += y
		div--
	} else if mod == 0 {
		mod = math.Copysign(0, y)
	}
	if op == "%" {
		return mod
	}
	if div == 0 {
		return math.Copysign(0, x/y)
	}
	floor := math.Floor(div)
	if div-floor > 0.5 {
		floor++
	}
	return floor
}

// divideInts is the quotient of two integers, rounded once.
func divideInts(x, y *big.Int) value {
	if y.Sign() == 0 {
		throw("ZeroDivisionError", "division by zero")
	}
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	if math.IsInf(f, 0) {
		throw("OverflowError", "integer division result too large for a float")
	}
	return f
}

func powFloats(x, y float64) value {
	if x == 0 && y < 0 {
		throw("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	if x < 0 && y != math.Trunc(y) && !math.IsInf(y, 0) {
		typeError("complex numbers are not supported")
	}
	z := math.Pow(x, y)
	if math.IsInf(z, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		throw("OverflowError", "(34, 'Numerical result out of range')")
	}
	return z
}
