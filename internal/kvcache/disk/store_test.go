// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/wholefile"
)

// blockBytes is the most that a block of these tests has.
const blockBytes = 64

func open(t *testing.T, dir, identity string, limit int64) *Store {
	t.Helper()
	s, err := Open(dir, []byte(identity), blockBytes, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func name(b byte, group uint32) Name { return Name{kvcache.Hash{b}, group} }

func write(t *testing.T, s *Store, n Name, contents string) {
	t.Helper()
	if err := s.Write(n, []byte(contents)); err != nil {
		t.Fatal(err)
	}
}

func TestBlocksOutliveTheStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, "model", 1<<20)
	write(t, s, name(1, 0), "one")
	write(t, s, name(1, 1), "another group")
	again := open(t, dir, "model", 1<<20)
	for n, want := range map[Name]string{name(1, 0): "one", name(1, 1): "another group"} {
		if got, err := again.Read(n, nil); err != nil || string(got) != want || !again.Has(n) {
			t.Errorf("group %d: got %q, %v, want %q", n.Group, got, err, want)
		}
	}
	if s.Bytes() != again.Bytes() {
		t.Errorf("%d bytes, %d before", again.Bytes(), s.Bytes())
	}
	if _, err := again.Read(name(2, 0), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a block that was never written: %v", err)
	}
	if other := open(t, dir, "other model", 1<<20); other.Has(name(1, 0)) {
		t.Errorf("another model has the block")
	}
}

func TestDamagedFilesAreDropped(t *testing.T) {
	for what, damage := range map[string]func(data []byte) []byte{
		"a bit":          func(d []byte) []byte { d[headerBytes+1] ^= 4; return d },
		"the checksum":   func(d []byte) []byte { d[len(d)-1]++; return d },
		"half a file":    func(d []byte) []byte { return d[:len(d)/2] },
		"nothing":        func([]byte) []byte { return nil },
		"more":           func(d []byte) []byte { return append(d, 0) },
		"another's name": func(d []byte) []byte { d[len(magic)] = 9; return d },
	} {
		t.Run(what, func(t *testing.T) {
			s := open(t, t.TempDir(), "model", 1<<20)
			write(t, s, name(1, 0), "contents")
			path := filepath.Join(s.dir, name(1, 0).fileName())
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(bytes.Clone(data)), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Read(name(1, 0), nil); !errors.Is(err, ErrDamaged) {
				t.Errorf("got %q, %v, want ErrDamaged", got, err)
			}
			if _, err := os.Stat(path); s.Has(name(1, 0)) || s.Bytes() != 0 || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file is still there: %v", err)
			}
		})
	}
}

func TestAFileOfAnotherModelIsNotRead(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, "a", 1<<20), open(t, dir, "b", 1<<20)
	write(t, a, name(1, 0), "contents")
	if err := os.Rename(filepath.Join(a.dir, name(1, 0).fileName()), filepath.Join(b.dir, name(1, 0).fileName())); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Read(name(1, 0), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %q, %v, want ErrDamaged", got, err)
	}
}

// Opening a folder took away the file that another server was writing there.
func TestOpeningRemovesOnlyWhatNobodyWrites(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, "model", 1<<20)
	written, err := wholefile.Create(first.dir, unfinished)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(first.dir, "new-17")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(left, past, past); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir, "model", 1<<20)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a crash left is still there: %v", err)
	}
	if err := written.Place(filepath.Join(first.dir, "placed"), os.Rename); err != nil {
		t.Errorf("another server's file: %v", err)
	}
	write(t, second, name(1, 0), "contents")
	entries, err := os.ReadDir(first.dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, %v, want two files", entries, err)
	}
}

func TestAFolderThatIsDeletedIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := open(t, dir, "model", 1<<20)
	write(t, s, name(1, 0), "before")
	for range 2 {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(name(2, 0), []byte("after")); !errors.Is(err, ErrRemade) || !strings.Contains(err.Error(), dir) {
			t.Errorf("the first block after: %v, want ErrRemade and the folder", err)
		}
		write(t, s, name(3, 0), "later") // says nothing
		for b, want := range []bool{false, false, true, true} {
			if n := name(byte(b), 0); s.Has(n) != want || s.Sound(n) != want {
				t.Errorf("block %d is there: %t, want %t", b, s.Has(n), want)
			}
		}
		if again := open(t, dir, "model", 1<<20); again.Bytes() != s.Bytes() {
			t.Errorf("%d bytes are counted, %d are there", s.Bytes(), again.Bytes())
		}
	}
}

func TestAFolderThatCannotBeMadeAgainIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := open(t, dir, "model", 1<<20)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(name(1, 0), []byte("lost")); err == nil || errors.Is(err, ErrRemade) || s.Has(name(1, 0)) {
		t.Errorf("got %v, want that it was not written", err)
	}
}

func TestTheLeastRecentlyUsedFilesMakeRoom(t *testing.T) {
	size := int64(headerBytes + 32 + 4)
	dir := t.TempDir()
	s := open(t, dir, "model", 3*size)
	for b := range byte(3) {
		write(t, s, name(b, 0), "data")
	}
	if _, err := s.Read(name(0, 0), nil); err != nil {
		t.Fatal(err)
	}
	write(t, s, name(3, 0), "data")
	for b, want := range []bool{true, false, true, true} {
		if got := s.Has(name(byte(b), 0)); got != want {
			t.Errorf("block %d is there: %t, want %t", b, got, want)
		}
	}
	if s.Bytes() != 3*size {
		t.Errorf("%d bytes, want %d", s.Bytes(), 3*size)
	}
	if small := open(t, dir, "model", size); small.Bytes() != size {
		t.Errorf("opened with a smaller limit: %d bytes, want %d", small.Bytes(), size)
	}
}

// Writing trusts no file that this process has not seen whole, and leaves those alone that are.
func TestWritingMendsWhatIsDamaged(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, "model", 1<<20)
	for b := range byte(2) {
		write(t, first, name(b, 0), "contents")
	}
	path := func(b byte) string { return filepath.Join(first.dir, name(b, 0).fileName()) }
	data, err := os.ReadFile(path(0))
	if err != nil {
		t.Fatal(err)
	}
	data[headerBytes]++
	if err := os.WriteFile(path(0), data, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := os.Stat(path(1))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, "model", 1<<20)
	for b := range byte(2) {
		if s.Sound(name(b, 0)) {
			t.Errorf("block %d is sound before it was read", b)
		}
		write(t, s, name(b, 0), "contents")
		if got, err := s.Read(name(b, 0), nil); err != nil || string(got) != "contents" || !s.Sound(name(b, 0)) {
			t.Errorf("block %d: got %q, %v", b, got, err)
		}
	}
	if now, err := os.Stat(path(1)); err != nil || !os.SameFile(whole, now) {
		t.Errorf("a file that was whole was written again: %v", err)
	}
	if s.Bytes() != first.Bytes() {
		t.Errorf("%d bytes, want %d", s.Bytes(), first.Bytes())
	}
}

// A file that somebody put there, of any size that it claims, was given so much memory before its checksum was looked at, and
// drove the others out when the folder was opened.
func TestAFileLargerThanABlockIsRemovedUnread(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, "model", 1<<40)
	write(t, s, name(1, 0), "contents")
	write(t, s, name(2, 0), "contents")
	grow := func(b byte) string {
		path := filepath.Join(s.dir, name(b, 0).fileName())
		if err := os.Truncate(path, 1<<39); err != nil {
			t.Skip("no files with holes here")
		}
		return path
	}
	gone := func(path string) {
		t.Helper()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is still there: %v", err)
		}
	}
	path := grow(1)
	if _, err := s.Read(name(1, 0), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	gone(path)
	write(t, s, name(1, 0), "contents")
	path = grow(1)
	again := open(t, dir, "model", 1<<20)
	if again.Has(name(1, 0)) || !again.Has(name(2, 0)) {
		t.Errorf("the large file is there: %t, the other one: %t", again.Has(name(1, 0)), again.Has(name(2, 0)))
	}
	gone(path)
}

// Servers that shared a folder counted what they wrote themselves, so each filled it up to the limit.
func TestSeveralServersKeepOneLimit(t *testing.T) {
	const size = overheadBytes + 8
	limit := 128 * size
	dir := t.TempDir()
	stores := []*Store{open(t, dir, "model", limit), open(t, dir, "model", limit), open(t, dir, "model", limit)}
	for i := range 600 {
		n := Name{kvcache.Hash{byte(i), byte(i >> 8)}, 0}
		write(t, stores[i%3], n, "contents")
		if _, err := stores[i%3].Read(n, nil); err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
	}
	entries, err := os.ReadDir(stores[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, most := int64(len(entries))*size, limit+limit/16; got > most {
		t.Errorf("the files take %d bytes, want at most %d", got, most)
	}
	for _, s := range stores {
		if !s.Has(Name{kvcache.Hash{byte(590 % 256), byte(590 >> 8)}, 0}) {
			t.Error("a server does not know what another one wrote")
		}
	}
}
