// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/kvcache/disk"
	"github.com/sampo-ai/sampo/internal/model"
)

// DefaultDiskBytes is how much of a disk blocks of the cache take if nothing else was asked for.
const DefaultDiskBytes = 8 << 30

// sampleBytes of the beginning, the middle and the end of each tensor go into a model's identity: reading all of a large
// model takes minutes from a slow disk, and who trains a model on changes every part.
const sampleBytes = 16 << 10

// arithmetic is the version of what kernels compute and how a block holds it; it changes when bits do.
const arithmetic = 4

// openDisk returns where blocks of the cache are kept on the disk; nil if they are not.
func openDisk(b *bundle.Bundle, opt Options) (*disk.Store, error) {
	if opt.DiskCache == "" {
		return nil, nil
	}
	id, err := identity(b)
	if err != nil {
		return nil, err
	}
	limit := opt.DiskBytes
	if limit == 0 {
		limit = DefaultDiskBytes
	}
	need := blockBytes(b)
	if limit <= need { // a file has more than its block
		return nil, fmt.Errorf("local: disk cache: %d bytes hold nothing of %s, %d tokens of which take %d", limit, b.Name, model.BlockSize, need)
	}
	return disk.Open(opt.DiskCache, id, slices.Max(b.Config.BlockBytes()), limit)
}

// identity returns a hash of what the keys and values of a token depend on besides the tokens up to it.
func identity(b *bundle.Bundle) ([]byte, error) {
	config, err := json.Marshal(b.Config)
	if err != nil {
		return nil, fmt.Errorf("local: %s: %w", b.Name, err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %s\n", arithmetic, kernel.Tier(), config)
	for _, name := range b.Source.Names() {
		t, ok := b.Source.Tensor(name)
		if !ok {
			continue
		}
		fmt.Fprintf(h, "%q %d %v %d\n", name, t.Type, t.Shape, len(t.Data))
		n := min(sampleBytes, len(t.Data))
		for _, at := range []int{0, (len(t.Data) - n) / 2, len(t.Data) - n} {
			h.Write(t.Data[at : at+n])
		}
	}
	return h.Sum(nil), nil
}
