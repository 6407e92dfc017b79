// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// An apiField is a name and a value of --field, the value as JSON.
type apiField struct {
	name  string
	value json.RawMessage
}

// body makes the body of what --data or --field say, and puts the fields of a request that has no body into the query.
func (f *apiFlags) body(env *Env, method string, query url.Values) ([]byte, error) {
	if f.data != "" {
		if len(f.fields) > 0 || len(f.texts) > 0 {
			return nil, usagef("api: --data and --field exclude each other")
		}
		if f.data == "-" {
			return readInput(env.Stdin)
		}
		return readValue(env, f.data, "--data")
	}
	fields, err := f.parseFields(env)
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	if method == http.MethodGet || method == http.MethodHead {
		for _, field := range fields {
			text := string(field.value)
			_ = json.Unmarshal(field.value, &text) // other values stand there as they are
			query.Add(field.name, text)
		}
		return nil, nil
	}
	body := bytes.NewBufferString("{")
	for i, field := range fields {
		if i > 0 {
			body.WriteByte(',')
		}
		name, _ := json.Marshal(field.name) // a string always has a form
		body.Write(name)
		body.WriteByte(':')
		body.Write(field.value)
	}
	body.WriteByte('}')
	return body.Bytes(), nil
}

// parseFields returns the fields, those of --field first, each as JSON.
func (f *apiFlags) parseFields(env *Env) ([]apiField, error) {
	var fields []apiField
	for i, pair := range append(append([]string{}, f.fields...), f.texts...) {
		flag := "--field"
		if i >= len(f.fields) {
			flag = "--raw-field"
		}
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || name == "":
			return nil, usagef("%s: got %q, want name=value", flag, pair)
		case strings.HasSuffix(name, "]"):
			return nil, usagef("%s: got %q; lists and objects are written as JSON, such as 'stop=[\"a\", \"b\"]'", flag, pair)
		}
		if flag == "--field" {
			if json.Valid([]byte(value)) {
				fields = append(fields, apiField{name, json.RawMessage(value)})
				continue
			}
			text, err := readValue(env, value, flag)
			if err != nil {
				return nil, err
			}
			value = string(text)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, usagef("%s: %v", flag, err)
		}
		fields = append(fields, apiField{name, text})
	}
	return fields, nil
}

// readValue returns a value, the text of the file that it names as @FILE, or standard input for @-.
func readValue(env *Env, value, flag string) ([]byte, error) {
	name, ok := strings.CutPrefix(value, "@")
	switch {
	case !ok:
		return []byte(value), nil
	case name == "-":
		return readInput(env.Stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	text, over, err := readAtMost(file, maxInputBytes)
	if over {
		err = fmt.Errorf("%s is over %s", name, formatBytes(maxInputBytes))
	}
	if err != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	return text, nil
}
