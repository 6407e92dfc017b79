// SPDX-License-Identifier: Apache-2.0

// Command sampo runs language models on this machine and serves them through the APIs that existing clients speak.
package main

import (
	"os"

	"github.com/sampo-ai/sampo/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.System()))
}
