// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// YAML made 1.1 of the name 1.10, 16 of 0x10, and a time of a date.
func TestTextOfTheConfigurationStaysAsItIsSpelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "models: [2026-12-01, 1.10, &m model]\nmodel_id: 0x10\nallowed_hosts: [1.20, *m]\ncontext: ~\nlog: {level: \"debug\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	values, models, err := readConfig(&Env{Getenv: func(string) string { return "" }}, path)
	if err != nil {
		t.Fatal(err)
	}
	if got := [3]string(models); got != [3]string{"2026-12-01", "1.10", "model"} {
		t.Errorf("models %q, want them as they are spelled", got)
	}
	for key, want := range map[string]setting{"model-id": {text: "0x10"}, "allowed-hosts": {"1.20,model", true}, "log-level": {text: "debug"}} {
		if values[key] != want {
			t.Errorf("%s is %+v, want %+v", key, values[key], want)
		}
	}
	if len(values) != 3 {
		t.Errorf("got %v, want nothing for the key that is null", values)
	}
}

// The variable of the flag's other name was passed over, and its key unknown.
func TestTheOtherNameOfAFlagIsAVariableAndAKeyToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("served_model_name: ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		config, variable, want string
	}{{path, "", "ours"}, {path, "theirs", "theirs"}} {
		env := &Env{Getenv: func(name string) string { return map[string]string{"SAMPO_SERVED_MODEL_NAME": tt.variable}[name] }}
		cmd := newServe(env)
		if _, err := applySettings(env, cmd, tt.config); err != nil {
			t.Fatal(err)
		}
		if got := cmd.Flags().Lookup("model-id").Value.String(); got != tt.want {
			t.Errorf("with the variable %q: model-id is %q, want %q", tt.variable, got, tt.want)
		}
	}
}
