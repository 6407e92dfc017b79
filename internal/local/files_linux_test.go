// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// Pages of the file counted as memory of the server as long as the model ran, and who cut the file short ended it.
func TestFilesAreLetGoOnceTheModelIsOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mini.gguf")
	if err := os.WriteFile(path, assets.MiniChat(), 0o600); err != nil {
		t.Fatal(err)
	}
	mapped := func() bool {
		t.Helper()
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(maps), path)
	}
	pool := tensor.NewPool(1)
	defer pool.Close()
	var bundles [2]*bundle.Bundle
	for i := range bundles {
		var err error
		if bundles[i], err = bundle.Open(path, bundle.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if !mapped() {
		t.Fatal("the file is not mapped though its bundles are open")
	}
	m, err := Open(bundles[0], pool, Options{CacheBytes: 16 << 20, Draft: bundles[1]})
	if err != nil {
		t.Fatal(err)
	}
	if mapped() {
		t.Error("the file is mapped though the model is open")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
