// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/sampo-ai/sampo/internal/tracing"
)

// traceTime is how long the last spans may take at most to leave at the end of the process.
const traceTime = 5 * time.Second

// tracer returns what sends traces; nil if nobody asked for them.
func (f *serveFlags) tracer(env *Env, log *slog.Logger) (*tracing.Tracer, error) {
	cfg, ok, err := tracing.FromEnvironment(f.otlpEndpoint, env.Getenv)
	if err != nil {
		return nil, usagef("%v", err)
	}
	if !ok {
		return nil, nil
	}
	cfg.Version, cfg.Log = Version, log
	return tracing.Open(cfg), nil
}

// closeTracer sends the last spans. A collector that does not take them is no failure of the server.
func closeTracer(env *Env, t *tracing.Tracer, limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), min(limit, traceTime))
	defer cancel()
	if err := t.Close(ctx); err != nil {
		env.warn("the last traces are lost: %v", err)
	}
}
