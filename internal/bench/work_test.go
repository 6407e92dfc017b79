// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"testing"
	"time"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestTheLongerOfReadingAndComputingBinds(t *testing.T) {
	l := Limits{ReadGBps: 10, Int8GMACs: 100, FP32GMACs: 20, BF16GMACs: 40}
	for _, tt := range []struct {
		name    string
		work    Work
		seconds float64
		bound   string
	}{
		{"only bytes", Work{Bytes: 5e9}, 0.5, "memory"},
		{"bytes take longer", Work{Bytes: 5e9, Int8: 10e9}, 0.5, "memory"},
		{"bytes of the same time", Work{Bytes: 1e9, Int8: 10e9}, 0.1, "memory"},
		{"arithmetic takes longer", Work{Bytes: 1e9, Int8: 20e9}, 0.2, "compute"},
		{"kinds of arithmetic add up", Work{Int8: 10e9, FP32: 10e9, BF16: 4e9}, 0.1 + 0.5 + 0.1, "compute"},
	} {
		seconds, bound := l.least(tt.work)
		if !near(seconds, tt.seconds) || bound != tt.bound {
			t.Errorf("%s: got %v s bound by %s, want %v s by %s", tt.name, seconds, bound, tt.seconds, tt.bound)
		}
	}
}

func TestBF16CountsAsFloatsWithoutAnInstruction(t *testing.T) {
	l := Limits{ReadGBps: 10, Int8GMACs: 100, FP32GMACs: 20}
	if got, _ := l.least(Work{BF16: 40e9}); !near(got, 2) {
		t.Errorf("40e9 multiply-adds at 20e9 a second take %v s, want 2", got)
	}
}

func TestShareIsTheLeastTimeOverTheMeasured(t *testing.T) {
	l := Limits{ReadGBps: 10, Int8GMACs: 100, FP32GMACs: 20}
	if share, bound := l.share(Work{Bytes: 5e9, Int8: 1e9}, 2); !near(share, 0.25) || bound != "memory" {
		t.Errorf("got share %v bound by %s, want 0.25 by memory", share, bound)
	}
	if share, _ := l.share(Work{Bytes: 5e9}, 0); share != 0 {
		t.Errorf("share of no time is %v, want 0", share)
	}
	if share, _ := (Limits{}).share(Work{Bytes: 5e9}, 1); share != 0 {
		t.Errorf("share of unknown limits is %v, want 0", share)
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestSignificantKeepsFourDigits(t *testing.T) {
	for _, tt := range []struct{ x, want float64 }{
		{0, 0}, {1.23456, 1.235}, {12345.6, 12350}, {0.00123456, 0.001235}, {-98.7654, -98.77}, {1000, 1000},
	} {
		if got := significant(tt.x); !near(got, tt.want) {
			t.Errorf("significant(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
}

func TestNoiseIsWhatOthersUsed(t *testing.T) {
	start := time.Unix(0, 0)
	a := usage{known: true, own: 1, busy: 10, stolen: 1, all: 100, pressure: 5, at: start}
	quiet := usage{known: true, own: 17, busy: 26.5, stolen: 1, all: 120, pressure: 6, at: start.Add(10 * time.Second)}
	loud := usage{known: true, own: 11, busy: 22, stolen: 2, all: 120, pressure: -1, at: start.Add(10 * time.Second)}
	for _, tt := range []struct {
		name  string
		a, b  usage
		want  Noise
		noisy bool
	}{
		{"quiet", a, quiet, Noise{Known: true, Own: 0.8, Foreign: 0.025, Load: 2, Pressure: 0.1}, false},
		{"others compute and the host steals", a, loud, Noise{Known: true, Own: 0.5, Foreign: 0.1, Steal: 0.05, Load: 2, Pressure: -1}, true},
		{"not known", a, usage{pressure: -1}, Noise{Load: 2, Pressure: -1}, true},
		{"no time went by", a, a, Noise{Load: 2, Pressure: -1}, true},
	} {
		got := noiseBetween(tt.a, tt.b, 2)
		same := got.Known == tt.want.Known && near(got.Own, tt.want.Own) && math.Abs(got.Foreign-tt.want.Foreign) < 1e-9 &&
			near(got.Steal, tt.want.Steal) && got.Load == tt.want.Load && near(got.Pressure, tt.want.Pressure)
		if !same {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
		if got.Noisy() != tt.noisy {
			t.Errorf("%s: noisy %v, want %v", tt.name, got.Noisy(), tt.noisy)
		}
		if got.String() == "" {
			t.Errorf("%s: no description", tt.name)
		}
	}
}
