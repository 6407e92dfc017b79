// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// file puts a header and data together.
func file(header string, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// small is a file with two tensors of which the second in the header is the first in the data, an empty one, a
// scalar and padding after the header.
var small = file(`{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[2,10]},`+
	`"b":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},"none":{"dtype":"I64","shape":[3,0],"data_offsets":[10,10]}}   `,
	"\x80\x3f\x00\x00\x80\x3f\x00\x00\x00\x40")

// save writes files into a new folder and gives its path.
func save(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenGivesTheTensorsOfAFile(t *testing.T) {
	dir := save(t, map[string][]byte{"a.safetensors": small})
	for _, path := range []string{dir, filepath.Join(dir, "a.safetensors")} {
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"w", "b", "none"}, m.Names()); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		for _, want := range []weights.Tensor{
			{Name: "w", Type: quant.F32, Shape: []int{1, 2}, Data: []byte("\x00\x00\x80\x3f\x00\x00\x00\x40")},
			{Name: "b", Type: quant.BF16, Shape: []int{}, Data: []byte("\x80\x3f")},
			{Name: "none", Type: quant.I64, Shape: []int{3, 0}, Data: []byte{}},
		} {
			got, ok := m.Tensor(want.Name)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("tensor (-want +got):\n%s", diff)
			}
		}
		if got := m.Metadata()["format"]; got != "pt" {
			t.Errorf("metadata format is %q, want pt", got)
		}
		if got := m.Bytes(); got != int64(len(small)) {
			t.Errorf("Bytes() = %d, want %d", got, len(small))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// one is a file with one tensor of two bytes.
func one(name string) []byte {
	return file(`{"`+name+`":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`, "ab")
}

func indexOf(files map[string]string) []byte {
	data, _ := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 1}, "weight_map": files})
	return data
}

// sharded gives the files of a model of two shards.
func sharded() map[string][]byte {
	return map[string][]byte{
		"model-00001-of-00002.safetensors": one("a"),
		"model-00002-of-00002.safetensors": one("b"),
		"model.safetensors.index.json":     indexOf(map[string]string{"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}),
	}
}

func TestFolderIndexAndShardAllOpenTheWholeModel(t *testing.T) {
	dir := save(t, sharded())
	for _, name := range []string{"", "model.safetensors.index.json", "model-00002-of-00002.safetensors"} {
		m, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a", "b"}, m.Names()); diff != "" {
			t.Errorf("%q: names (-want +got):\n%s", name, diff)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneFileIsPreferredToShards(t *testing.T) {
	files := sharded()
	files["model.safetensors"] = one("whole")
	m, err := Open(save(t, files))
	if err != nil || len(m.Names()) != 1 || m.Names()[0] != "whole" {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestShardsThatDoNotFitTheIndexAreRefused(t *testing.T) {
	index := func(weightMap map[string]string) func(map[string][]byte) {
		return func(files map[string][]byte) { files["model.safetensors.index.json"] = indexOf(weightMap) }
	}
	for _, tt := range []struct {
		name   string
		change func(files map[string][]byte)
		want   string
	}{
		{"missing shard", func(f map[string][]byte) { delete(f, "model-00002-of-00002.safetensors") }, `shard "model-00002-of-00002.safetensors" of `},
		{"missing tensor", index(map[string]string{"x": "model-00001-of-00002.safetensors"}), `tensor "x": model-00001-of-00002.safetensors does not have it`},
		{"tensor twice", func(f map[string][]byte) { f["model-00002-of-00002.safetensors"] = one("a") }, "another file of the model has it too"},
		{"parent folder", index(map[string]string{"a": "../a.safetensors"}), `file "../a.safetensors" is not a .safetensors file of this folder`},
		{"absolute path", index(map[string]string{"a": "/etc/a.safetensors"}), "is not a .safetensors file of this folder"},
		{"sub folder", index(map[string]string{"a": "x/a.safetensors"}), "is not a .safetensors file of this folder"},
		{"other kind of file", index(map[string]string{"a": "passwd"}), "is not a .safetensors file of this folder"},
		{"empty", index(nil), "0 tensors, want 1 to"},
		{"broken JSON", func(f map[string][]byte) { f["model.safetensors.index.json"] = []byte("{") }, "JSON: unexpected end of JSON input"},
		{"damaged shard", func(f map[string][]byte) { f["model-00001-of-00002.safetensors"] = nil }, "file ends too early"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := sharded()
			tt.change(files)
			dir := save(t, files)
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want an error in %s with %q", err, dir, tt.want)
			}
		})
	}
}

func TestFoldersWithoutAClearModelAreErrors(t *testing.T) {
	for _, tt := range []struct {
		files map[string][]byte
		want  string
	}{
		{nil, "no .safetensors file"},
		{map[string][]byte{"pytorch_model.bin": small}, "no .safetensors file (pytorch_model.bin is in a format that is not read)"},
		{map[string][]byte{"a.safetensors": small, "b.safetensors": small}, "got 2 files, want model.safetensors or model.safetensors.index.json"},
		{map[string][]byte{"model-00001-of-00002.safetensors": small}, "got 1 files, want"},
	} {
		if _, err := Open(save(t, tt.files)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
	}
	empty := t.TempDir()
	want := "safetensors: " + empty + ": no .safetensors file; get the weights in this format, too"
	if _, err := Open(empty); !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.safetensors")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that it does not exist", err)
	}
}

func TestLinksStayInTheModelsFolder(t *testing.T) {
	hub := save(t, map[string][]byte{"models--o--n/blobs/x": small, "models--o--other/blobs/y": small, "z": small})
	for _, tt := range []struct {
		dir, target string
		ok          bool
	}{
		{"models--o--n/snapshots/1", "../../blobs/x", true},
		{"models--o--n/snapshots/2", "../../../models--o--other/blobs/y", false},
		{"models--o--n/snapshots/3", "../../../z", false},
		{"models--o--n/snapshots/4", filepath.Join(hub, "z"), false},
		{"plain", "../models--o--n/blobs/x", false},
	} {
		dir := filepath.Join(hub, tt.dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(tt.target, filepath.Join(dir, "model.safetensors")); err != nil {
			t.Skip(err)
		}
		m, err := Open(dir)
		if (err == nil) != tt.ok {
			t.Errorf("%s/model.safetensors -> %s: got %v, want ok %v", tt.dir, tt.target, err, tt.ok)
		}
		if err == nil {
			_ = m.Close()
		}
	}
}
