// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// A raw builds files that Write would refuse to.
type raw []byte

func (r raw) u32(v uint32) raw    { return binary.LittleEndian.AppendUint32(r, v) }
func (r raw) u64(v uint64) raw    { return binary.LittleEndian.AppendUint64(r, v) }
func (r raw) str(s string) raw    { return append(r.u64(uint64(len(s))), s...) }
func (r raw) pad(n int) raw       { return append(r, make([]byte, n)...) }
func begin(tensors, keys int) raw { return raw("GGUF").u32(3).u64(uint64(tensors)).u64(uint64(keys)) }

// tensor appends a description whose dimensions are in the order of the file.
func (r raw) tensor(name string, t quant.Type, offset uint64, dims ...uint64) raw {
	r = r.str(name).u32(uint32(len(dims)))
	for _, d := range dims {
		r = r.u64(d)
	}
	return r.u32(uint32(t)).u64(offset)
}

func TestHostileFilesAreRefusedWithPlaceAndReason(t *testing.T) {
	nested := begin(0, 1).str("k").u32(uint32(typeArray))
	for range maxArrayDepth + 1 {
		nested = nested.u32(uint32(typeArray)).u64(1)
	}
	for _, tt := range []struct {
		name string
		data raw
		want string
	}{
		{"empty", nil, "header at 0x0: the file is cut short: 4 bytes are needed here, and 0 of its 0 are left"},
		{"other magic", raw("PK\x03\x04").pad(60), `header at 0x0: not a GGUF file: it begins with "PK\x03\x04", want "GGUF"`},
		{"version 1", raw("GGUF").u32(1).pad(60), "header at 0x4: version 1 is not supported"},
		{"version 9", raw("GGUF").u32(9).pad(60), "header at 0x4: version is 9, want 2 or 3"},
		{"big-endian", raw("GGUF\x00\x00\x00\x03").pad(60), "header at 0x4: big-endian files are not supported"},
		{"too many tensors", begin(maxTensors+1, 0).pad(60), "header at 0x8: count is 1048577, want at most 1048576"},
		{"more tensors than fit", begin(1000, 0).pad(60), "header at 0x8: count is 1000, but only 68 of the file's 84 bytes are left: it is cut short or damaged"},
		{"negative number of tensors", begin(-1, 0).pad(60), "count is 18446744073709551615"},
		{"too many keys", begin(0, maxKeys+1).pad(60), "header at 0x10: count is 65537, want at most 65536"},
		{"more keys than fit", begin(0, 100).pad(60), "header at 0x10: count is 100, but only 60 of the file's 84 bytes are left: it is cut short or damaged"},
		{"long key", begin(0, 1).u64(maxKeyBytes + 1).pad(60), "key 1 of 1 at 0x18: string of 65536 bytes, want at most 65535"},
		{"key past the end", begin(0, 1).u64(100).pad(60), "key 1 of 1 at 0x20: the file is cut short: 100 bytes are needed here, and 60 of its 92 are left"},
		{"unknown value type", begin(0, 1).str("k").u32(13).pad(60), `key "k" at 0x21: unknown value type 13`},
		{"unknown element type", begin(0, 1).str("k").u32(9).u32(99).pad(60), `key "k" at 0x25: unknown element type 99`},
		{"truth value 2", begin(0, 1).str("k").u32(7).u32(2), `key "k" at 0x25: truth value is 2, want 0 or 1`},
		{"long string", begin(0, 1).str("k").u32(8).u64(maxStringBytes + 1).pad(60), `key "k" at 0x25: string of 67108865 bytes, want at most 67108864`},
		{"string past the end", begin(0, 1).str("k").u32(8).u64(1000).pad(60), `key "k" at 0x2d: the file is cut short: 1000 bytes are needed here, and 60 of its 105 are left`},
		{"long array", begin(0, 1).str("k").u32(9).u32(0).u64(maxArrayElems + 1).pad(60), `key "k" at 0x29: count is 16777217, want at most 16777216`},
		{"array past the end", begin(0, 1).str("k").u32(9).u32(8).u64(10).pad(79), `key "k" at 0x29: count is 10, but only 79 of the file's 128 bytes are left: it is cut short or damaged`},
		{"string of an array past the end", begin(0, 1).str("k").u32(9).u32(8).u64(2).str("a").u64(90).pad(60), `key "k" at 0x42: the file is cut short`},
		{"deep arrays", nested.pad(60), "arrays nested deeper than 4"},
		{"key twice", begin(0, 2).str("k").u32(0).pad(1).str("k").u32(0).pad(60), `key "k" at 0x26: appears twice`},
		{"alignment 0", begin(0, 1).str(keyAlignment).u32(4).u32(0).pad(60), `key "general.alignment": alignment is 0, want a power of two up to 65536`},
		{"alignment 24", begin(0, 1).str(keyAlignment).u32(4).u32(24).pad(60), `key "general.alignment": alignment is 24`},
		{"alignment of text", begin(0, 1).str(keyAlignment).u32(8).str("32").pad(60), `key "general.alignment": alignment is 32`},
		{"huge alignment", begin(0, 1).str(keyAlignment).u32(4).u32(1 << 30).pad(60), `key "general.alignment": alignment is 1073741824`},
		{"long tensor name", begin(1, 0).u64(maxNameBytes + 1).pad(60), "tensor 1 of 1 at 0x18: string of 1025 bytes, want at most 1024"},
		{"five dimensions", begin(1, 0).tensor("t", quant.F32, 0, 1, 1, 1, 1, 1).pad(60), `tensor "t" at 0x21: 5 dimensions, want at most 4`},
		{"dimension 0", begin(1, 0).tensor("t", quant.F32, 0, 4, 0).pad(60), `tensor "t" at 0x2d: dimension is 0, want 1 to`},
		{"dimension above int64", begin(1, 0).tensor("t", quant.F32, 0, math.MaxUint64).pad(60), `tensor "t" at 0x25: dimension is 18446744073709551615, want 1 to`},
		{"size overflows", begin(1, 0).tensor("t", quant.F32, 0, 1<<31, 1<<31, 4).pad(60), `tensor "t" at 0x18: size overflows`},
		{"half a block", begin(1, 0).tensor("t", quant.Q4K, 0, 100).pad(60), `tensor "t" at 0x18: row length is not a multiple of the block of Q4_K`},
		{"retired type", begin(1, 0).tensor("t", 4, 0, 32).pad(60), `tensor "t" at 0x2d: unknown tensor type number 4`},
		{"type of another format", begin(1, 0).tensor("t", quant.U16, 0, 32).pad(60), `tensor "t" at 0x2d: unknown tensor type number`},
		{"offset off the grid", begin(1, 0).tensor("t", quant.F32, 8, 4).pad(100), `tensor "t" at 0x18: offset 8 is not a multiple of 32`},
		{"offset overflows", begin(1, 0).tensor("t", quant.F32, math.MaxUint64-31, 4).pad(100), `tensor "t" at 0x31: offset 18446744073709551584 overflows`},
		{"data past the end", begin(1, 0).tensor("t", quant.F32, 64, 16).pad(100), `tensor "t" at 0x18: bytes 64 to 128 of the data needed, but the file has 93`},
		{"no data at all", begin(1, 0).tensor("t", quant.F32, 0, 16), `tensor "t" at 0x18: bytes 0 to 64 of the data needed, but the file has 0`},
		{"shared data", begin(2, 0).tensor("t", quant.F32, 32, 16).tensor("u", quant.F32, 0, 16).pad(200), `tensor "t" at 0x18: overlaps tensor "u"`},
		{"tensor twice", begin(2, 0).tensor("t", quant.F32, 0, 8).tensor("t", quant.F32, 32, 8).pad(200), `tensor "t" at 0x39: appears twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := OpenBytes("bad.gguf", tt.data)
			var fileErr *weights.FileError
			if !errors.As(err, &fileErr) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "gguf: bad.gguf: ") {
				t.Errorf("got %v\nwant a FileError with %q", err, tt.want)
			}
		})
	}
}

func TestHostileCountsAllocateLittle(t *testing.T) {
	array := func(typ valueType, n uint64) raw {
		return begin(0, 1).str("k").u32(9).u32(uint32(typ)).u64(n).pad(1000)
	}
	files := []raw{begin(maxTensors, 0).pad(1000), begin(0, maxKeys).pad(1000), begin(1, 0).tensor("t", quant.F32, 0, 1<<40).pad(1000)}
	for typ := range minBytes {
		for _, n := range []uint64{1000, maxArrayElems, math.MaxInt64, math.MaxUint64} {
			files = append(files, array(valueType(typ), n))
		}
	}
	for i, data := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := OpenBytes("bad.gguf", data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
			t.Errorf("file %d of %d bytes made allocations of %d bytes (%v)", i, len(data), got, err)
		}
	}
}

// Most cuts were told as a count or a string that is too long.
func TestAFileThatIsCutShortIsSaidToBe(t *testing.T) {
	whole := encode(t, allKinds(), twoTensors())
	last := bytes.LastIndexByte(whole, 64) // the top byte of the last value; padding follows
	for n := range last + 1 {
		if _, err := OpenBytes("cut.gguf", whole[:n:n]); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("a file of %d bytes cut to %d: got %v, want an error that says so", len(whole), n, err)
		}
	}
}

func TestFlippedBytesNeverCrash(t *testing.T) {
	whole := encode(t, allKinds(), twoTensors())
	for i := range whole {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= flip
			useAll(t, damaged)
		}
	}
}

// useAll opens a file and, if that works, checks what is always true of a File.
func useAll(t *testing.T, data []byte) {
	f, err := OpenBytes("fuzz.gguf", data)
	if err != nil {
		return
	}
	for _, key := range f.Meta().Keys() {
		value, ok := f.Meta().Value(key)
		if _, typed := typeOf(value); !ok || !typed {
			t.Fatalf("key %q has the value %v of type %T", key, value, value)
		}
	}
	for _, name := range f.Names() {
		tensor, ok := f.Tensor(name)
		want, reason := weights.Size(tensor.Type, tensor.Shape)
		if !ok || reason != "" || want != int64(len(tensor.Data)) {
			t.Fatalf("tensor %q has %d bytes, want %d (%s)", name, len(tensor.Data), want, reason)
		}
		var sum byte
		for _, b := range tensor.Data {
			sum += b
		}
	}
	var again bytes.Buffer
	tensors := make([]weights.Tensor, 0, len(f.Names()))
	for _, name := range f.Names() {
		tensor, _ := f.Tensor(name)
		tensors = append(tensors, tensor)
	}
	if err := Write(&again, f.Meta(), tensors); err != nil {
		t.Fatalf("a file that opens cannot be written: %v", err)
	}
	if _, err := OpenBytes("again.gguf", again.Bytes()); err != nil {
		t.Fatalf("a file that was written cannot be opened: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(encode(f, allKinds(), twoTensors()))
	f.Add(encode(f, NewMetadata(), nil))
	f.Add([]byte(begin(2, 0).tensor("t", quant.F32, 32, 16).tensor("u", quant.Q40, 0, 32, 1).pad(200)))
	f.Add([]byte(begin(0, 1).str("k").u32(9).u32(9).u64(2).u32(0).u64(1).pad(1).u32(8).u64(1).str("x")))
	f.Fuzz(func(t *testing.T, data []byte) { useAll(t, data) })
}

func BenchmarkOpenLargeVocabulary(b *testing.B) {
	const size = 262144 // Gemma 3
	tokens, scores, types := make([]string, size), make([]float32, size), make([]int32, size)
	for i := range tokens {
		tokens[i] = fmt.Sprintf("▁token%d", i)
	}
	m := NewMetadata()
	m.Set("tokenizer.ggml.tokens", tokens)
	m.Set("tokenizer.ggml.scores", scores)
	m.Set("tokenizer.ggml.token_type", types)
	data := encode(b, m, twoTensors())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := OpenBytes("m.gguf", data); err != nil {
			b.Fatal(err)
		}
	}
}
