// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

// FuzzConfig gives one config.json to every family: it is refused with an error, or is a configuration that can be used.
func FuzzConfig(f *testing.F) {
	for _, folder := range checkpoints {
		data, err := os.ReadFile(filepath.Join("..", folder, "config.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{llamaJSON, gemmaJSON, qwenJSON, gemma2JSON, smolJSON, phiJSON, `{}`, `{"rope_parameters": {"full_attention": 3}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ordjson.Parse(data, 10)
		config, ok := v.(*ordjson.Object)
		if err != nil || !ok {
			return
		}
		for _, family := range families.All() {
			if c, err := family.FromHF(config); err == nil {
				use(t, &c)
			}
		}
	})
}

// use does with a configuration what an engine and a decoder do before they have weights.
func use(t testing.TB, c *model.Config) {
	groups := c.CacheGroups()
	if len(groups) == 0 || len(c.BlockBytes()) != len(groups) {
		t.Fatalf("%s: %d cache groups with %d sizes", c.Family, len(groups), len(c.BlockBytes()))
	}
	for layer := range c.Layers {
		rope := c.Rope
		if c.IsWindow(layer) {
			rope = c.WindowRope
		}
		if c.Group(layer) >= len(groups) || rope.Width == 0 {
			t.Fatalf("%s: layer %d is in group %d of %d, and turns %d components", c.Family, layer, c.Group(layer), len(groups), rope.Width)
		}
		c.TurnsHeads(layer)
	}
	for _, rope := range []model.Rope{c.Rope, c.WindowRope} {
		rope.Frequencies(c.LongAfter() + 1)
	}
}
