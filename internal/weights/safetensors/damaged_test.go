// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/weights"
)

func TestHostileFilesAreRefusedWithPlaceAndReason(t *testing.T) {
	tensor := func(fields string) []byte { return file(`{"t":{`+fields+`}}`, "01234567") }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "header at 0x0: file ends too early: 8 bytes needed, 0 left"},
		{"huge header", binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "header at 0x0: length is 18446744073709551615 bytes, want at most 100000000"},
		{"header past the end", append(binary.LittleEndian.AppendUint64(nil, 100), '{'), "header at 0x0: length is 100 bytes, but the file has 1 more"},
		{"empty header", file("", ""), "header at 0x8: it does not begin with {"},
		{"no object", file("[]", ""), "header at 0x8: it does not begin with {"},
		{"space first", file(" {}", ""), "header at 0x8: it does not begin with {"},
		{"not UTF-8", file("{\"\xff\":1}", ""), "header at 0x8: it is not UTF-8"},
		{"cut JSON", file(`{"t":`, ""), `tensor "t" at 0xd: JSON: it ends too early`},
		{"text after", file(`{} x`, ""), "header at 0xb: text after the closing brace"},
		{"two objects", file(`{}{}`, ""), "text after the closing brace"},
		{"key of no string", file(`{1:2}`, ""), "JSON: invalid character '1'"},
		{"metadata of numbers", file(`{"__metadata__":{"a":1}}`, ""), "__metadata__ at 0x1f: JSON: json: cannot unmarshal number"},
		{"entry of no object", file(`{"t":1}`, ""), `tensor "t" at 0xe: JSON: json: cannot unmarshal number`},
		{"long name", file(`{"`+strings.Repeat("n", 1025)+`":{}}`, ""), `name of 1025 bytes, want at most 1024`},
		{"no dtype", tensor(`"shape":[2],"data_offsets":[0,8]`), `tensor "t" at 0xc: dtype "" is not supported`},
		{"unknown dtype", tensor(`"dtype":"F4","shape":[2],"data_offsets":[0,8]`), `tensor "t" at 0xc: dtype "F4" is not supported`},
		{"dtype of GGUF", tensor(`"dtype":"Q4_0","shape":[32],"data_offsets":[0,8]`), `dtype "Q4_0" is not supported`},
		{"no shape", tensor(`"dtype":"F32","data_offsets":[0,8]`), `shape is missing`},
		{"negative dimension", tensor(`"dtype":"F32","shape":[-2],"data_offsets":[0,8]`), `cannot unmarshal number -2`},
		{"broken dimension", tensor(`"dtype":"F32","shape":[2.5],"data_offsets":[0,8]`), `cannot unmarshal number 2.5`},
		{"nine dimensions", tensor(`"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]`), `9 dimensions, want at most 8`},
		{"dimension above int64", tensor(`"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8]`), `dimension 18446744073709551615 overflows`},
		{"size overflows", tensor(`"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]`), `size overflows: F64 of shape [4294967296 4294967296]`},
		{"no offsets", tensor(`"dtype":"F32","shape":[2]`), `data_offsets are [], want begin and end`},
		{"three offsets", tensor(`"dtype":"F32","shape":[2],"data_offsets":[0,8,9]`), `data_offsets are [0 8 9], want begin and end`},
		{"backward offsets", tensor(`"dtype":"F32","shape":[2],"data_offsets":[8,0]`), `data_offsets are [8 0], want begin and end`},
		{"huge offsets", tensor(`"dtype":"F32","shape":[2],"data_offsets":[18446744073709551607,18446744073709551615]`), `want begin and end`},
		{"wrong size", tensor(`"dtype":"F32","shape":[3],"data_offsets":[0,8]`), `tensor "t" at 0xc: data_offsets span 8 bytes, but F32 of shape [3] needs 12`},
		{"data past the end", tensor(`"dtype":"F32","shape":[3],"data_offsets":[0,12]`), `bytes 0 to 12 of the data needed, but the file has 8`},
		{"hole at the start", tensor(`"dtype":"F32","shape":[1],"data_offsets":[4,8]`), `begins at byte 4 of the data, but the tensor before it ends at 0`},
		{"hole at the end", tensor(`"dtype":"F32","shape":[1],"data_offsets":[0,4]`), `4 bytes belong to no tensor`},
		{
			"overlap", file(`{"t":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},"u":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}`, "01234567"),
			`tensor "u" at 0x40: begins at byte 4 of the data, inside the tensor that ends at 6`,
		},
		{
			"tensor twice", file(`{"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, ""),
			`tensor "t" at 0x40: appears twice`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("bad.safetensors", tt.data)
			var fileErr *weights.FileError
			if !errors.As(err, &fileErr) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "safetensors: bad.safetensors: ") {
				t.Errorf("got %v\nwant a FileError with %q", err, tt.want)
			}
		})
	}
}

func TestDeepJSONIsRefused(t *testing.T) {
	if _, err := parse("deep.safetensors", file(`{"t":`+strings.Repeat(`{"a":`, 1<<20), "")); err == nil {
		t.Error("a header of a million open braces is accepted")
	}
}

func TestHostileFilesAllocateInProportion(t *testing.T) {
	for _, data := range [][]byte{
		file(`{"t":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]}}`, "x"),
		file(`{"t":{"dtype":"F64","shape":[1`+strings.Repeat(",1", 400)+`],"data_offsets":[0,8]}}`, "x"),
		binary.LittleEndian.AppendUint64(nil, maxHeaderBytes),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parse("bad.safetensors", data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 64<<10 {
			t.Errorf("a file of %d bytes made allocations of %d bytes (%v)", len(data), got, err)
		}
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	for n := range small {
		if _, err := parse("cut.safetensors", small[:n:n]); err == nil {
			t.Errorf("a file of %d bytes cut to %d opens", len(small), n)
		}
	}
	if _, err := parse("long.safetensors", append(bytes.Clone(small), 0)); err == nil {
		t.Error("a file with a byte too many opens")
	}
}

func TestFlippedBytesNeverCrash(t *testing.T) {
	for i := range small {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(small)
			damaged[i] ^= flip
			useAll(t, damaged)
		}
	}
}

// useAll reads a file and, if that works, checks what is always true of its tensors.
func useAll(t *testing.T, data []byte) {
	h, err := parse("fuzz.safetensors", data)
	if err != nil {
		return
	}
	total, names := 8+int(binary.LittleEndian.Uint64(data)), map[string]bool{}
	for _, tensor := range h.tensors {
		want, reason := weights.Size(tensor.Type, tensor.Shape)
		if reason != "" || want != int64(len(tensor.Data)) || names[tensor.Name] {
			t.Fatalf("tensor %q has %d bytes, want %d (%s)", tensor.Name, len(tensor.Data), want, reason)
		}
		names[tensor.Name] = true
		total += len(tensor.Data)
	}
	if total != len(data) {
		t.Fatalf("header and tensors take %d bytes of %d", total, len(data))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add(one("a"))
	f.Add(file(`{}`, ""))
	f.Fuzz(func(t *testing.T, data []byte) { useAll(t, data) })
}

func FuzzHeader(f *testing.F) { // the length is always right, so that the JSON is reached
	f.Add(`{"__metadata__":{"a":"b"},"t":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}`, "01234567")
	f.Add(`{"t":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"u":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[1,2]}} `, "01")
	f.Fuzz(func(t *testing.T, header, data string) { useAll(t, file(header, data)) })
}

func BenchmarkParseManyTensors(b *testing.B) {
	var header strings.Builder
	const tensors = 50_000 // a large mixture of experts
	for i := range tensors {
		fmt.Fprintf(&header, `,"model.layers.%d.mlp.experts.%d.up_proj.weight":{"dtype":"U8","shape":[1,1],"data_offsets":[%d,%d]}`, i/1000, i%1000, i, i+1)
	}
	data := file("{"+header.String()[1:]+"}", strings.Repeat("x", tensors))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := parse("m.safetensors", data); err != nil {
			b.Fatal(err)
		}
	}
}
