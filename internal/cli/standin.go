// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/sampo-ai/sampo/internal/server"
)

// A standIn answers while the models are being loaded: it tells its health, and whoever wants a model to come again.
type standIn struct {
	server   *server.Server
	listener net.Listener
	served   chan error
	drained  chan struct{}
}

// startStandIn serves on a listener until handOver.
func startStandIn(l net.Listener, cfg server.Config) *standIn {
	cfg.Loading = true
	s := &standIn{server: server.New(cfg), listener: l, served: make(chan error, 1), drained: make(chan struct{})}
	go func() { s.served <- s.server.Serve(lent{l}) }()
	return s
}

// handOver leaves the listener to the next server. Requests that still send their bodies end beside it, within wait.
func (s *standIn) handOver() error {
	go func() {
		defer close(s.drained)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.server.Shutdown(ctx) // nobody is left to tell
	}()
	err := <-s.served
	setDeadline(s.listener, time.Time{})
	return err
}

// leave ends without a successor, as soon as its requests have ended or another signal comes.
func (s *standIn) leave(signals <-chan os.Signal) error {
	err := errors.Join(s.handOver(), s.listener.Close())
	select {
	case <-s.drained:
	case <-signals:
	}
	return err
}

// wait returns when the last request has ended.
func (s *standIn) wait() { <-s.drained }

// A lent listener stays open when a server is done with it.
type lent struct{ net.Listener }

// Close makes Accept return.
func (l lent) Close() error {
	setDeadline(l.Listener, time.Now())
	return nil
}

// setDeadline says until when Accept waits; no time is for ever.
func setDeadline(l net.Listener, t time.Time) {
	_ = l.(*net.TCPListener).SetDeadline(t) // fails on closed ones only
}
