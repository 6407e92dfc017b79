// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// secretBytes is how much of the secret file counts as one at least.
const secretBytes = 16

// secret returns what keeps the caches of several API keys apart. It is kept in the home where caches are kept on a disk, since
// nobody would find there what was written under another one; else it is nil, and the server makes one for itself.
func (f *serveFlags) secret(env *Env, keys int) ([]byte, error) {
	if f.model.diskCache == "" || keys < 2 {
		return nil, nil
	}
	path := filepath.Join(env.home(), "secret")
	data, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	data = []byte(rand.Text() + "\n")
	switch err := createFile(path, data); {
	case errors.Is(err, fs.ErrExist): // another server that starts now made it
		return readSecret(path)
	case err != nil:
		return nil, fmt.Errorf("serve: writing %s: %w", path, err)
	}
	return data, nil
}

// readSecret reads the secret that an earlier start made.
func readSecret(path string) ([]byte, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if len(data) < secretBytes {
		return nil, usagef("serve: %s is too short to be a secret; delete it, and a new one is made", path)
	}
	_, err = tighten(path)
	return data, err
}
