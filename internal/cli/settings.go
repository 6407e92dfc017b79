// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// home returns the folder where Sampo keeps its things.
func (e *Env) home() string {
	if dir := e.Getenv("SAMPO_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(e.HomeDir, ".sampo")
}

// applySettings fills the flags that were not given from SAMPO_* variables, else from the configuration file.
//
// A flag --max-num-seqs is the variable SAMPO_MAX_NUM_SEQS and the key max_num_seqs; a nested key joins its parts with
// dashes. It returns the file's list of models.
func applySettings(env *Env, cmd *cobra.Command, configPath string) (models []string, err error) {
	file, models, err := readConfig(env, configPath)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		known[f.Name] = true
		errs = append(errs, fillFlag(env, cmd.Flags(), f, file))
	})
	for _, key := range sortedKeys(file) {
		if !known[key] || key == "config" || key == "help" {
			return nil, usagef("config: unknown key %q; the keys are the flags of 'sampo serve --help'", strings.ReplaceAll(key, "-", "_"))
		}
	}
	return models, errors.Join(errs...)
}

// fillFlag sets one flag that the command line left open.
func fillFlag(env *Env, flags *pflag.FlagSet, f *pflag.Flag, file map[string]string) error {
	if f.Changed || f.Name == "help" {
		return nil
	}
	variable := "SAMPO_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	if value := env.Getenv(variable); value != "" {
		if err := flags.Set(f.Name, value); err != nil {
			return &usageError{flagError(variable, err)}
		}
		return nil
	}
	if value, ok := file[f.Name]; ok {
		if err := flags.Set(f.Name, value); err != nil {
			return &usageError{flagError("config: "+strings.ReplaceAll(f.Name, "-", "_"), err)}
		}
	}
	return nil
}

// readConfig reads the configuration file into flag names and values, and its list of models. Without a path the file in
// the home is read if it is there.
func readConfig(env *Env, path string) (map[string]string, []string, error) {
	named := path != "" || env.Getenv("SAMPO_CONFIG") != ""
	if path == "" {
		path = env.Getenv("SAMPO_CONFIG")
	}
	if path == "" {
		path = filepath.Join(env.home(), "config.yaml")
	}
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, usagef("config: %v", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, nil, usagef("config %s: %v", path, err)
	}
	models, err := takeModels(tree)
	if err != nil {
		return nil, nil, err
	}
	values := map[string]string{}
	if err := flatten(values, "", tree); err != nil {
		return nil, nil, err
	}
	return values, models, nil
}

// takeModels removes the key models from tree and returns its names.
func takeModels(tree map[string]any) ([]string, error) {
	value, ok := tree["models"]
	if !ok {
		return nil, nil
	}
	delete(tree, "models")
	list, ok := value.([]any)
	if !ok {
		return nil, usagef("config: models: want a list of names")
	}
	names := make([]string, 0, len(list))
	for i, item := range list {
		name, ok := item.(string)
		if !ok || name == "" {
			return nil, usagef("config: models[%d]: want a name", i)
		}
		names = append(names, name)
	}
	return names, nil
}

// flatten joins nested keys with dashes.
func flatten(dst map[string]string, prefix string, tree map[string]any) error {
	for key, value := range tree {
		name := prefix + strings.ReplaceAll(key, "_", "-")
		switch v := value.(type) {
		case map[string]any:
			if err := flatten(dst, name+"-", v); err != nil {
				return err
			}
		case []any:
			return usagef("config: %s: a list is not expected here", key)
		case nil: // null leaves the default
		default:
			dst[name] = fmt.Sprint(v)
		}
	}
	return nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
