// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// withTier runs f as a subtest with each tier that this machine has.
func withTier(t *testing.T, f func(t *testing.T)) {
	was := active
	defer func() { active = was }()
	for tier := generic; tier <= detected; tier++ {
		active = tier
		t.Run(tier.String(), f)
	}
}

// randomPanel makes a panel of random codes and sensible scales. Extreme takes the largest codes throughout.
func randomPanel(r *rand.Rand, f Format, blocks int, extreme bool) Panels {
	panel := make([]byte, f.PanelBytes(blocks))
	codes := blocks * f.CodeBytes()
	for i := range panel {
		panel[i] = byte(r.Uint32())
		if extreme {
			panel[i] = 0xFF
		}
	}
	for group := range blocks / f.GroupBlocks() {
		s := panel[codes+group*f.ScaleBytes():]
		halfs := map[Format]int{Q41: 32, Q51: 32, Q2K: 32, Q4K: 32, Q5K: 32}[f]
		for i := range max(halfs, PanelRows) {
			if f == MXFP4 {
				binary.LittleEndian.PutUint16(s[2*i:], uint16(110+r.IntN(16))<<7)
				continue
			}
			half := uint16(r.Uint32())&0x8FFF | 0x2000 // about 2^-7 to 2^-4
			if r.IntN(16) == 0 {
				half &= 0x83FF // a subnormal
			}
			binary.LittleEndian.PutUint16(s[2*i:], half)
		}
	}
	return Panels{f, blocks, panel}
}

// randomTile makes a tile of rows whose values are of very different sizes. Extreme gives the largest codes throughout.
func randomTile(r *rand.Rand, tile, blocks int, extreme bool) Tile {
	act := make([]byte, tile*blocks*RecordBytes)
	x := make([]float32, blocks*BlockCols)
	for row := range tile {
		for i := range x {
			x[i] = float32(r.NormFloat64() * math.Exp2(float64(r.IntN(20)-10)))
			if extreme {
				x[i] = 1
			}
		}
		quantizeTwin(&act[row*RecordBytes], uintptr(tile*RecordBytes), &x[0], blocks)
	}
	return Tile{tile, act}
}

func TestMulGivesTheBitsOfTheTwin(t *testing.T) {
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for f := range formats {
			for round := range 40 {
				rows := 1 + r.IntN(TileRows)
				blocks := (1 + r.IntN(5)) * f.GroupBlocks()
				extreme := round%4 == 3
				panels, tile := Panels{Format: f, Blocks: blocks}, randomTile(r, rows, blocks, extreme)
				for range 1 + r.IntN(5) {
					panels.Bytes = append(panels.Bytes, randomPanel(r, f, blocks, extreme).Bytes...)
				}
				ldd := panels.Count()*PanelRows + r.IntN(5)
				got := make([]float32, rows*ldd)
				Mul(got, ldd, panels, tile)
				for row := range rows {
					want := make([]float32, panels.Count()*PanelRows)
					for i := range panels.Count() {
						mulTwin(want[i*PanelRows:][:PanelRows], panels.Slice(i, i+1), tile.Records[row*RecordBytes:], rows*RecordBytes)
					}
					for o := range want {
						if g, w := got[row*ldd+o], want[o]; math.Float32bits(g) != math.Float32bits(w) {
							t.Fatalf("%v, %d blocks, row %d of %d, output %d: got %v, want %v", f, blocks, row, rows, o, g, w)
						}
					}
				}
			}
		}
	})
}

// Sums of 16 bits are largest where codes and activations are, and where one pair of columns differs from the next.
func TestMulGivesTheBitsOfTheTwinAtTheLimitsOfItsIntegers(t *testing.T) {
	patterns := []uint32{0, 0xFFFFFFFF, 0xFFFF0000, 0x0000FFFF, 0xFF00FF00}
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		for f := range formats {
			for i := range len(patterns) * len(patterns) {
				codes, signs := patterns[i/len(patterns)], patterns[i%len(patterns)]
				checkLimits(t, randomPanel(r, f, f.GroupBlocks(), false), codes, signs)
			}
		}
	})
}

