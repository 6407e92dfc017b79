// SPDX-License-Identifier: Apache-2.0

// Package disk keeps the contents of cache blocks in files, so that they outlive eviction and the process.
//
// A block is known by its kvcache.Hash and its group. Files belong to an identity: what the bits of a block depend on
// besides its tokens, such as the model's weights. Every file carries a checksum over identity, name and contents.
//
// Always true: what Read returns was written under the same identity and name, bit for bit; a file that is damaged,
// torn or foreign is removed, not returned. The files of an identity take no more than the limit, the least recently
// used ones go first; where several processes share a folder, each has looked at what the others wrote since it wrote a
// 64th of its limit. No file needs to be whole after a crash: the checksum tells.
//
// The layout of a file is that of header, then the contents, then SHA-256 over identity, header and contents.
package disk

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/wholefile"
)

// A Name is what a block is known by.
type Name struct {
	Hash  kvcache.Hash
	Group uint32
}

// ErrDamaged says that a file did not hold what it should. It is gone.
var ErrDamaged = errors.New("disk: damaged block")

// ErrRemade says that somebody deleted the folder, and that it was made again. The block is in it, those before are gone.
var ErrRemade = errors.New("disk: the folder was deleted and is made again")

// A Store is a folder with the blocks of one identity. Its methods may be called from any goroutine.
type Store struct {
	dir      string
	identity [sha256.Size]byte
	block    int64 // most bytes of contents
	limit    int64 // of all files

	// mu guards all below.
	mu    sync.Mutex
	files map[Name]*list.Element // of *file
	used  *list.List             // least recently first
	bytes int64
	fresh int64 // bytes written since the folder was looked at
}

type file struct {
	name  Name
	size  int64
	sound bool // this process read or wrote it
}

// magic begins every file; the last digit is the version of the layout.
const magic = "sampokv1"

// A header is 48 bytes: magic, hash, group and a zero, little-endian.
const headerBytes = len(magic) + sha256.Size + 8

// overheadBytes is what a file has besides contents.
const overheadBytes = int64(headerBytes) + sha256.Size

// lookPart is the part of the limit that is written before the folder is looked at again: others may write there.
const lookPart = 64

// Open returns the store for an identity below dir, which is made if it is not there. The contents of a block take up to block
// bytes, all files up to limit.
func Open(dir string, identity []byte, block, limit int64) (*Store, error) {
	s := &Store{identity: sha256.Sum256(identity), block: block, limit: limit, files: map[Name]*list.Element{}, used: list.New()}
	s.dir = filepath.Join(dir, hex.EncodeToString(s.identity[:8]))
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	wholefile.Clean(s.dir, unfinished) // other servers may write there now
	if err := s.look(); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	return s, nil
}

// unfinished names files that are not whole yet.
const unfinished = "new-*"

// look finds the files that are there, whoever wrote them. One that is larger than any block is removed unread.
func (s *Store) look() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	type found struct {
		file
		at time.Time
	}
	var all []found
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		name, ok := parse(e.Name())
		if !ok {
			continue
		}
		if info.Size() > s.block+overheadBytes {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // it may be gone
			continue
		}
		all = append(all, found{file{name: name, size: info.Size()}, info.ModTime()})
	}
	slices.SortFunc(all, func(a, b found) int { return a.at.Compare(b.at) })
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.files
	s.files = make(map[Name]*list.Element, len(all))
	s.used.Init()
	s.bytes, s.fresh = 0, 0
	for _, f := range all {
		if old, ok := before[f.name]; ok {
			f.sound = old.Value.(*file).sound
		}
		s.files[f.name] = s.used.PushBack(&f.file)
		s.bytes += f.size
	}
	s.trim()
	return nil
}

// fileName spells a name.
func (n Name) fileName() string {
	return fmt.Sprintf("%s-%d.kv", hex.EncodeToString(n.Hash[:]), n.Group)
}

func parse(fileName string) (n Name, ok bool) {
	var spelled string
	rest, ok := strings.CutSuffix(fileName, ".kv")
	if _, err := fmt.Sscanf(strings.Replace(rest, "-", " ", 1), "%s %d", &spelled, &n.Group); !ok || err != nil {
		return n, false
	}
	raw, err := hex.DecodeString(spelled)
	copy(n.Hash[:], raw)
	return n, err == nil && n.fileName() == fileName
}

// Has reports whether a block is there, as far as is known without reading it.
func (s *Store) Has(n Name) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.files[n]
	return ok
}

// Sound reports whether a block is there and was whole when this process read or wrote it.
func (s *Store) Sound(n Name) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.files[n]
	return ok && e.Value.(*file).sound
}

