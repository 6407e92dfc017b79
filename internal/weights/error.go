// SPDX-License-Identifier: Apache-2.0

package weights

import "fmt"

// A FileError says what is wrong with a model file, and where.
type FileError struct {
	Format string // package that read it: "gguf", "safetensors"
	File   string // path as it was opened
	What   string // the part: `tensor "blk.0.ffn_up"`, `key "general.alignment"`, "header"
	Offset int64  // where in the file, in bytes; below 0: no single place
	Reason string // got and want, in words
}

// Error puts the fields in one line.
func (e *FileError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %s: %s: %s", e.Format, e.File, e.What, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %s at %#x: %s", e.Format, e.File, e.What, e.Offset, e.Reason)
}
