// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"log/slog"
	"slices"

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

// openAll loads the models one after the other; if one fails, all are closed.
func (f *serveFlags) openAll(env *Env, found []registry.Model, opt bundle.Options, log *slog.Logger) (*opened, error) {
	files, err := openFiles(found, opt)
	if err != nil {
		return nil, err
	}
	o := &opened{pool: tensor.NewPool(f.model.threads)}
	on := host{pool: o.pool, log: log}
	for i, entry := range found {
		m, err := f.model.open(env, files[i], on)
		if err != nil {
			return nil, errors.Join(withHolders(err, o.models), closeFiles(files[i+1:]), o.Close())
		}
		on.reserved += m.CacheBytes
		o.models = append(o.models, m)
		o.offers = append(o.offers, server.Model{Model: m.Model, Owner: owner(entry), HeldBytes: m.HeldBytes()})
	}
	return o, nil
}

// openFiles opens the files of all models before one is loaded, which may take minutes: a broken one, or a second one of the same name,
// is found now.
func openFiles(found []registry.Model, opt bundle.Options) ([]*bundle.Bundle, error) {
	var files []*bundle.Bundle
	for _, entry := range found {
		b, err := entry.Open(opt)
		if err != nil {
			return nil, errors.Join(err, closeFiles(files))
		}
		files = append(files, b)
		if slices.ContainsFunc(files[:len(files)-1], func(other *bundle.Bundle) bool { return other.Name == b.Name }) {
			return nil, errors.Join(usagef("serve: two models are named %q; --model-id renames a single one", b.Name), closeFiles(files))
		}
	}
	return files, nil
}

func closeFiles(files []*bundle.Bundle) error {
	var err error
	for _, b := range files {
		err = errors.Join(err, b.Close())
	}
	return err
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
