// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/registry"
)

// newPull says how to get a model by hand: answers about unknown models name this command, and it does not download yet.
func newPull(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "pull MODEL", Short: "Say how to get a model (this version does not download)",
		Args: exactArgs("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch m, err := env.find(args[0]); {
			case err == nil:
				_, err = fmt.Fprintf(env.Stdout, "%s is on this machine: sampo serve %s\n", printable(m.Name), printable(args[0]))
				return err
			case !errors.Is(err, registry.ErrUnknownModel):
				return err
			}
			return errPull(args[0])
		},
	}
}

// errPull says what to do in place of a download.
func errPull(name string) error {
	get, ok := registry.HowToGet(name)
	variants := ""
	if !ok {
		get += fmt.Sprintf(", where huggingface.co has a model of that name; %q is none", name)
	} else if _, variant, named := strings.Cut(name, ":"); named {
		variant, _, _ = strings.Cut(variant, "@")
		variants = fmt.Sprintf(", and --include '*%s*' leaves its other variants out", variant)
	}
	return fmt.Errorf("pull: this version does not download. What works: %s; hf comes with 'pip install huggingface_hub'%s. "+
		"A .gguf file or a folder with safetensors is served by its path; sampo list shows what is on this machine", get, variants)
}
