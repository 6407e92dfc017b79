// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secretBytes is how much of the secret file counts as one at least.
const secretBytes = 16

// secret returns what keeps the caches of API keys apart. It is kept in the home where caches are kept on a disk, since
// nobody would find there what was written under another one; else it is nil, and the server makes one for itself.
func (f *serveFlags) secret(env *Env) ([]byte, error) {
	if f.model.diskCache == "" {
		return nil, nil
	}
	path := filepath.Join(env.home(), "secret")
	data, err := readSmall(path)
	switch {
	case err == nil && len(data) >= secretBytes:
		_, err = tighten(path)
		return data, err
	case err == nil:
		return nil, usagef("serve: %s is too short to be a secret; delete it, and a new one is made", path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("serve: %w", err)
	}
	if err := ensureDir(env.home()); err != nil {
		return nil, err
	}
	data = []byte(rand.Text() + "\n")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(0o600))
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("serve: writing %s: %w", path, err)
	}
	return data, nil
}
