// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// hold locks a file until what it returns is closed. It fails with errTaken if another process holds it, or has removed it.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // file systems of a network lock only what can be written
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f, path); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func lock(f *os.File, path string) error {
	err := error(syscall.EINTR)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	switch {
	case err == nil:
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errTaken
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
		return errNoLocks
	default:
		return err
	}
	// Whoever had the lock before may have removed the file, or placed it.
	mine, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		return errTaken
	}
	return nil
}

func removeStale(path string) {
	f, err := hold(path)
	if err != nil {
		return
	}
	_ = os.Remove(path)
	_ = f.Close()
}
