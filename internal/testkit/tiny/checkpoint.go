// SPDX-License-Identifier: Apache-2.0

package tiny

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// OpenGGUF opens a GGUF checkpoint without loading its weights. The caller may change the configuration before that. The file is
// closed when the test ends, after all that the test registers later.
func OpenGGUF(t testing.TB, path string) (*model.Family, model.Config, *gguf.File) {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	arch, _ := f.Meta().String("general.architecture")
	family, ok := families.ByGGUF(arch)
	if !ok {
		t.Fatalf("%s: no family for %q", path, arch)
	}
	c, err := family.FromGGUF(f.Meta())
	if err != nil {
		t.Fatal(err)
	}
	return family, c, f
}
