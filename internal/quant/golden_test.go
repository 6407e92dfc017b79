// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// hexBytes are bytes that JSON spells in hexadecimal.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func (h hexBytes) floats() []float32 {
	out := make([]float32, len(h)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(h[4*i:]))
	}
	return out
}

type goldenCase struct {
	Type   string
	Blocks hexBytes
	Values hexBytes
}

// readGolden reads what tools/quantgolden/make.py made with the Python package gguf.
func readGolden(t *testing.T) (golden struct{ Dequantize, Quantize []goldenCase }) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	return golden
}

func TestDequantizeEqualsReferenceBitForBit(t *testing.T) {
	for _, c := range readGolden(t).Dequantize {
		t.Run(c.Type, func(t *testing.T) {
			typ, ok := Parse(c.Type)
			if !ok {
				t.Fatalf("Parse(%q) finds no type", c.Type)
			}
			want := c.Values.floats()
			got := make([]float32, len(want))
			if err := Dequantize(got, typ, c.Blocks); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("value %d is %g (%#x), want %g (%#x)", i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
				}
			}
		})
	}
}

func TestQuantizeEqualsReference(t *testing.T) {
	for _, c := range readGolden(t).Quantize {
		t.Run(c.Type, func(t *testing.T) {
			typ, _ := Parse(c.Type)
			got := make([]byte, len(c.Blocks))
			if err := Quantize(got, typ, c.Values.floats()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, c.Blocks) {
				for i := range got {
					if got[i] != c.Blocks[i] {
						t.Fatalf("byte %d of block %d is %#x, want %#x", i%typ.BlockBytes(), i/typ.BlockBytes(), got[i], c.Blocks[i])
					}
				}
			}
		})
	}
}
