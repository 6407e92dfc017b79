// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/bundle"
)

// A shownModel is the output of show --json.
type shownModel struct {
	Name         string       `json:"name"`
	Title        string       `json:"title,omitempty"`
	Description  string       `json:"description,omitempty"`
	Author       string       `json:"author,omitempty"`
	License      string       `json:"license,omitempty"`
	Path         string       `json:"path"`
	Format       string       `json:"format"`
	Bytes        int64        `json:"bytes"`
	Architecture string       `json:"architecture"`
	Parameters   int64        `json:"parameters"`
	Context      int          `json:"context"`
	Layers       int          `json:"layers"`
	Hidden       int          `json:"hidden_size"`
	Vocab        int          `json:"vocab_size"`
	Quantization string       `json:"quantization,omitempty"`
	Types        []shownType  `json:"types"`
	Tokenizer    string       `json:"tokenizer"`
	ChatTemplate bool         `json:"chat_template"`
	Templates    []string     `json:"templates,omitempty"`
	Defaults     shownDefault `json:"generation_defaults"`
	Problem      string       `json:"problem,omitempty"`
	Notes        []string     `json:"notes,omitempty"`
}

// A shownType says how much of a model is stored in a type.
type shownType struct {
	Type    string `json:"type"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
}

// A shownDefault has the sampling parameters that a model's makers recommend.
type shownDefault struct {
	Temperature       *float32 `json:"temperature,omitempty"`
	TopP              *float32 `json:"top_p,omitempty"`
	TopK              *int     `json:"top_k,omitempty"`
	MinP              *float32 `json:"min_p,omitempty"`
	RepetitionPenalty *float32 `json:"repetition_penalty,omitempty"`
	EOS               []int32  `json:"eos_token_ids,omitempty"`
}

// newShow tells what a model is.
func newShow(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show MODEL", Short: "Tell what a model is", Args: exactArgs("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := env.find(args[0])
			if err != nil {
				return err
			}
			facts, err := found.Inspect(bundle.Options{})
			if err != nil {
				return err
			}
			shown := newShown(facts)
			if asJSON {
				return printJSON(env, shown)
			}
			return shown.print(env)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newShown(f bundle.Facts) shownModel {
	s := shownModel{
		Name: f.Name, Title: f.Title, Description: f.Description, Author: f.Author, License: f.License, Path: f.Path, Format: f.Format,
		Bytes: f.FileBytes, Architecture: f.Architecture, Parameters: f.Parameters, Context: f.Context, Layers: f.Layers,
		Hidden: f.Hidden, Vocab: f.Vocab, Quantization: f.Quantization, Tokenizer: f.Tokenizer, ChatTemplate: f.Template,
		Templates: f.Templates, Problem: f.Problem, Notes: f.Notes, Types: []shownType{},
		Defaults: shownDefault{
			Temperature: f.Defaults.Temperature, TopP: f.Defaults.TopP, TopK: f.Defaults.TopK, MinP: f.Defaults.MinP,
			RepetitionPenalty: f.Defaults.RepetitionPenalty,
		},
	}
	for _, t := range f.Types {
		s.Types = append(s.Types, shownType{t.Type.String(), t.Tensors, t.Bytes})
	}
	for _, id := range f.Defaults.EOS {
		s.Defaults.EOS = append(s.Defaults.EOS, int32(id))
	}
	return s
}

// print writes the facts for a person.
func (s *shownModel) print(env *Env) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, printable(value))
		}
	}
	row("name", s.Name)
	row("title", s.Title)
	row("description", s.Description)
	row("author", s.Author)
	row("license", s.License)
	row("path", s.Path)
	row("architecture", s.Architecture)
	row("parameters", formatCount(s.Parameters))
	row("weights", fmt.Sprintf("%s, %s in %s", orDash(s.Quantization), formatBytes(s.Bytes), s.Format))
	for _, t := range s.Types {
		row("", fmt.Sprintf("%s: %s, %s", t.Type, plural(t.Tensors, "tensor"), formatBytes(t.Bytes)))
	}
	row("context", plural(s.Context, "token"))
	row("layers", fmt.Sprintf("%d of hidden size %d", s.Layers, s.Hidden))
	row("vocabulary", fmt.Sprintf("%s (%s)", plural(s.Vocab, "token"), s.Tokenizer))
	row("chat template", s.templates())
	row("defaults", s.Defaults.String())
	for _, note := range s.Notes {
		row("note", note)
	}
	row("cannot run", s.Problem)
	return w.Flush()
}

func (s *shownModel) templates() string {
	switch {
	case !s.ChatTemplate:
		return "none: a base model, for completions"
	case len(s.Templates) > 0:
		return "yes, and " + strings.Join(s.Templates, ", ")
	}
	return "yes"
}

// String lists what is recommended.
func (d *shownDefault) String() string {
	var parts []string
	add := func(name string, v *float32) {
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s %v", name, *v))
		}
	}
	add("temperature", d.Temperature)
	add("top_p", d.TopP)
	if d.TopK != nil {
		parts = append(parts, fmt.Sprintf("top_k %d", *d.TopK))
	}
	add("min_p", d.MinP)
	add("repetition_penalty", d.RepetitionPenalty)
	if len(d.EOS) > 0 {
		parts = append(parts, fmt.Sprintf("ends at %v", d.EOS))
	}
	return strings.Join(parts, ", ")
}
