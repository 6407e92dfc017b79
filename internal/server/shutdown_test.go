// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net"
	"testing"
	"time"
)

// Clients open connections ahead of need. A shutdown that waits for their first request takes five seconds.
func TestShutdownDoesNotWaitForConnectionsWithoutARequest(t *testing.T) {
	s := New(Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	waitFor(t, "the connection", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.fresh) == 1
	})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil || ctx.Err() != nil {
		t.Errorf("Shutdown = %v, context %v; want it to end at once", err, ctx.Err())
	}
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}
