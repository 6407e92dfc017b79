// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/registry"
)

// The second model's file was looked at when the first was loaded, minutes later.
func TestModelsAreOpenedBeforeOneIsLoaded(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.gguf")
	if err := os.WriteFile(broken, []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	mini := registry.Model{Name: assets.MiniChatName, Data: assets.MiniChat()}
	log := slog.New(slog.DiscardHandler)
	for _, tt := range []struct {
		second registry.Model
		want   string
	}{
		{mini, "two models are named"},
		{registry.Model{Name: broken, Path: broken}, "cut short"},
	} {
		f := &serveFlags{}
		f.model.context = 1 << 30 // which loading the first would refuse
		o, err := f.openAll(&Env{}, []registry.Model{mini, tt.second}, bundle.Options{}, log)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, %v; want an error with %q", o, err, tt.want)
		}
	}
}
