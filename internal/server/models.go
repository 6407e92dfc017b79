// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// model finds a model by its name. Without a name it is the only one, or the only one that the route can use.
func (s *Server) model(name string, usable func(Model) bool) (Model, error) {
	if s.cfg.Loading {
		return Model{}, errLoading
	}
	if name != "" {
		if m, ok := s.models[name]; ok {
			return m, nil
		}
		if i := s.absent(name); i >= 0 {
			return Model{}, s.errMemory(s.cfg.Absent[i])
		}
		return Model{}, s.errModel(name)
	}
	if len(s.cfg.Models) == 1 {
		return s.cfg.Models[0], nil
	}
	candidates := slices.DeleteFunc(slices.Clone(s.cfg.Models), func(m Model) bool { return !usable(m) })
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	return Model{}, badRequest(openai.CodeMissing, "model", "Missing required parameter: 'model'. This server has: %s.", namesOf(candidates))
}

// namesOf lists models for a message.
func namesOf(models []Model) string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// absent returns the place of a model that is not in memory, or -1.
func (s *Server) absent(name string) int {
	return slices.IndexFunc(s.cfg.Absent, func(m AbsentModel) bool { return m.Name == name })
}

// errMemory says that a model does not fit, and what holds the memory. Nothing is unloaded for it.
func (s *Server) errMemory(m AbsentModel) *problem {
	holders := make([]Holder, len(s.cfg.Models))
	for i, held := range s.cfg.Models {
		holders[i] = Holder{held.Name, held.HeldBytes}
	}
	p := badRequest("insufficient_memory", "model", "%s", MemoryMessage(m.Name, m.NeededBytes, holders))
	p.status, p.err.Type = http.StatusConflict, openai.TypeConflict
	list := []any{}
	for _, h := range holders {
		o := ordjson.NewObject()
		o.Set("model", h.Model)
		o.Set("bytes", ordjson.Number(strconv.FormatInt(h.Bytes, 10)))
		list = append(list, o)
	}
	p.err.Sampo = ordjson.NewObject()
	p.err.Sampo.Set("holders", list)
	return p
}

// A Holder is a model that holds memory.
type Holder struct {
	Model string
	Bytes int64
}

// MemoryMessage says in words why a model can't be loaded beside others. serve says the same when it starts.
func MemoryMessage(model string, needed int64, holders []Holder) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The model `%s` needs %d MiB of memory and does not fit beside what is loaded", model, needed>>20)
	for i, h := range holders {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s`%s` with %d MiB", separator, h.Model, h.Bytes>>20)
	}
	b.WriteString(". Nothing was unloaded.")
	return b.String()
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

// absentEntry describes a model that is not in memory. What only an open model tells is left at zero.
func (s *Server) absentEntry(m AbsentModel) openai.ModelEntry {
	e := openai.ModelEntry{ID: m.Name, Created: s.created.Unix(), OwnedBy: m.Owner, Sampo: openai.ModelFacts{Kind: "chat", Tier: m.Tier}}
	if e.OwnedBy == "" {
		e.OwnedBy = "sampo"
	}
	return e
}

// listModels answers GET /v1/models.
func (s *Server) listModels(x *exchange) error {
	if s.cfg.Loading {
		return errLoading
	}
	entries := make([]openai.ModelEntry, len(s.cfg.Models))
	for i, m := range s.cfg.Models {
		entries[i] = s.entry(m)
	}
	for _, m := range s.cfg.Absent {
		entries = append(entries, s.absentEntry(m))
	}
	return x.sendJSON(openai.ModelList(entries))
}

// showModel answers GET /v1/models/{id}. The id may hold slashes, escaped or not.
func (s *Server) showModel(x *exchange) error {
	id := strings.TrimPrefix(path.Clean("/"+x.r.URL.Path), "/v1/models/")
	if i := s.absent(id); i >= 0 {
		return x.sendJSON(s.absentEntry(s.cfg.Absent[i]).Body())
	}
	m, err := s.model(id, anyModel)
	if err != nil {
		return err
	}
	return x.sendJSON(s.entry(m).Body())
}
