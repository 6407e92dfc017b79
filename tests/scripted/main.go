// SPDX-License-Identifier: Apache-2.0

// Command scripted writes the model of internal/testkit/scriptmodel to a file:
//
//	go run ./tests/scripted scripted.gguf
//	go run ./cmd/sampo serve scripted.gguf
//	go run ./tests/conformance
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scripted FILE.gguf")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(scriptmodel.Write(file), file.Close())
}
