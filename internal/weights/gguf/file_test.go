// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// allKinds is metadata with every type of value.
func allKinds() *Metadata {
	m := NewMetadata()
	m.Set("general.architecture", "llama")
	m.Set("u8", uint8(200))
	m.Set("i8", int8(-100))
	m.Set("u16", uint16(60000))
	m.Set("i16", int16(-30000))
	m.Set("u32", uint32(4e9))
	m.Set("i32", int32(-2e9))
	m.Set("u64", uint64(math.MaxUint64))
	m.Set("i64", int64(math.MinInt64))
	m.Set("f32", float32(0.1))
	m.Set("f64", 0.1)
	m.Set("true", true)
	m.Set("false", false)
	m.Set("empty", "")
	m.Set("[u8]", []uint8{1, 255})
	m.Set("[i8]", []int8{-1, 127})
	m.Set("[u16]", []uint16{1, 65535})
	m.Set("[i16]", []int16{-1, 1})
	m.Set("[u32]", []uint32{1, 4e9})
	m.Set("[i32]", []int32{-1, 1})
	m.Set("[u64]", []uint64{1, math.MaxUint64})
	m.Set("[i64]", []int64{-1, 1})
	m.Set("[f32]", []float32{0.5, -1})
	m.Set("[f64]", []float64{0.1, -1})
	m.Set("[bool]", []bool{true, false})
	m.Set("[string]", []string{"a", "", "\xff\xc3", "Ġsky"})
	m.Set("[]", []string{})
	m.Set("[[]]", []any{[]int32{1, 2}, []any{[]string{"deep"}}})
	return m
}

// twoTensors is a Q8_0 matrix and a vector whose data needs padding.
func twoTensors() []weights.Tensor {
	data := make([]byte, 3*quant.Q80.RowBytes(32))
	for i := range data {
		data[i] = byte(i)
	}
	return []weights.Tensor{
		{Name: "token_embd.weight", Type: quant.Q80, Shape: []int{3, 32}, Data: data},
		{Name: "norm", Type: quant.F32, Shape: []int{2}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 64}},
	}
}

