// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open maps the file at path, wherever it lies and wherever links lead: the caller chose it.
func Open(path string) (*Mapping, error) {
	// Opening a named pipe would wait for its writer, so look first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer discard(f)
	return Map(f)
}

// MapIn maps the file name in the folder dir, within the limits of OpenIn.
func MapIn(dir, name string) (*Mapping, error) {
	f, err := OpenIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer discard(f)
	return Map(f)
}

// ReadIn reads the file name in the folder dir, within the limits of OpenIn. It fails for a file of more than limit
// bytes.
func ReadIn(dir, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer discard(f)
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("file exceeds %d bytes", limit)}
	}
	return data, checkPointer(f.Name(), data)
}

// pointer begins the text that Git leaves in place of a large file that it did not get.
const pointer = "version https://git-lfs."

// checkPointer refuses such a text by its name: every format would only call it damaged.
func checkPointer(path string, data []byte) error {
	if !bytes.HasPrefix(data, []byte(pointer)) {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("a pointer of Git LFS, not the file itself; git lfs pull gets it")}
}

// discard closes what was only read from: there is nothing to lose.
func discard(c io.Closer) { _ = c.Close() }
