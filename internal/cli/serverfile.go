// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// A serverFile tells other commands of this home which server runs.
type serverFile struct {
	URL     string `json:"url"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

func serverPath(env *Env) string { return filepath.Join(env.home(), "server.json") }

// keyPath is where the key lies that --public makes.
func keyPath(env *Env) string { return filepath.Join(env.home(), "api-key") }

// writeServerFile tells of a server that listens. The function that it returns takes the file away again, unless another
// server has taken it over. A home that can't be written is no reason not to serve.
func writeServerFile(env *Env, address string) (remove func()) {
	mine := serverFile{address, os.Getpid(), Version}
	data, err := json.Marshal(mine)
	if err == nil {
		err = replaceFile(serverPath(env), append(data, '\n'))
	}
	if err != nil {
		env.warn("other commands will not find this server: %v", err)
	}
	return func() {
		if running, ok := readServerFile(env); ok && running == mine {
			_ = os.Remove(serverPath(env))
		}
	}
}

// readServerFile returns the server that runs with this home, as far as is known. What is no file of ours tells of none.
func readServerFile(env *Env) (serverFile, bool) {
	var running serverFile
	data, err := readSmall(serverPath(env))
	if err != nil || json.Unmarshal(data, &running) != nil || running.URL == "" {
		return serverFile{}, false
	}
	return running, true
}
