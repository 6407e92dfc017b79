// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenIn opens the file name in the folder dir, and nothing outside of it: neither by "..", nor by an absolute path,
// nor by a symbolic link that leads out. Only regular files are opened.
//
// In a Hugging Face cache, dir is models--OWNER--NAME/snapshots/REVISION and its files are links to
// models--OWNER--NAME/blobs. There the model's folder is the one named models--OWNER--NAME, and links may lead anywhere
// inside it.
func OpenIn(dir, name string) (*os.File, error) {
	if !filepath.IsLocal(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("path leads out of the model's folder")}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	top, below := modelFolder(real)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer discard(root)
	inside := filepath.Join(below, name)
	// Opening a named pipe would wait for its writer, so look first.
	info, err := root.Stat(inside)
	if err != nil {
		if info, linkErr := root.Lstat(inside); linkErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = badLink(filepath.Join(real, name), err)
		}
		return nil, withPath(err, filepath.Join(dir, name))
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, name), Err: errors.New("not a regular file")}
	}
	f, err := root.Open(inside)
	if err != nil {
		return nil, withPath(err, filepath.Join(dir, name))
	}
	return f, nil
}

// badLink says why a link cannot be followed. One that leads nowhere is no missing file, which others do without: a download
// or a cache lost what it pointed to.
func badLink(path string, err error) error {
	_, outside := os.Stat(path)
	switch {
	case outside == nil:
		err = errors.New("the link leads out of the model's folder")
	case errors.Is(outside, fs.ErrNotExist):
		err = errors.New("the link leads to a file that is not there")
	default:
		return err
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// modelFolder splits dir into the folder that holds everything of a model and the rest of the path.
func modelFolder(dir string) (top, below string) {
	for at := dir; ; at = filepath.Dir(at) {
		parent := filepath.Dir(at)
		if parent == at {
			return dir, "."
		}
		if filepath.Base(at) == "snapshots" && strings.HasPrefix(filepath.Base(parent), "models--") {
			rest, err := filepath.Rel(parent, dir)
			if err != nil {
				return dir, "."
			}
			return parent, rest
		}
	}
}

// withPath puts the path as the caller knows it into an error of os.Root.
func withPath(err error, path string) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return &fs.PathError{Op: "open", Path: path, Err: pathErr.Err}
	}
	return err
}
