// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// model finds a model by its name. Without a name it is the only one, or the only one that the route can use.
func (s *Server) model(name string, usable func(Model) bool) (Model, error) {
	if name != "" {
		m, ok := s.models[name]
		if !ok {
			return Model{}, errModel(name)
		}
		return m, nil
	}
	if len(s.cfg.Models) == 1 {
		return s.cfg.Models[0], nil
	}
	candidates := slices.DeleteFunc(slices.Clone(s.cfg.Models), func(m Model) bool { return !usable(m) })
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	names := make([]string, len(candidates))
	for i, m := range candidates {
		names[i] = m.Name
	}
	return Model{}, badRequest(openai.CodeMissing, "model", "Missing required parameter: 'model'. This server has: %s.", strings.Join(names, ", "))
}

func anyModel(Model) bool { return true }

// entry describes a model as lists of models do.
func (s *Server) entry(m Model) openai.ModelEntry {
	e := openai.ModelEntry{ID: m.Name, Created: s.created.Unix(), OwnedBy: m.Owner, MaxModelLen: m.MaxContext()}
	if e.OwnedBy == "" {
		e.OwnedBy = "sampo"
	}
	e.Sampo = openai.ModelFacts{Kind: "completion", Tools: m.TakesTools(), Resident: true, Tier: m.Tier()}
	if m.Chats() {
		e.Sampo.Kind = "chat"
	}
	return e
}

// listModels answers GET /v1/models.
func (s *Server) listModels(x *exchange) error {
	entries := make([]openai.ModelEntry, len(s.cfg.Models))
	for i, m := range s.cfg.Models {
		entries[i] = s.entry(m)
	}
	return x.sendJSON(openai.ModelList(entries))
}

// showModel answers GET /v1/models/{id}. The id may hold slashes, escaped or not.
func (s *Server) showModel(x *exchange) error {
	id := strings.TrimSuffix(strings.TrimPrefix(x.r.URL.Path, "/v1/models/"), "/")
	m, err := s.model(id, anyModel)
	if err != nil {
		return err
	}
	return x.sendJSON(s.entry(m).Body())
}
