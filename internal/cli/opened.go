// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"log/slog"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/registry"
	"github.com/sampo-ai/sampo/internal/server"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// An opened has the models of a server and the workers that they share.
type opened struct {
	pool   *tensor.Pool
	models []*local.Model
	offers []server.Model
}

// openAll opens the models one after the other; if one fails, all are closed.
func (f *serveFlags) openAll(env *Env, found []registry.Model, opt bundle.Options, log *slog.Logger) (*opened, error) {
	o := &opened{pool: tensor.NewPool(f.model.threads)}
	on := host{pool: o.pool, log: log}
	seen := map[string]bool{}
	for _, entry := range found {
		m, err := f.model.open(env, entry, opt, on)
		if err == nil && seen[m.Name] {
			err = errors.Join(usagef("serve: two models are named %q; --model-id renames a single one", m.Name), m.Close())
		}
		if err != nil {
			return nil, errors.Join(withHolders(err, o.models), o.Close())
		}
		seen[m.Name] = true
		on.reserved += m.CacheBytes
		o.models = append(o.models, m)
		o.offers = append(o.offers, server.Model{Model: m.Model, Owner: owner(entry), HeldBytes: m.HeldBytes()})
	}
	return o, nil
}

// Close closes the models, then the workers. Nil has none.
func (o *opened) Close() error {
	if o == nil {
		return nil
	}
	var err error
	for _, m := range o.models {
		err = errors.Join(err, m.Close())
	}
	o.pool.Close()
	return err
}
