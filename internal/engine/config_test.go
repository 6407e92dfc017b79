// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
)

func TestPlanUsesItsMemoryAndNoMore(t *testing.T) {
	c := newFake(4096).Config()
	sizes := c.BlockBytes()
	for _, blocks := range []int64{8, 100, 400, 5000} {
		bytes := blocks * sizes[0]
		got, context, err := Plan(c, 4096, 64, bytes)
		if err != nil {
			t.Errorf("%d blocks' worth: %v", blocks, err)
			continue
		}
		used := int64(0)
		for g, n := range got {
			used += sizes[g] * int64(n)
		}
		if used > bytes {
			t.Errorf("%d blocks' worth: plan of %v takes %d bytes of %d", blocks, got, used, bytes)
		}
		if context == 4096 && used < bytes/2 {
			t.Errorf("%d blocks' worth: plan of %v takes only %d bytes of %d", blocks, got, used, bytes)
		}
		if _, err := (Config{Blocks: got, MaxContext: context, MaxBatchTokens: 64}).resolve(c); err != nil {
			t.Errorf("%d blocks' worth: plan is refused: %v", blocks, err)
		}
	}
}

func TestPlanShortensTheContext(t *testing.T) {
	c := newFake(4096).Config()
	bytes := 20 * c.BlockBytes()[0]
	_, context, err := Plan(c, 4096, 64, bytes)
	if err != nil || context <= 0 || context > 20*model.BlockSize {
		t.Errorf("20 blocks' worth: context of %d tokens, %v", context, err)
	}
	if _, _, err := Plan(c, 4096, 64, 1000); err == nil {
		t.Errorf("1,000 bytes were enough")
	}
}

// The buffers of a billion sequences took all memory, and the process ended with the stack of a goroutine.
func TestAnAbsurdNumberOfSequencesIsRefused(t *testing.T) {
	if _, err := (Config{MaxRunning: 1_000_000_000}).resolve(newFake(4096).Config()); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("got %v, want an error that tells the most", err)
	}
}
