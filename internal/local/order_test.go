// SPDX-License-Identifier: Apache-2.0

package local

import (
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
)

// The weights of the model, which may take minutes, were packed before the two vocabularies were compared.
func TestADraftModelIsRefusedBeforeWeightsAreLoaded(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	b, draft := openDraft(t), openDraft(t)
	draft.Tokenizer = bytechat.Tokenizer()
	defer b.Close()
	defer draft.Close()
	b.Config.Layers++ // whose weights are not there
	if m, err := open(b, pool, Options{Draft: draft}); err == nil || !strings.Contains(err.Error(), "same vocabulary") {
		t.Errorf("got %v, %v; want an error about the vocabulary", m, err)
	}
}
