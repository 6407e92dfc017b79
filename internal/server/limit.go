// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// A limitedListener closes connections beyond a number at once: each costs memory before it has sent a byte.
type limitedListener struct {
	net.Listener
	s    *Server
	open atomic.Int64
}

func (s *Server) limited(l net.Listener) net.Listener { return &limitedListener{Listener: l, s: s} }

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= int64(l.s.cfg.MaxConnections) {
			return &countedConn{Conn: c, leave: func() { l.open.Add(-1) }}, nil
		}
		l.open.Add(-1)
		l.s.metrics.surplus.Inc()
		_ = c.Close()
	}
}

// A countedConn says when it is closed, once.
type countedConn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// headerCount returns how many lines a header has.
func headerCount(h http.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}
