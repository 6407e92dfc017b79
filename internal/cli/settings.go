// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// home returns the folder where Sampo keeps its things.
func (e *Env) home() string {
	if dir := e.Getenv("SAMPO_HOME"); dir != "" {
		return e.inHome(dir)
	}
	return filepath.Join(e.HomeDir, ".sampo")
}

// applySettings fills the flags that were not given from SAMPO_* variables, else from the configuration file.
//
// A flag --max-num-seqs is the variable SAMPO_MAX_NUM_SEQS and the key max_num_seqs; a nested key joins its parts with
// dashes. It returns the file's list of models.
func applySettings(env *Env, cmd *cobra.Command, configPath string) (models []string, err error) {
	env.config = configPath
	file, models, err := readConfig(env, configPath)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		known[f.Name] = true
		errs = append(errs, fillFlag(env, f, file))
	})
	for _, key := range slices.Sorted(maps.Keys(file)) {
		if !known[key] || key == "config" || key == "help" {
			return nil, usagef("config: unknown key %q; the keys are models and the flags of 'sampo serve --help'", strings.ReplaceAll(key, "-", "_"))
		}
	}
	return models, errors.Join(errs...)
}

// fillFlag sets one flag that the command line left open.
func fillFlag(env *Env, f *pflag.Flag, file map[string]setting) error {
	if f.Changed || f.Name == "help" {
		return nil
	}
	variable := "SAMPO_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	if value := env.Getenv(variable); value != "" {
		return setFlag(f, variable, env.inHome(value))
	}
	if value, ok := file[f.Name]; ok {
		key := "config: " + strings.ReplaceAll(f.Name, "-", "_")
		if _, list := f.Value.(pflag.SliceValue); value.list && !list {
			return usagef("%s: a list is not expected here", key)
		}
		return setFlag(f, key, env.inHome(value.text))
	}
	return nil
}

// setFlag sets a flag as if it had been given. The value came under the given name.
func setFlag(f *pflag.Flag, name, value string) error {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.AddFlag(f)
	if err := set.Set(f.Name, value); err != nil {
		return &usageError{flagError(name, err)}
	}
	return nil
}

// A setting is a value in the configuration file, spelled as a flag takes it.
type setting struct {
	text string
	list bool
}

// configPath returns where the configuration file is, and whether somebody named it.
func configPath(env *Env, path string) (_ string, named bool) {
	if path = cmp.Or(path, env.inHome(env.Getenv("SAMPO_CONFIG"))); path != "" {
		return path, true
	}
	return filepath.Join(env.home(), "config.yaml"), false
}

// readConfig reads the configuration file into flag names and values, and its list of models. Without a path the file in
// the home is read if it is there.
func readConfig(env *Env, path string) (map[string]setting, []string, error) {
	path, named := configPath(env, path)
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, usagef("config: %v", err)
	}
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, nil, usagef("config %s: %v", path, err)
	}
	tree, ok := document.(map[string]any)
	if !ok && document != nil {
		return nil, nil, usagef("config %s: want keys and values, such as port: 8000", path)
	}
	models, err := takeModels(tree)
	if err != nil {
		return nil, nil, err
	}
	for i, name := range models {
		models[i] = env.inHome(name)
	}
	values := map[string]setting{}
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
func flatten(dst map[string]setting, prefix string, tree map[string]any) error {
	for key, value := range tree {
		name := prefix + strings.ReplaceAll(key, "_", "-")
		if _, twice := dst[name]; twice {
			return usagef("config: %s is there twice, in two spellings", strings.ReplaceAll(name, "-", "_"))
		}
		switch v := value.(type) {
		case map[string]any:
			if err := flatten(dst, name+"-", v); err != nil {
				return err
			}
		case []any:
			text, err := joined(v)
			if err != nil {
				return usagef("config: %s: %v", key, err)
			}
			dst[name] = setting{text, true}
		case nil: // null leaves the default
		default:
			dst[name] = setting{text: fmt.Sprint(v)}
		}
	}
	return nil
}

// joined spells a list as flags take it: with commas, and quotes around what has one.
func joined(list []any) (string, error) {
	items := make([]string, len(list))
	for i, item := range list {
		switch item.(type) {
		case map[string]any, []any, nil:
			return "", fmt.Errorf("item %d: want a text or a number", i)
		}
		items[i] = fmt.Sprint(item)
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	err := w.Write(items)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n"), err
}