// checkLimits compares Mul with its twin for a panel whose bytes of codes are those of a word again and again, and activations
// that have the largest magnitude and the signs of another.
func checkLimits(t *testing.T, w Panels, codes, signs uint32) {
	t.Helper()
	for i := range w.Blocks * w.Format.CodeBytes() {
		w.Bytes[i] = byte(codes >> (i % 4 * 8))
	}
	x := make([]float32, w.Blocks*BlockCols)
	for i := range x {
		x[i] = 1 - 2*float32(signs>>(i%4*8)&1)
	}
	want := make([]float32, PanelRows)
	for rows := 1; rows <= TileRows; rows++ {
		tile := Tile{rows, make([]byte, rows*w.Blocks*RecordBytes)}
		for row := range rows {
			Quantize(tile.Records[row*RecordBytes:], rows*RecordBytes, x)
		}
		got := make([]float32, rows*PanelRows)
		Mul(got, PanelRows, w, tile)
		mulTwin(want, w, tile.Records, rows*RecordBytes)
		for i, g := range got {
			if math.Float32bits(g) != math.Float32bits(want[i%PanelRows]) {
				t.Fatalf("%v, codes %08x, signs %08x, output %d of %d rows: got %v, want %v",
					w.Format, codes, signs, i, rows, g, want[i%PanelRows])
			}
		}
	}
}

func TestMulTilesGivesTheBitsOfMul(t *testing.T) {
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		scratch := new(Scratch)
		for f := range formats {
			for round := range 12 {
				blocks, rows := (1+r.IntN(5))*superBlocks, 1+r.IntN(6*TileRows)
				if f.GroupBlocks() == 1 {
					blocks -= r.IntN(superBlocks)
				}
				if round == 0 { // more than one group of tiles, more than one run of blocks
					blocks, rows = manyBlocks+superBlocks, (manyGroup+2)*TileRows+1
				}
				extreme := round%4 == 3
				panels := Panels{Format: f, Blocks: blocks}
				for range 1 + r.IntN(5) {
					panels.Bytes = append(panels.Bytes, randomPanel(r, f, blocks, extreme).Bytes...)
				}
				x := Tiles{Rows: rows, Blocks: blocks}
				for i := range x.Count() {
					x.Records = append(x.Records, randomTile(r, min(TileRows, x.Rows-i*TileRows), blocks, extreme).Records...)
				}
				ldd := panels.Count()*PanelRows + r.IntN(5)
				got, want := make([]float32, x.Rows*ldd), make([]float32, x.Rows*ldd)
				for i := range x.Count() {
					Mul(want[i*TileRows*ldd:], ldd, panels, x.Tile(i))
				}
				check := func(way string) {
					t.Helper()
					for i := range want {
						if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
							t.Fatalf("%s, %v, %d blocks, %d panels, row %d of %d, output %d: got %v, want %v",
								way, f, blocks, panels.Count(), i/ldd, x.Rows, i%ldd, got[i], want[i])
						}
					}
				}
				MulTiles(got, ldd, panels, x, scratch)
				check("tiles")
				if Pairs(f) {
					clear(got)
					mulInPairs(got, ldd, panels, x)
					check("pairs")
				}
			}
		}
	})
}

func TestMulIsExactAtTheLimitsOfItsIntegers(t *testing.T) {
	withTier(t, func(t *testing.T) {
		for _, weight := range []int32{-128, -127, 0, 127} {
			for _, value := range []float32{-1, 1} {
				panel := make([]byte, Q80.PanelBytes(1))
				for i := range Q80.CodeBytes() {
					panel[i] = byte(weight + 128)
				}
				for o := range PanelRows {
					binary.LittleEndian.PutUint16(panel[Q80.CodeBytes()+2*o:], 0x3C00) // 1
				}
				x := make([]float32, BlockCols)
				for i := range x {
					x[i] = value
				}
				act := make([]byte, RecordBytes)
				Quantize(act, RecordBytes, x)
				var got [PanelRows]float32
				Mul(got[:], PanelRows, Panels{Q80, 1, panel}, Tile{1, act})
				scale := floatAt(act[recordScale:])
				want := float32(weight*127*int32(value)*BlockCols) * scale
				for o := range got {
					if got[o] != want {
						t.Fatalf("weight %d, activation %v, output %d: got %v, want %v", weight, value, o, got[o], want)
					}
				}
			}
		}
	})
}

func TestQuantizeGivesTheBitsOfTheTwin(t *testing.T) {
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 200 {
			blocks := 1 + r.IntN(9)
			stride := RecordBytes * (1 + r.IntN(3))
			x := make([]float32, blocks*BlockCols)
			for i := range x {
				switch r.IntN(8) {
				case 0:
					x[i] = 0
				case 1: // a tie, if the largest is 127
					x[i] = float32(r.IntN(254)-127) + 0.5
				default:
					x[i] = float32(r.NormFloat64() * math.Exp2(float64(r.IntN(8))))
				}
			}
			for b := range blocks {
				switch block := x[b*BlockCols:][:BlockCols]; r.IntN(8) {
				case 0:
					clear(block)
				case 1:
					block[r.IntN(BlockCols)] = 127
				case 2:
					for i := range block {
						block[i] *= 0x1p-105
					}
				case 3:
					block[r.IntN(BlockCols)] = -math.MaxFloat32
				}
			}
			got, want := make([]byte, blocks*stride), make([]byte, blocks*stride)
			Quantize(got, stride, x)
			quantizeTwin(&want[0], uintptr(stride), &x[0], blocks)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("byte %d of record %d: got %d, want %d; input %v", i%stride, i/stride, got[i], want[i], x[i/stride*BlockCols:][:BlockCols])
				}
			}
		}
	})
}

