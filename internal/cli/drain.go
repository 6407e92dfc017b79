// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/server"
)

const (
	// defaultDrain is how long running requests may go on after the first interrupt.
	defaultDrain = 30 * time.Second
	// flushTime is what is left at least to write the cache to the disk, when requests took all of that.
	flushTime = 2 * time.Second
)

// run answers requests until the server fails or a signal comes; then it lets running requests finish for a while, and
// writes what the disk lacks of the cache. A second signal ends everything at once.
func (f *serveFlags) run(env *Env, s *server.Server, l net.Listener, models []*local.Model) error {
	signals := env.signals()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-signals:
	}
	fmt.Fprintln(env.Stderr, "sampo: finishing running requests; interrupt again to end at once")
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), f.drain)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- s.Shutdown(ctx) }()
	select {
	case err := <-drained:
		err = errors.Join(err, <-served)
		f.flush(env, models, max(flushTime, f.drain-time.Since(begun)))
		return err
	case <-signals:
		return errors.Join(s.Close(), <-served)
	}
}

// flush writes what the disk lacks of the caches, until the time is up or another signal comes.
func (f *serveFlags) flush(env *Env, models []*local.Model, limit time.Duration) {
	if f.model.diskCache == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, m := range models {
			if err := m.Flush(ctx); err != nil {
				fmt.Fprintf(env.Stderr, "sampo: warning: a part of the cache of %s is not on the disk: %v\n", m.Name, err)
			}
		}
	}()
	select {
	case <-done:
	case <-env.Signals:
		cancel()
		<-done
	}
}