// Bytes returns what the files take.
func (s *Store) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Write keeps a block's contents. A file that is there already is read, and written again only if it is damaged. ErrRemade is
// told of once, by Write or Mend, for each time that the folder was deleted; with any other error the block is not kept.
func (s *Store) Write(n Name, contents []byte) error {
	size := int64(len(contents)) + overheadBytes
	if size > min(s.limit, s.block+overheadBytes) {
		return nil
	}
	if s.Has(n) {
		if old, err := s.Read(n, nil); err == nil && bytes.Equal(old, contents) {
			return nil
		}
	}
	var remade error
	err := s.put(n, contents)
	if errors.Is(err, fs.ErrNotExist) {
		if remade, err = s.remake(); err == nil {
			err = s.put(n, contents)
		}
	}
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if s.add(n, size) {
		_ = s.look() // what could not be looked at is counted as before
	}
	return remade
}

// add counts a file that was written. It reports whether it is time to look what others wrote.
func (s *Store) add(n Name, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.files[n]; ok {
		s.drop(old)
	}
	s.files[n] = s.used.PushBack(&file{n, size, true})
	s.bytes += size
	s.fresh += size
	s.trim()
	return s.fresh > s.limit/lookPart
}

// Mend makes the folder again if somebody deleted it, and returns ErrRemade then.
func (s *Store) Mend() error {
	remade, err := s.remake()
	return errors.Join(remade, err)
}

// remake makes the folder again and forgets what was in it, unless it is there.
func (s *Store) remake() (remade, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(s.dir); err == nil {
		return nil, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	clear(s.files)
	s.used.Init()
	s.bytes = 0
	return fmt.Errorf("%w: %s", ErrRemade, s.dir), nil
}

// put writes a file under another name first, so that nobody meets half of it.
func (s *Store) put(n Name, contents []byte) error {
	f, err := wholefile.Create(s.dir, unfinished)
	if err != nil {
		return err
	}
	header := s.header(n)
	for _, part := range [][]byte{header, contents, s.sum(header, contents)} {
		if _, err := f.Write(part); err != nil {
			f.Discard()
			return err
		}
	}
	return f.Place(filepath.Join(s.dir, n.fileName()), os.Rename)
}

// Read returns a block's contents, in the memory of buffer if they fit. The error is ErrDamaged, or that of the file system; the
// block is forgotten then.
func (s *Store) Read(n Name, buffer []byte) ([]byte, error) {
	path := filepath.Join(s.dir, n.fileName())
	contents, err := s.get(n, path, buffer)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.files[n]
	if err != nil {
		if ok {
			s.forget(e)
		}
		return nil, err
	}
	if ok {
		s.used.MoveToBack(e)
		e.Value.(*file).sound = true
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // the order of use is worth no failure
	return contents, nil
}

// get reads a file, which must be what Write made of a block named n.
func (s *Store) get(n Name, path string, buffer []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size() - overheadBytes
	if !info.Mode().IsRegular() || size < 0 || size > s.block { // before there is room for it
		return nil, ErrDamaged
	}
	contents := slices.Grow(buffer[:0], int(size))[:size]
	var header [headerBytes]byte
	var sum [sha256.Size]byte
	for _, part := range [][]byte{header[:], contents, sum[:]} {
		if _, err := io.ReadFull(f, part); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(header[:], s.header(n)) || !bytes.Equal(sum[:], s.sum(header[:], contents)) {
		return nil, ErrDamaged
	}
	return contents, nil
}

func (s *Store) header(n Name) []byte {
	h := append(make([]byte, 0, headerBytes), magic...)
	h = append(h, n.Hash[:]...)
	return binary.LittleEndian.AppendUint64(h, uint64(n.Group))
}

func (s *Store) sum(header, contents []byte) []byte {
	h := sha256.New()
	h.Write(s.identity[:])
	h.Write(header)
	h.Write(contents)
	return h.Sum(nil)
}

// trim removes the least recently used files until the rest is within the limit. mu is held.
func (s *Store) trim() {
	for s.bytes > s.limit {
		s.forget(s.used.Front())
	}
}

// forget removes a file. mu is held.
func (s *Store) forget(e *list.Element) {
	s.drop(e)
	_ = os.Remove(filepath.Join(s.dir, e.Value.(*file).name.fileName())) // it may be gone
}

func (s *Store) drop(e *list.Element) {
	f := e.Value.(*file)
	s.used.Remove(e)
	delete(s.files, f.name)
	s.bytes -= f.size
}