func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	float := func() float32 {
		bits := r.Uint32()
		if r.IntN(2) == 0 { // few bits set: ties are likely
			bits &= r.Uint32() & r.Uint32()
		}
		return math.Float32frombits(bits&0x807FFFFF | (96+r.Uint32N(64))<<23)
	}
	for range 300000 {
		a, b, c := float(), float(), float()
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(a) * float64(b))
		exact.Add(exact, new(big.Float).SetFloat64(float64(c)))
		want, _ := exact.Float32()
		if got := fma(a, b, c); got != want {
			t.Fatalf("fma(%x, %x, %x): got %x, want %x", a, b, c, got, want)
		}
	}
}

func TestHalfValue(t *testing.T) {
	for h, want := range map[uint16]float32{0: 0, 1: 0x1p-24, 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0400: 0x1p-14, 0x83FF: -1023 * 0x1p-24} {
		if got := halfValue(h); got != want {
			t.Errorf("halfValue(%#x): got %v, want %v", h, got, want)
		}
	}
}

func TestUnpackBlockAgreesWithCodeAt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for f := range formats {
		codes := randomPanel(r, f, f.GroupBlocks(), false).codesOf(0)
		var got [PanelRows * BlockCols]byte
		unpackBlock(f, &got, codes)
		for o := range PanelRows {
			for i := range BlockCols {
				if g, want := got[i/4*64+o*4+i%4], codeAt(f, codes, o, i); g != want {
					t.Fatalf("%v, row %d, input %d: got %d, want %d", f, o, i, g, want)
				}
			}
		}
	}
}

// A NaN of a row of Q4_K or Q5_K had another sign with eight rows than alone. On avx512 it still may.
func TestNaNHasTheSameBitsAloneAndAmongOthers(t *testing.T) {
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		scratch := new(Scratch)
		for f := range formats {
			blocks, rows := superBlocks, 4*TileRows
			panels := randomPanel(r, f, blocks, false)
			for i := len(panels.codesOf(0)); i+1 < len(panels.Bytes); i += 2 + 2*r.IntN(40) {
				binary.LittleEndian.PutUint16(panels.Bytes[i:], uint16(0x7C00|r.IntN(2)<<15|r.IntN(2)<<9)) // infinities and NaNs where a half float is
			}
			x := Tiles{Rows: rows, Blocks: blocks}
			for range x.Count() {
				x.Records = append(x.Records, randomTile(r, TileRows, blocks, false).Records...)
			}
			together, alone := make([]float32, rows*PanelRows), make([]float32, PanelRows)
			MulTiles(together, PanelRows, panels, x, scratch)
			for row := range rows {
				record := make([]byte, 0, blocks*RecordBytes)
				for b := range blocks {
					tile := x.Tile(row / TileRows).Records
					record = append(record, tile[(b*TileRows+row%TileRows)*RecordBytes:][:RecordBytes]...)
				}
				Mul(alone, PanelRows, panels, Tile{1, record})
				for o, want := range alone {
					got := together[row*PanelRows+o]
					if active.String() == "avx512" && got != got && want != want {
						continue
					}
					if math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%v, row %d, output %d: got %#x, alone %#x", f, row, o, math.Float32bits(got), math.Float32bits(want))
					}
				}
			}
		}
	})
}

// BenchmarkMul multiplies two panels that stay in the caches nearest to a core, on one core.
func BenchmarkMul(b *testing.B) {
	was := active
	defer func() { active = was }()
	r := rand.New(rand.NewPCG(9, 10))
	const blocks = 32
	for f := range formats {
		panels := randomPanel(r, f, blocks, false)
		panels.Bytes = append(panels.Bytes, panels.Bytes...)
		for tier := generic; tier <= detected; tier++ {
			for _, rows := range []int{1, 2, 4, 8} {
				b.Run(fmt.Sprintf("%v/%v/t=%d", f, tier, rows), func(b *testing.B) {
					active = tier
					tile, dst := randomTile(r, rows, blocks, false), make([]float32, rows*2*PanelRows)
					for b.Loop() {
						Mul(dst, 2*PanelRows, panels, tile)
					}
					b.SetBytes(int64(len(panels.Bytes)))
					b.ReportMetric(float64(b.N)*float64(2*rows*blocks*BlockCols*PanelRows)/b.Elapsed().Seconds()/1e9, "GMAC/s")
				})
			}
		}
	}
}
