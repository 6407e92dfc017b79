// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newPull says how to get a model by hand: answers about unknown models name this command, and it does not download yet.
func newPull() *cobra.Command {
	return &cobra.Command{
		Use: "pull MODEL", Short: "Say how to get a model (this version does not download)",
		Args: exactArgs("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			repository, _, _ := strings.Cut(args[0], "@")
			repository, _, _ = strings.Cut(repository, ":")
			return fmt.Errorf("pull: this version does not download. By hand: 'hf download %s' puts a model of huggingface.co where 'sampo serve %s' finds it; "+
				"a .gguf file or a folder with safetensors is served by its path; 'sampo list' shows what is on this machine", repository, args[0])
		},
	}
}
