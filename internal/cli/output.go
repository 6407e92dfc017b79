// SPDX-License-Identifier: Apache-2.0

package cli

import "io"

// An output is standard output. It keeps the first error, since much of what prints lets it fall: a result that nobody got is a
// failure, as on a full disk.
type output struct {
	w   io.Writer
	err error
}

// Write writes to what is behind it.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
