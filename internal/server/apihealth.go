// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

// apiHealth answers GET /api/health, for people and pages: how the server is, and what it holds.
func (s *Server) apiHealth(x *exchange) error {
	models, warnings := []any{}, []any{}
	running, waiting := 0, 0
	for _, m := range s.cfg.Models {
		r, w := m.Engine.Load()
		running, waiting = running+r, waiting+w
		models = append(models, s.heldBy(m, r, w))
		if err := m.Engine.Err(); err != nil {
			warnings = append(warnings, "The engine of "+m.Name+" does not serve.")
		}
	}
	if len(s.cfg.Keys) == 0 && !s.cfg.Loopback {
		warnings = append(warnings, "Anybody who reaches this address can use the server: it has no key.")
	}
	queue := ordjson.NewObject()
	queue.Set("running", ordjson.Int(running))
	queue.Set("waiting", ordjson.Int(waiting))
	queue.Set("requests", ordjson.Int(int(s.generating.Load())))
	o := ordjson.NewObject()
	o.Set("state", s.state())
	o.Set("warnings", warnings)
	o.Set("models", models)
	o.Set("queue", queue)
	o.Set("version", s.cfg.Version)
	o.Set("uptime_seconds", ordjson.Int(int(time.Since(s.created).Seconds())))
	o.Set("mode", s.mode())
	return x.sendJSON(ordjson.Append(nil, o))
}

// heldBy describes a model in memory.
func (s *Server) heldBy(m Model, running, waiting int) *ordjson.Object {
	o := ordjson.NewObject()
	o.Set("id", m.Name)
	o.Set("kind", s.entry(m).Sampo.Kind)
	o.Set("resident", true)
	o.Set("tier", m.Tier())
	o.Set("max_model_len", ordjson.Int(m.MaxContext()))
	o.Set("bytes", nil)
	if m.HeldBytes > 0 {
		o.Set("bytes", ordjson.Int(int(m.HeldBytes)))
	}
	o.Set("running", ordjson.Int(running))
	o.Set("waiting", ordjson.Int(waiting))
	if meter, ok := m.Engine.(inference.Meter); ok {
		stats := meter.Stats()
		o.Set("cache_used_percent", ordjson.Int(int(100*stats.Usage()+0.5)))
	}
	return o
}

// state is the server's own, in a word.
func (s *Server) state() string {
	switch err := s.healthy(); {
	case s.draining.Load():
		return "draining"
	case s.cfg.Loading:
		return "loading"
	case err != nil:
		return "stopped"
	}
	return "ok"
}

// mode says how callers are told apart.
func (s *Server) mode() string {
	if len(s.cfg.Keys) == 0 {
		return "none"
	}
	return "key"
}
