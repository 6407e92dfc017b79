// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
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
	dir := filepath.Join(e.HomeDir, ".sampo")
	if e.HomeDir == "" && !e.homeless {
		e.homeless = true
		e.warn("HOME is not set, and the system knows no home of this user: %s in the current folder is used; SAMPO_HOME names another", dir)
	}
	return dir
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
			return nil, usagef("%s: unknown key %q; the keys are models and the flags of 'sampo serve --help'", env.configName(), strings.ReplaceAll(key, "-", "_"))
		}
	}
	for _, variable := range strayVariables(env, cmd.Flags()) {
		env.warn("%s is none of the variables of 'sampo serve --help', and does nothing", variable)
	}
	return models, errors.Join(errs...)
}

// fillFlag sets one flag that the command line left open.
func fillFlag(env *Env, f *pflag.Flag, file map[string]setting) error {
	if f.Changed || f.Name == "help" {
		return nil
	}
	for _, name := range namesOf(f) {
		variable := variableOf(name)
		if value := env.setting(variable); value != "" {
			return setFlag(f, variable, env.inHome(value))
		}
	}
	if value, ok := file[f.Name]; ok && !value.null {
		key := env.configName() + ": " + strings.ReplaceAll(f.Name, "-", "_")
		if _, list := f.Value.(pflag.SliceValue); value.list && !list {
			return usagef("%s: a list is not expected here", key)
		}
		return setFlag(f, key, env.inHome(value.text))
	}
	return nil
}

// variableOf is the variable that stands for a flag.
func variableOf(name string) string {
	return "SAMPO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// serviceVariable tells what Kubernetes adds to the environment where a service is called sampo: they are none of ours.
var serviceVariable = regexp.MustCompile(`^SAMPO_(SERVICE_HOST|SERVICE_PORT\w*|PORT_\d+_\w+)=|^SAMPO_PORT=\w+://`)

// setting is the value of a variable that stands for a flag.
func (e *Env) setting(variable string) string {
	value := e.Getenv(variable)
	if serviceVariable.MatchString(variable + "=" + value) {
		return ""
	}
	return value
}

// strayVariables are those that look like ours and are not.
func strayVariables(env *Env, flags *pflag.FlagSet) []string {
	known := map[string]bool{"SAMPO_HOME": true, "SAMPO_CPU": true, "SAMPO_URL": true, "SAMPO_API_KEY": true}
	flags.VisitAll(func(f *pflag.Flag) {
		for _, name := range namesOf(f) {
			known[variableOf(name)] = true
		}
	})
	var stray []string
	for _, variable := range env.environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "SAMPO_") && !known[name] && !serviceVariable.MatchString(variable) {
			stray = append(stray, name)
		}
	}
	slices.Sort(stray)
	return stray
}

// namesOf returns the names of a flag, its own first.
func namesOf(f *pflag.Flag) []string {
	names := []string{f.Name}
	for alias, name := range flagAliases {
		if name == f.Name {
			names = append(names, alias)
		}
	}
	return names
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
	null bool // leaves the default
}

// configPath returns where the configuration file is, and whether somebody named it.
func configPath(env *Env, path string) (_ string, named bool) {
	if path = cmp.Or(path, env.inHome(env.Getenv("SAMPO_CONFIG"))); path != "" {
		return path, true
	}
	return filepath.Join(env.home(), "config.yaml"), false
}

// configName names the configuration file in errors.
func (e *Env) configName() string {
	path, _ := configPath(e, e.config)
	return "config " + path
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
	tree, err := parseConfig(text)
	if err != nil {
		return nil, nil, usagef("config %s: %v", path, err)
	}
	models, err := takeModels(tree)
	if err != nil {
		return nil, nil, usagef("config %s: %v", path, err)
	}
	for i, name := range models {
		models[i] = env.inHome(name)
	}
	values := map[string]setting{}
	if err := flatten(values, "", tree); err != nil {
		return nil, nil, usagef("config %s: %v", path, err)
	}
	return values, models, nil
}

// A value is what a key of the file has: a text, a list, or keys with values of their own. What is not given, or null, is none.
//
// A text is as the file spells it. The numbers and dates that YAML would make of some are none of its business: 1.10 is a name, too.
type value struct {
	given bool
	text  string
	list  []value
	keys  map[string]value
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *value) UnmarshalYAML(n *yaml.Node) error {
	v.given = true
	if n.Kind == yaml.MappingNode {
		v.keys = map[string]value{}
		return n.Decode(&v.keys)
	}
	if n.Kind == yaml.SequenceNode {
		v.list = []value{}
		return n.Decode(&v.list)
	}
	v.text = n.Value
	return nil
}

// isText reports whether a value is neither a list nor has keys.
func (v *value) isText() bool { return v.given && v.list == nil && v.keys == nil }

// parseConfig returns the keys of a file. YAML has room for several documents in one, of which we would not know which counts.
func parseConfig(text []byte) (map[string]value, error) {
	var tree map[string]value
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document value
		err := documents.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return tree, nil
		case err != nil:
			return nil, err
		case document.given && document.keys == nil:
			return nil, errors.New("want keys and values, such as port: 8000")
		case document.given && tree != nil:
			return nil, errors.New("there are two documents with --- between them, want one")
		case document.given:
			tree = document.keys
		}
	}
}

// takeModels removes the key models from tree and returns its names.
func takeModels(tree map[string]value) ([]string, error) {
	models, ok := tree["models"]
	if !ok {
		return nil, nil
	}
	delete(tree, "models")
	switch {
	case !models.given: // null
		return nil, nil
	case models.list == nil:
		return nil, errors.New("models: want a list of names, such as [sampo/mini-chat]")
	}
	names := make([]string, 0, len(models.list))
	for i, item := range models.list {
		if !item.isText() || item.text == "" {
			return nil, fmt.Errorf("models[%d]: want a name", i)
		}
		names = append(names, item.text)
	}
	return names, nil
}

// flatten joins nested keys with dashes.
func flatten(dst map[string]setting, prefix string, tree map[string]value) error {
	for key, v := range tree {
		name := prefix + strings.ReplaceAll(key, "_", "-")
		if own, ok := flagAliases[name]; ok {
			name = own
		}
		if _, twice := dst[name]; twice {
			return fmt.Errorf("%s is there twice, in two spellings", strings.ReplaceAll(name, "-", "_"))
		}
		switch {
		case v.keys != nil && len(v.keys) == 0:
			return fmt.Errorf("%s: want a value", key)
		case v.keys != nil:
			if err := flatten(dst, name+"-", v.keys); err != nil {
				return err
			}
		case v.list != nil:
			text, err := joined(v.list)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			dst[name] = setting{text: text, list: true}
		default:
			dst[name] = setting{text: v.text, null: !v.given}
		}
	}
	return nil
}

// joined spells a list as flags take it: with commas, and quotes around what has one.
func joined(list []value) (string, error) {
	items := make([]string, len(list))
	for i, item := range list {
		if !item.isText() {
			return "", fmt.Errorf("item %d: want a text or a number", i)
		}
		items[i] = item.text
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	err := w.Write(items)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n"), err
}
