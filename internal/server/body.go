// SPDX-License-Identifier: Apache-2.0

package server

import "net/http"

// wholeBytes is how long a body may be to be sent with its length. Longer ones leave while they are made.
const wholeBytes = 1 << 20

// A bodyWriter sends a JSON body.
type bodyWriter struct {
	x    *exchange
	held []byte // nothing was sent yet
}

// Write implements io.Writer.
func (b *bodyWriter) Write(p []byte) (int, error) {
	if b.x.status == 0 && len(b.held)+len(p) <= wholeBytes {
		b.held = append(b.held, p...)
		return len(p), nil
	}
	if b.x.status == 0 {
		b.x.status = http.StatusOK
		b.x.w.Header().Set("Content-Type", "application/json")
		b.x.w.WriteHeader(http.StatusOK)
		if err := b.send(b.held); err != nil {
			return 0, err
		}
		b.held = nil
	}
	return len(p), b.send(p)
}

// send gives the client time for a piece.
func (b *bodyWriter) send(p []byte) error {
	b.x.extendWrite()
	_, err := b.x.w.Write(p)
	return err
}

// end sends what was held.
func (b *bodyWriter) end() error {
	if b.x.status != 0 {
		return nil
	}
	return b.x.sendJSON(b.held)
}
