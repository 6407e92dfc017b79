// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package cli

// posixModes says that a file's mode tells who may read it.
const posixModes = true
