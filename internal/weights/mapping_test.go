// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/quant"
)

// write makes a file in a new folder.
func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMappingShowsTheFile(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	path := write(t, want)
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Path() != path || !bytes.Equal(m.Bytes(), want) {
		t.Errorf("got %d bytes of %q, want %d of %q", len(m.Bytes()), m.Path(), len(want), path)
	}
	m.Release(m.Bytes()[100:50_000])
	if !bytes.Equal(m.Bytes(), want) {
		t.Error("bytes differ after Release")
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if m.Bytes() != nil {
		t.Error("bytes are left after Close")
	}
}

func TestReleaseLeavesForeignBytesAlone(t *testing.T) {
	m, err := Open(write(t, make([]byte, 1<<16)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	own := bytes.Repeat([]byte{7}, 1<<16)
	m.Release(own)
	InMemory("x", own).Release(own)
	if !bytes.Equal(own, bytes.Repeat([]byte{7}, 1<<16)) {
		t.Error("Release changed memory that is no part of the mapping")
	}
}

func TestEmptyFileMapsToNoBytes(t *testing.T) {
	m, err := Open(write(t, nil))
	if err != nil || len(m.Bytes()) != 0 {
		t.Fatalf("got %v, %v", m, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadInStopsAtItsLimit(t *testing.T) {
	path := write(t, []byte("12345"))
	if data, err := ReadIn(filepath.Dir(path), "file", 5); err != nil || string(data) != "12345" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := ReadIn(filepath.Dir(path), "file", 4); err == nil || !strings.Contains(err.Error(), "file exceeds 4 bytes") {
		t.Errorf("got %v, want that the file exceeds 4 bytes", err)
	}
}

func TestOpenInRefusesWhatLeadsOut(t *testing.T) {
	path := write(t, []byte("x"))
	dir := filepath.Dir(path)
	for _, name := range []string{"../file", "/etc/passwd", "", ".", "a/../../file", "none"} {
		if f, err := OpenIn(dir, name); err == nil {
			t.Errorf("OpenIn(%q) opens %s", name, f.Name())
			_ = f.Close()
		}
	}
	if f, err := OpenIn(dir, "file"); err != nil {
		t.Error(err)
	} else {
		_ = f.Close()
	}
}

// A model whose template or tokenizer is a link to a file that is gone would answer without it.
func TestALinkThatLeadsNowhereIsNotAMissingFile(t *testing.T) {
	path := write(t, []byte("x"))
	dir := filepath.Dir(path)
	for target, want := range map[string]string{
		"gone": "the link leads to a file that is not there", filepath.Join(dir, "gone"): "the link leads to a file that is not there",
		path: "the link leads out of the model's folder", "link": "links",
	} {
		link := filepath.Join(dir, "link")
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
		_, err := OpenIn(dir, "link")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), link) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("link to %q: got %v, want an error that names the link, with %q", target, err, want)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSizeIsCheckedForOverflow(t *testing.T) {
	for _, tt := range []struct {
		typ    quant.Type
		dims   []int
		bytes  int64
		reason string
	}{
		{quant.F32, nil, 4, ""},
		{quant.F32, []int{2, 3}, 24, ""},
		{quant.Q40, []int{2, 64}, 72, ""},
		{quant.Q40, []int{64, 2}, 0, "row length is not a multiple of the block of Q4_0"},
		{quant.Q40, nil, 0, "row length is not a multiple of the block of Q4_0"},
		{quant.F32, []int{0, math.MaxInt}, 0, ""},
		{quant.F32, []int{math.MaxInt, 0}, 0, "size overflows"},
		{quant.F32, []int{-1}, 0, "size overflows"},
		{quant.F64, []int{math.MaxInt, math.MaxInt, 2}, 0, "size overflows"},
		{quant.Q4K, []int{math.MaxInt &^ 255}, 0, "size overflows"},
		{99, []int{1}, 0, "unknown tensor type 99"},
	} {
		bytes, reason := Size(tt.typ, tt.dims)
		if bytes != tt.bytes || reason != tt.reason {
			t.Errorf("Size(%v, %v) = %d, %q, want %d, %q", tt.typ, tt.dims, bytes, reason, tt.bytes, tt.reason)
		}
	}
}
