// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

const plainText = "text/plain; charset=utf-8"

// healthy returns why no request would be answered, if so.
func (s *Server) healthy() error {
	if s.draining.Load() {
		return errShuttingDown
	}
	if s.cfg.Loading {
		return errLoading
	}
	for _, m := range s.cfg.Models {
		if m.Engine.Err() != nil {
			return errStopped
		}
	}
	return nil
}

// health answers GET /health.
func (s *Server) health(x *exchange) error {
	if err := s.healthy(); err != nil {
		return err
	}
	return x.send(http.StatusOK, plainText, []byte("ok"))
}

// ping answers /ping, for platforms that look there.
func (s *Server) ping(x *exchange) error {
	if err := s.healthy(); err != nil {
		return err
	}
	return x.send(http.StatusOK, plainText, nil)
}

// version answers GET /version.
func (s *Server) version(x *exchange) error {
	o := ordjson.NewObject()
	o.Set("version", s.cfg.Version)
	return x.sendJSON(ordjson.Append(nil, o))
}

// load answers GET /load with the generation requests in flight.
func (s *Server) load(x *exchange) error {
	o := ordjson.NewObject()
	o.Set("server_load", ordjson.Int(int(s.generating.Load())))
	return x.sendJSON(ordjson.Append(nil, o))
}

// unsupported answers routes that need a model of another kind.
func (s *Server) unsupported(x *exchange) error {
	if _, err := x.body(); err != nil {
		return err
	}
	return badRequest("unsupported_endpoint", "model", "No model of this server supports %s: they generate text. Use /v1/chat/completions or /v1/completions.", x.route)
}

// page answers / and /v1 for a person with a browser or curl.
func (s *Server) page(x *exchange) error {
	address := s.cfg.Address
	if address == "" {
		address = "http://" + x.r.Host
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Sampo %s\n\nBase URL for OpenAI clients: %s/v1\n\nModels:\n", s.cfg.Version, address)
	for _, m := range s.cfg.Models {
		fmt.Fprintf(&b, "  %s\n", m.Name)
	}
	b.WriteString("\nEndpoints:\n")
	for _, r := range Routes() {
		if r.Out != "Error" { // those are there to be refused in words
			fmt.Fprintf(&b, "  %-4s %-25s %s\n", r.Method, r.Path, r.Summary)
		}
	}
	b.WriteString("\nTry:\n  " + s.example(address) + "\n")
	return x.send(http.StatusOK, plainText, []byte(b.String()))
}

// example returns a line to paste into a shell.
func (s *Server) example(address string) string {
	path, name, field := "/v1/completions", "MODEL", `"prompt":"The sky is"`
	if len(s.cfg.Models) > 0 {
		name = s.cfg.Models[0].Name
	}
	if i := slices.IndexFunc(s.cfg.Models, Model.Chats); i >= 0 {
		path, name, field = "/v1/chat/completions", s.cfg.Models[i].Name, `"messages":[{"role":"user","content":"Hello"}]`
	}
	key := ""
	if len(s.cfg.Keys) > 0 {
		key = " -H 'Authorization: Bearer KEY'"
	}
	return fmt.Sprintf("curl %s%s -H 'Content-Type: application/json'%s -d '{\"model\":%s,%s}'", address, path, key, ordjson.Marshal(name), field)
}
