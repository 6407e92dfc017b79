// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/sampo-ai/sampo/internal/server"
	"github.com/sampo-ai/sampo/internal/tracing"
)

const (
	// defaultDrain is how long running requests may go on after the first interrupt.
	defaultDrain = 30 * time.Second
	// lastTime is what is left at least to write the cache to the disk, and then to send traces, when requests took all of that.
	lastTime = 2 * time.Second
)

// A running is a server that has its models.
type running struct {
	server   *server.Server
	listener net.Listener
	served   chan error // what Serve returned
	opened   *opened
	tracer   *tracing.Tracer // nil: none
}

// run answers requests until the server fails or a signal comes; then it lets running requests finish for a while,
// writes what the disk lacks of the cache, and closes everything. A second signal ends all of that at once: nothing is
// waited for, however long it takes.
func (f *serveFlags) run(env *Env, signals <-chan os.Signal, r *running) error {
	r.served = make(chan error, 1)
	go func() { r.served <- r.server.Serve(r.listener) }()
	select {
	case err := <-r.served:
		return errors.Join(err, r.close(env, traceTime))
	case <-signals:
	}
	fmt.Fprintln(env.Stderr, "sampo: finishing running requests; interrupt again to end at once")
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	ended := make(chan error, 1)
	go func() { ended <- f.drainAll(ctx, env, r) }()
	select {
	case err := <-ended:
		return err
	case <-signals:
		return r.server.Close()
	}
}

// drainAll ends a server in order, until ctx ends.
func (f *serveFlags) drainAll(ctx context.Context, env *Env, r *running) error {
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, f.drain)
	defer cancel()
	err := errors.Join(r.server.Shutdown(limited), <-r.served)
	left := func() time.Duration { return max(lastTime, f.drain-time.Since(begun)) }
	f.flush(ctx, env, r, left())
	return errors.Join(err, r.close(env, left()))
}

// flush writes what the disk lacks of the caches, until the time is up or ctx ends.
func (f *serveFlags) flush(ctx context.Context, env *Env, r *running, limit time.Duration) {
	if f.model.diskCache == "" {
		return
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, m := range r.opened.models {
		if err := m.Flush(limited); err != nil && ctx.Err() == nil {
			env.warn("a part of the cache of %s is not on the disk: %v", m.Name, err)
		}
	}
}

// close closes what the server used; traces have until limit to leave.
func (r *running) close(env *Env, limit time.Duration) error {
	err := r.opened.Close()
	closeTracer(env, r.tracer, limit)
	return err
}
