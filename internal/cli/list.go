// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/registry"
)

// A listedModel is a model in the output of list --json.
type listedModel struct {
	Name         string `json:"name"`
	Store        string `json:"store"`
	Quantization string `json:"quantization,omitempty"`
	Bytes        int64  `json:"bytes"`
	Path         string `json:"path,omitempty"`
	Modified     string `json:"modified,omitempty"`
}

// newList lists the models of this machine.
func newList(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the models on this machine", Args: exactArgs(),
		Long: "List the models on this machine: the built-in one, those found where other programs keep them (Hugging\n" +
			"Face, ModelScope, LM Studio, Ollama), and those in folders of --models-dir, which is also SAMPO_MODELS_DIR and\n" +
			"models_dir in the configuration file. They are used where they lie: weights, templates and\n" +
			"recommended parameters; of Ollama's models not the templates and system messages of its own. sampo doctor shows the\n" +
			"folders. Of models whose files are missing standard error tells.",
		RunE: func(*cobra.Command, []string) error {
			r, err := env.registry()
			if err != nil {
				return err
			}
			warnOfMissingFolders(env, r)
			for _, m := range r.Broken() {
				env.warn("%s (%s) cannot be opened: %s", m.Name, m.Store, m.Problem)
			}
			models := r.List()
			if asJSON {
				return printJSON(env, listed(models))
			}
			w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tSIZE\tTYPE\tSTORE")
			for _, m := range models {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", printable(m.Name), formatBytes(m.Bytes), orDash(m.Quantization), m.Store)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// warnOfMissingFolders names the folders that somebody asked for and that are none.
func warnOfMissingFolders(env *Env, r *registry.Registry) {
	for _, s := range r.Stores() {
		if s.Kind != registry.Folder {
			continue
		}
		switch info, err := os.Stat(s.Folder); {
		case err != nil:
			env.warn("--models-dir: %s is not there", s.Folder)
		case !info.IsDir():
			env.warn("--models-dir: %s is not a folder", s.Folder)
		}
	}
}

func listed(models []registry.Model) []listedModel {
	out := make([]listedModel, 0, len(models))
	for _, m := range models {
		l := listedModel{Name: m.Name, Store: m.Store, Quantization: m.Quantization, Bytes: m.Bytes, Path: m.Path}
		if !m.Modified.IsZero() {
			l.Modified = m.Modified.UTC().Format("2006-01-02T15:04:05Z")
		}
		out = append(out, l)
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
