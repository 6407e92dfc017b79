// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// otherNames are flags of vLLM, llama.cpp and Ollama, and ours that do the same.
var otherNames = map[string]string{
	"max-model-len": "context", "ctx-size": "context", "c": "context",
	"parallel": "max-num-seqs", "np": "max-num-seqs",
	"cache-type-k": "kv-cache-dtype", "ctk": "kv-cache-dtype", "cache-type-v": "kv-cache-dtype", "ctv": "kv-cache-dtype",
	"kv-cache-memory-bytes":    "max-memory",
	"no-enable-prefix-caching": "no-prefix-cache", "no-cache-prompt": "no-prefix-cache",
	"model-draft": "draft-model", "md": "draft-model", "draft-max": "draft-tokens", "draft": "draft-tokens",
	"slot-save-path": "disk-cache", "chat-template-file": "chat-template", "alias": "model-id", "a": "model-id",
	"uvicorn-log-level": "log-level", "otlp-traces-endpoint": "otlp-endpoint", "t": "threads",
	"n-predict": "max-tokens", "predict": "max-tokens", "n": "max-tokens", "temp": "temperature", "s": "seed",
	"system-prompt": "system", "sys": "system",
}

// noneOfOurs are flags of those programs that have no counterpart, and why.
var noneOfOurs = map[string]string{
	"n-gpu-layers": onCPU, "gpu-layers": onCPU, "ngl": onCPU, "tensor-split": onCPU, "main-gpu": onCPU,
	"tensor-parallel-size": onCPU, "tp": onCPU, "pipeline-parallel-size": onCPU, "device": onCPU,
	"enable-auto-tool-choice": "tools always work", "jinja": "templates are always run", "metrics": "/metrics is always there",
	"enable-prefix-caching": "prefixes are always cached, unless --no-prefix-cache is given",
	"model":                 "the model is an argument without a flag", "m": "the model is an argument without a flag",
	"gpu-memory-utilization": "--max-memory SIZE bounds the cache", "api-key": "keys of a server come from --api-key-file or SAMPO_API_KEY",
}

const onCPU = "this version computes on the CPU alone"

// hint says what there is in place of a flag that other programs have; "" if nothing is known of it.
func hint(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	name := unknown.GetSpecifiedName()
	if short, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "="); short != "" {
		name = strings.TrimRight(short, "0123456789.") // -c4096; and -ngl is one name to those who type it
	}
	if ours := otherNames[name]; ours != "" && cmd.Flags().Lookup(ours) != nil {
		return "--" + ours + " does that here"
	}
	if why := noneOfOurs[name]; why != "" && takesModel(cmd) {
		return "there is none such: " + why
	}
	return ""
}

// takesModel says whether a command runs a model.
func takesModel(cmd *cobra.Command) bool {
	return slices.Contains([]string{"serve", "run", "bench"}, cmd.Name())
}

// seeHelp adds to an error of the command line what may be meant, or where the flags are told, unless it says itself what is wanted.
func seeHelp(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && hint(cmd, unknown) != "":
		return fmt.Errorf("%w; %s", err, hint(cmd, unknown))
	case errors.As(err, &unknown) || errors.As(err, &bare):
		return fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())
	}
	return err
}
