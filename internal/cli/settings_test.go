// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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
	for key, want := range map[string]setting{"model-id": {text: "0x10"}, "allowed-hosts": {text: "1.20,model", list: true}, "log-level": {text: "debug"}} {
		if values[key] != want {
			t.Errorf("%s is %+v, want %+v", key, values[key], want)
		}
	}
	for key, got := range values { // that it is there tells of a name that is wrong
		if got.null != (key == "context") {
			t.Errorf("%s is %+v, want the key that is null to have no value", key, got)
		}
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

// A variable that was misspelled did nothing, and nothing said so. Where a service of Kubernetes is called sampo, its variables were
// taken for settings.
func TestVariablesThatDoNothingAreToldAndThoseOfAServiceAreNone(t *testing.T) {
	environ := []string{
		"SAMPO_THREDS=2", "SAMPO_MODEL=x", "SAMPO_PORT=tcp://10.0.0.1:7267", "SAMPO_PORT_7267_TCP=tcp://10.0.0.1:7267", "SAMPO_PORT_7267_TCP_PROTO=tcp",
		"SAMPO_SERVICE_HOST=10.0.0.1", "SAMPO_SERVICE_PORT=7267", "SAMPO_SERVICE_PORT_HTTP=7267", "SAMPO_HOME=/h", "SAMPO_CPU=generic", "SAMPO_URL=u",
		"SAMPO_API_KEY=k", "SAMPO_THREADS=2", "SAMPO_SERVED_MODEL_NAME=m", "PATH=/bin",
	}
	var messages bytes.Buffer
	env := &Env{Stderr: &messages, HomeDir: t.TempDir(), Environ: func() []string { return environ }, Getenv: func(name string) string {
		for _, variable := range environ {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}}
	cmd := newServe(env)
	if _, err := applySettings(env, cmd, ""); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(messages.String(), "does nothing"); n != 2 || !strings.Contains(messages.String(), "SAMPO_THREDS ") || !strings.Contains(messages.String(), "SAMPO_MODEL ") {
		t.Errorf("told %q, want SAMPO_THREDS and SAMPO_MODEL", &messages)
	}
	if port := cmd.Flags().Lookup("port"); port.Changed {
		t.Errorf("the port is %s, want the default", port.Value)
	}
}

// The home was .sampo in whatever folder one was in, and only doctor told.
func TestAnUnknownHomeIsToldOfOnce(t *testing.T) {
	for _, home := range []string{"", "/named"} {
		var told strings.Builder
		env := &Env{Stderr: &told, Getenv: func(string) string { return home }}
		env.home()
		if env.home(); strings.Count(told.String(), "HOME is not set") != map[string]int{"": 1}[home] {
			t.Errorf("SAMPO_HOME=%s: %q was told", home, &told)
		}
	}
}
