// SPDX-License-Identifier: Apache-2.0

package scriptmodel

import (
	"bytes"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// Open opens the model on the native engine, as the program opens any file.
func Open(pool *tensor.Pool, opt local.Options) (*local.Model, error) {
	var file bytes.Buffer
	if err := Write(&file); err != nil {
		return nil, err
	}
	b, err := bundle.OpenBytes("scripted", file.Bytes(), bundle.Options{})
	if err != nil {
		return nil, err
	}
	return local.Open(b, pool, opt)
}
