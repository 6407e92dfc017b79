// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"unsafe"
)

// A Mapping is a file mapped into memory, read-only.
type Mapping struct {
	path  string
	data  []byte
	unmap func() error
}

// Map maps the whole of f, which may be closed afterwards. It fails for what is not a regular file.
func Map(f *os.File) (*Mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: errors.New("not a regular file")}
	}
	if info.Size() > math.MaxInt {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: fmt.Errorf("%d bytes are more than this system can address", info.Size())}
	}
	m := &Mapping{path: f.Name(), unmap: func() error { return nil }}
	if info.Size() == 0 {
		return m, nil // systems refuse an empty mapping
	}
	m.data, m.unmap, err = mapFile(f, int(info.Size()))
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	if err := checkPointer(m.path, m.data); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// InMemory is a Mapping of bytes that are in memory already, such as a model inside the program. Nobody may write
// to them as long as the Mapping is in use.
func InMemory(name string, data []byte) *Mapping {
	return &Mapping{path: name, data: data}
}

// Path is the name that the file was opened by.
func (m *Mapping) Path() string { return m.path }

// Bytes are the bytes of the file, valid until Close.
func (m *Mapping) Bytes() []byte { return m.data }

// Release gives back the memory that mirrors a part of the file. Reading the part again reads the file again. Bytes
// that are no part of the Mapping are left alone.
func (m *Mapping) Release(part []byte) {
	if m.unmap == nil || len(part) == 0 || len(m.data) == 0 {
		return
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	if at < base || at-base > uintptr(len(m.data)-len(part)) {
		return
	}
	// Only whole pages: a page at the edge may belong to a neighbour that is in use.
	page := uintptr(os.Getpagesize())
	from := (at - base + page - 1) / page * page
	to := (at - base + uintptr(len(part))) / page * page
	if from < to {
		releasePages(m.data[from:to])
	}
}

// Close undoes the mapping. A second Close does nothing.
func (m *Mapping) Close() error {
	if m.unmap == nil {
		return nil
	}
	unmap := m.unmap
	m.data, m.unmap = nil, nil
	return unmap()
}
