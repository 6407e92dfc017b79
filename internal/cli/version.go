// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// Version is the release that this source tree is.
const Version = "0.1.0"

// newVersion prints what this build is, and the tier of kernels that it uses on this CPU.
func newVersion(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version of this build", Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(env, map[string]string{
					"version": Version, "commit": revision(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
					"tier": kernel.Tier(),
				})
			}
			return printVersion(env)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printVersion prints the version for a person.
func printVersion(env *Env) error {
	build := Version
	if commit := revision(); commit != "" {
		build += " (" + commit + ")"
	}
	_, err := fmt.Fprintf(env.Stdout, "sampo %s %s %s/%s %s\n", build, runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Tier())
	return err
}

// revision returns the commit that the build was made from, if the toolchain recorded it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}

// printJSON writes v to standard output, indented, with a newline.
func printJSON(env *Env, v any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
