// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sampo-ai/sampo/internal/wholefile"
)

// replaceFile writes a file whole or not at all, and its folder if need be.
func replaceFile(path string, data []byte) error {
	return placeFile(path, data, os.Rename)
}

// createFile is replaceFile for a file that is not to be there yet: of those who make it at the same time one wins, and the
// others get fs.ErrExist.
func createFile(path string, data []byte) error {
	return placeFile(path, data, func(part, path string) error {
		err := os.Link(part, path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return errors.Join(err, os.Remove(part))
		}
		// Some file systems have no links. Two who come at once may both win there.
		if _, err := os.Lstat(path); err == nil {
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
		return os.Rename(part, path)
	})
}

// placeFile writes a file of its owner under another name, makes sure that it is on the disk, and hands it to place. So an end
// at any time leaves no part of it under its own name, which the next start would refuse. What was left under the other name goes.
func placeFile(path string, data []byte, place func(part, path string) error) error {
	const pattern = "part-*"
	dir := filepath.Dir(path)
	if err := ensureDir(dir); err != nil {
		return err
	}
	wholefile.Clean(dir, pattern)
	part, err := wholefile.Create(dir, pattern)
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if err == nil {
		err = part.Sync()
	}
	if err != nil {
		part.Discard()
		return err
	}
	return part.Place(path, place)
}