func encode(t testing.TB, m *Metadata, tensors []weights.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// save writes files into a new folder and gives its path.
func save(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenGivesWhatWriteWrote(t *testing.T) {
	dir := save(t, map[string][]byte{"m.gguf": encode(t, allKinds(), twoTensors())})
	f, err := Open(filepath.Join(dir, "m.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(allKinds(), f.Meta(), cmp.AllowUnexported(Metadata{})); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	want := twoTensors()
	if diff := cmp.Diff([]string{want[0].Name, want[1].Name}, f.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, w := range want {
		got, _ := f.Tensor(w.Name)
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("tensor (-want +got):\n%s", diff)
		}
		weights.Release(f, got)
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("tensor after Release (-want +got):\n%s", diff)
		}
	}
	if _, ok := f.Tensor("nothing"); ok {
		t.Error("a tensor that does not exist was found")
	}
	tokens, _ := f.Meta().Strings("[string]")
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if tokens[3] != "Ġsky" {
		t.Errorf("metadata does not outlive the file: %q", tokens)
	}
}

func TestVersion2IsRead(t *testing.T) {
	data := encode(t, allKinds(), twoTensors())
	data[4] = 2
	if _, err := OpenBytes("m.gguf", data); err != nil {
		t.Error(err)
	}
}

func TestNumbersAreReadWhateverTheirType(t *testing.T) {
	m := allKinds()
	for key, want := range map[string]int64{"u8": 200, "i8": -100, "u16": 60000, "i16": -30000, "u32": 4e9, "i32": -2e9, "i64": math.MinInt64} {
		if got, ok := m.Int(key); !ok || got != want {
			t.Errorf("Int(%q) = %d, %v, want %d", key, got, ok, want)
		}
		if got, ok := m.Ints(key); !ok || len(got) != 1 || got[0] != want {
			t.Errorf("Ints(%q) = %d, %v, want [%d]", key, got, ok, want)
		}
	}
	for _, key := range []string{"u64", "f32", "true", "empty", "none", "[i32]"} {
		if got, ok := m.Int(key); ok {
			t.Errorf("Int(%q) = %d, want none", key, got)
		}
	}
	for _, key := range []string{"[i8]", "[i16]", "[i32]", "[i64]"} {
		if got, ok := m.Ints(key); !ok || len(got) != 2 || got[0] != -1 {
			t.Errorf("Ints(%q) = %v, %v, want -1 first", key, got, ok)
		}
		if got, ok := m.Floats(key); !ok || len(got) != 2 || got[0] != -1 {
			t.Errorf("Floats(%q) = %v, %v, want -1 first", key, got, ok)
		}
	}
	if got, ok := m.Ints("[u64]"); ok {
		t.Errorf("Ints of a number above MaxInt64 = %v, want none", got)
	}
	for key, want := range map[string]float64{"f32": float64(float32(0.1)), "f64": 0.1, "u64": math.MaxUint64, "i8": -100} {
		if got, ok := m.Float(key); !ok || got != want {
			t.Errorf("Float(%q) = %g, %v, want %g", key, got, ok, want)
		}
	}
	for key, want := range map[string]float64{"[f32]": 0.5, "[f64]": 0.1, "f64": 0.1} {
		if got, ok := m.Floats(key); !ok || got[0] != want {
			t.Errorf("Floats(%q) = %g, %v, want %g first", key, got, ok, want)
		}
	}
	if got, ok := m.Bools("[bool]"); !ok || !got[0] || got[1] {
		t.Errorf("Bools = %v, %v", got, ok)
	}
}

// split gives the files of a model of three parts, of which the middle one has no tensors.
func split(t *testing.T) map[string][]byte {
	tensors := twoTensors()
	files := map[string][]byte{}
	for i, part := range [][]weights.Tensor{tensors[:1], nil, tensors[1:]} {
		m := NewMetadata()
		if i == 0 {
			m.Set("general.architecture", "llama")
		}
		m.Set(keySplitNumber, uint16(i))
		m.Set(keySplitCount, uint16(3))
		m.Set(keySplitTensors, int32(2))
		files[fmt.Sprintf("m-%05d-of-00003.gguf", i+1)] = encode(t, m, part)
	}
	return files
}

func TestAnyPartOpensTheWholeModel(t *testing.T) {
	files := split(t)
	dir := save(t, files)
	for name := range files {
		f, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		arch, _ := f.Meta().String("general.architecture")
		if len(f.Names()) != 2 || arch != "llama" {
			t.Errorf("%s: got %v of architecture %q", name, f.Names(), arch)
		}
		if want := int64(len(files["m-00001-of-00003.gguf"]) + len(files["m-00002-of-00003.gguf"]) + len(files["m-00003-of-00003.gguf"])); f.Bytes() != want {
			t.Errorf("Bytes() = %d, want %d", f.Bytes(), want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSplitModelsThatDoNotFitTogetherAreRefused(t *testing.T) {
	with := func(key string, value any) func(map[string][]byte) {
		return func(files map[string][]byte) {
			m := NewMetadata()
			m.Set(keySplitNumber, uint16(0))
			m.Set(keySplitCount, uint16(3))
			m.Set(keySplitTensors, int32(2))
			m.Set(key, value)
			files["m-00001-of-00003.gguf"] = encode(t, m, twoTensors()[:1])
		}
	}
	for _, tt := range []struct {
		name   string
		change func(files map[string][]byte)
		want   string
	}{
		{"a part is missing", func(f map[string][]byte) { delete(f, "m-00002-of-00003.gguf") }, "part 2 of 3: open "},
		{"a part is damaged", func(f map[string][]byte) { f["m-00003-of-00003.gguf"][0] = 'X' }, "not a GGUF file"},
		{"wrong count", with(keySplitCount, uint16(4)), `key "split.count" is 4, but the file name says 3 parts`},
		{"wrong number", with(keySplitNumber, uint16(1)), `key "split.no" is 1, but the file name says part 1, whose number is 0`},
		{"number of no integer type", with(keySplitNumber, "x"), `key "split.no" is 0, but`},
		{"wrong number of tensors", with(keySplitTensors, int32(5)), `key "split.tensors.count" is 5, but the parts have 2 tensors`},
		{"no count", func(f map[string][]byte) { f["m-00001-of-00003.gguf"] = encode(t, NewMetadata(), nil) }, `key "split.count" is missing`},
		{"the same tensor twice", func(f map[string][]byte) {
			f["m-00003-of-00003.gguf"] = bytes.Clone(f["m-00001-of-00003.gguf"])
			at := bytes.Index(f["m-00003-of-00003.gguf"], []byte(keySplitNumber)) + len(keySplitNumber) + 4
			f["m-00003-of-00003.gguf"][at] = 2
		}, `tensor "token_embd.weight" at 0x`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := split(t)
			tt.change(files)
			dir := save(t, files)
			_, err := Open(filepath.Join(dir, "m-00001-of-00003.gguf"))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want an error in %s with %q", err, dir, tt.want)
			}
		})
	}
}

func TestSplitModelUnderAnotherNameIsRefused(t *testing.T) {
	dir := save(t, map[string][]byte{"renamed.gguf": split(t)["m-00001-of-00003.gguf"]})
	_, err := Open(filepath.Join(dir, "renamed.gguf"))
	if err == nil || !strings.Contains(err.Error(), "must keep their names -00001-of-00003.gguf") {
		t.Errorf("got %v", err)
	}
}

func TestSplitPartsOutsideTheFolderAreRefused(t *testing.T) {
	files := split(t)
	elsewhere := save(t, map[string][]byte{"part": files["m-00002-of-00003.gguf"]})
	delete(files, "m-00002-of-00003.gguf")
	dir := save(t, files)
	if err := os.Symlink(filepath.Join(elsewhere, "part"), filepath.Join(dir, "m-00002-of-00003.gguf")); err != nil {
		t.Skip(err)
	}
	if _, err := Open(filepath.Join(dir, "m-00001-of-00003.gguf")); err == nil || !strings.Contains(err.Error(), "part 2 of 3") {
		t.Errorf("got %v", err)
	}
}

func TestParseSplitTellsPartsFromModels(t *testing.T) {
	for base, want := range map[string]SplitName{
		"a-00002-of-00003.gguf":        {"a", 2, 3},
		"a-b.Q4_K-00001-of-00001.gguf": {"a-b.Q4_K", 1, 1},
		"a.gguf":                       {},
		"a-00004-of-00003.gguf":        {},
		"a-00000-of-00003.gguf":        {},
		"a-2-of-3.gguf":                {},
		"-00001-of-00003.gguf":         {},
	} {
		got, ok := ParseSplit(base)
		if ok != (want.Count > 0) || ok && got != want {
			t.Errorf("ParseSplit(%q) = %v, %v, want %v", base, got, ok, want)
		}
		if ok && got.Part(got.Number) != base {
			t.Errorf("Part(%d) of %q = %q", got.Number, base, got.Part(got.Number))
		}
	}
}

func TestMissingFilesAndFoldersAreErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none.gguf"), os.DevNull} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q) = %v, want an error that names it", path, err)
		}
	}
}

func TestWriteRefusesWhatOpenWould(t *testing.T) {
	good := twoTensors()
	short := good[0]
	short.Data = short.Data[1:]
	unknown := good[1]
	unknown.Type = quant.U16
	empty := weights.Tensor{Name: "empty", Type: quant.F32, Shape: []int{2, 0}}
	long := good[1]
	long.Name = strings.Repeat("n", 1025)
	for _, tt := range []struct {
		tensors []weights.Tensor
		want    string
	}{
		{[]weights.Tensor{good[0], good[0]}, `gguf: write: tensor "token_embd.weight": appears twice`},
		{[]weights.Tensor{short}, `gguf: write: tensor "token_embd.weight": got 101 bytes for Q8_0 of shape [3 32], want 102`},
		{[]weights.Tensor{unknown}, `gguf: write: tensor "norm": U16 has no number in GGUF files`},
		{[]weights.Tensor{empty}, `gguf: write: tensor "empty": a dimension is 0`},
		{[]weights.Tensor{long}, `gguf: write: tensor "` + long.Name + `": a name of 1025 bytes, want at most 1024`},
	} {
		if err := Write(&bytes.Buffer{}, NewMetadata(), tt.tensors); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Set of a map does not panic")
		}
	}()
	NewMetadata().Set("x", map[string]int{})
}

