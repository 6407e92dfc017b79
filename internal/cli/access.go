// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/server"
)

// An access says where the server listens and who may use it.
type access struct {
	host     string
	loopback bool         // only this machine can reach it
	keys     []server.Key // none: no key is needed
	keyFile  string       // where the keys come from; "" for the environment
	alone    bool         // the first key is the first line of that
	made     bool         // the key was made now
	outside  []string     // addresses for other machines, where the server listens everywhere
	warning  string
}

// access finds the address and the keys. An address that others can reach needs a key, or --no-auth.
func (f *serveFlags) access(env *Env) (*access, error) {
	a := &access{host: f.host}
	if f.public && f.host == defaultHost {
		a.host = "0.0.0.0"
	}
	a.loopback = isLoopback(a.host)
	if f.noAuth {
		return a, nil
	}
	var err error
	switch {
	case f.apiKeyFile != "":
		err = a.readKeys(f.apiKeyFile)
	case env.Getenv("SAMPO_API_KEY") != "":
		key := strings.TrimSpace(env.Getenv("SAMPO_API_KEY")) // what is made from a file ends with a line break
		if bad := checkSecret(key); bad != nil {
			return nil, usagef("SAMPO_API_KEY: %v", bad)
		}
		a.keys = []server.Key{{Secret: key}}
	case f.public:
		err = a.ensureKey(env)
	case !a.loopback:
		err = usagef("serve: %s can be reached from outside, and there is no API key: give --public (makes a key), --api-key-file FILE, SAMPO_API_KEY, or --no-auth to let anybody in", cmp.Or(f.host, "an empty --host"))
	}
	return a, err
}

// isLoopback reports whether only this machine can reach an address.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// readKeys reads a key file: on each line a key and the scopes that it has, apart by spaces or commas. Without scopes it
// has all.
func (a *access) readKeys(path string) error {
	text, err := readSmall(path)
	if err != nil {
		return usagef("--api-key-file: %v", err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		key, err := parseKey(line)
		if err != nil {
			return usagef("--api-key-file: %s, line %d: %v", path, number, err)
		}
		if key.Secret == "" {
			continue
		}
		if slices.ContainsFunc(a.keys, func(k server.Key) bool { return k.Secret == key.Secret }) {
			return usagef("--api-key-file: %s, line %d: the key is there twice", path, number)
		}
		a.keys = append(a.keys, key)
	}
	if len(a.keys) == 0 {
		return usagef("--api-key-file: %s has no key in it", path)
	}
	switch loose, err := tighten(path); {
	case err != nil: // secrets of containers are mounted read-only
		a.warning = fmt.Sprintf("others on this machine may be able to read %s: %v", path, err)
	case loose:
		a.warning = "others could read " + path + "; its mode is now 0600"
	}
	a.keyFile, a.alone = path, strings.HasPrefix(string(text), a.keys[0].Secret+"\n")
	return nil
}

// parseKey reads a line of a key file; the secret of an empty one is "".
func parseKey(line string) (server.Key, error) {
	secret, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")), " ")
	key := server.Key{Secret: secret}
	if err := checkSecret(secret); err != nil && secret != "" {
		return key, err
	}
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(server.Scopes(), server.Scope(word)) {
			return key, fmt.Errorf("unknown scope %q; the scopes are %s", word, strings.Trim(fmt.Sprint(server.Scopes()), "[]"))
		}
		key.Scopes = append(key.Scopes, server.Scope(word))
	}
	return key, nil
}

// checkSecret refuses a key that no client could send, and one that looks as if it was put out of use.
func checkSecret(secret string) error {
	switch {
	case secret == "":
		return errors.New("the key is blank")
	case strings.HasPrefix(secret, "#"):
		return errors.New("a key cannot begin with #, and there are no comments: delete the line")
	case strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("the key has characters that clients cannot send in a header; a key is printable ASCII")
	}
	return nil
}

// ensureKey reads the key in the home, or makes one.
func (a *access) ensureKey(env *Env) error {
	path := keyPath(env)
	if fileExists(path) {
		return a.readKeys(path)
	}
	key := "sk-sampo-" + rand.Text()
	switch err := createFile(path, []byte(key+"\n")); {
	case errors.Is(err, fs.ErrExist): // another server that starts now made it
		return a.readKeys(path)
	case err != nil:
		return fmt.Errorf("serve: writing %s: %w", path, err)
	}
	a.keys, a.keyFile, a.alone, a.made = []server.Key{{Secret: key}}, path, true, true
	return nil
}

// shellKey is what a shell replaces by a key.
func (a *access) shellKey() string {
	if a.keyFile == "" {
		return "$SAMPO_API_KEY"
	}
	if a.alone {
		return "$(head -n 1 '" + a.keyFile + "')"
	}
	return "$(awk '{ gsub(/\\r/, \"\") } NF { print $1; exit }' '" + a.keyFile + "')"
}

// print tells who may use the server.
func (a *access) print(env *Env) {
	if len(a.outside) > 0 {
		fmt.Fprintf(env.Stdout, "  others   reach it at %s\n", strings.Join(a.outside, ", "))
	}
	switch {
	case a.made:
		fmt.Fprintf(env.Stdout, "  key      %s (kept in %s)\n", a.keys[0].Secret, a.keyFile)
	case a.keyFile != "":
		fmt.Fprintf(env.Stdout, "  key      in %s\n", a.keyFile)
	case len(a.keys) > 0:
		fmt.Fprintf(env.Stdout, "  key      from SAMPO_API_KEY\n")
	case !a.loopback:
		fmt.Fprintf(env.Stdout, "  key      none: anybody who can reach the address may use it\n")
	}
	if a.warning != "" {
		env.warn("%s", a.warning)
	}
}
