// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// acceptPause is how long the log is silent about connections that cannot be accepted, once it told of them.
const acceptPause = time.Minute

// A limitedListener closes connections beyond a number at once: each costs memory before it has sent a byte.
type limitedListener struct {
	net.Listener
	s    *Server
	open atomic.Int64
	told time.Time // when the log last told that there was no room for a connection; Accept's own
}

func (s *Server) limited(l net.Listener) net.Listener { return &limitedListener{Listener: l, s: s} }

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			l.tell(err, time.Now())
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

// tell logs that the system has no file for a connection. The HTTP server waits then and tries again, and clients see nothing
// but that no answer comes.
func (l *limitedListener) tell(err error, now time.Time) {
	full := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
	if !full || now.Sub(l.told) < acceptPause {
		return
	}
	l.told = now
	l.s.log.Warn("connections wait: the process or the system may open no more files", "connections", l.open.Load(), "error", err)
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