func TestWriteErrorsAreReported(t *testing.T) {
	full := errors.New("disk full")
	if err := Write(failingWriter{full}, allKinds(), twoTensors()); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriterTakesDataInPieces(t *testing.T) {
	meta := NewMetadata()
	meta.Set("general.name", "pieces")
	tensors := []weights.Tensor{
		{Name: "a", Type: quant.F32, Shape: []int{3}, Data: []byte("abcdefghijkl")},
		{Name: "b", Type: quant.F16, Shape: []int{2, 1}, Data: []byte("mnop")},
	}
	var whole, pieces bytes.Buffer
	if err := Write(&whole, meta, tensors); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(&pieces, meta, tensors)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"a", "bcdefghi", "jklm", "no"} { // across the border of a and b
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", piece, n, err)
		}
	}
	if err := w.Close(); err == nil || err.Error() != "gguf: write: the data of 1 tensors are missing" {
		t.Errorf("Close with data missing: got %v", err)
	}
	if _, err := w.Write([]byte("pq")); err == nil || err.Error() != "gguf: write: 1 bytes more than the tensors need" {
		t.Errorf("too much data: got %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(whole.Bytes(), pieces.Bytes()) {
		t.Errorf("in pieces: got %q, want %q", pieces.Bytes(), whole.Bytes())
	}
}
