// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/tracing"
)

const (
	defaultMaxBody        = 64 << 20
	defaultMaxConnections = 10_000
	maxHeaderBytes        = 64 << 10
	maxHeaders            = 100
	headerTimeout         = 5 * time.Second
	readTimeout           = 30 * time.Second // for a body, and more for a long one that comes
	idleTimeout           = 120 * time.Second
	writeTimeout          = 30 * time.Second // for one event or body
	endTimeout            = 5 * time.Second  // for requests that were told to end
	lastLineTime          = time.Second      // for handlers whose connections were closed
)

// A Model is a model that the server offers.
type Model struct {
	*answer.Model
	Owner          string // "huggingface" for models of the hub; "" counts as "sampo"
	TokenizerClass string // as the model's own configuration names it; may be empty
	HeldBytes      int64  // memory that weights and cache may take; 0 if it is not known
}

// An AbsentModel is on this machine's disk and not in memory: it does not fit beside what is.
type AbsentModel struct {
	Name        string
	Owner       string // as that of a Model
	NeededBytes int64  // weights and the smallest cache
	Tier        string // what would run it
}

// Config says what a server offers and to whom.
type Config struct {
	Absent         []AbsentModel // known, but not in memory; listed after the others
	Models         []Model       // those in memory, in the order in which they are listed
	Loading        bool          // the models are on their way: what needs one is told to come again
	Version        string
	Revision       string          // of the build; part of the fingerprint
	Address        string          // base URL to show to people, such as http://127.0.0.1:7267
	Keys           []Key           // accepted keys; none: any key or none will do
	Loopback       bool            // bound to this machine only: foreign hosts and origins are refused
	Hosts          []string        // further host names that the Host header may have
	Origins        []string        // origins of web pages that may call the server
	MaxBody        int64           // bytes of a request body; 0: 64 MiB
	MaxConnections int             // more are closed at once; 0: 10,000
	EarlyHeaders   bool            // send a stream's headers before its first token
	Log            *slog.Logger    // nil: nothing is logged
	Tracer         *tracing.Tracer // nil: no spans
	Secret         []byte          // keeps the caches of keys apart; nil: a new one, so that no cache on a disk outlives the process
}

// A Server answers HTTP requests. Make one with New.
type Server struct {
	cfg                       Config
	http                      *http.Server
	routes                    routeTable
	models                    map[string]Model
	secret                    [sha256.Size]byte // of this process, for salts
	hosts                     map[string]bool
	origins                   map[string]bool
	log                       *slog.Logger
	metrics                   *metrics
	readTimeout, writeTimeout time.Duration
	endTimeout                time.Duration
	created                   time.Time
	fingerprint               string

	mu    sync.Mutex            // guards fresh
	fresh map[net.Conn]struct{} // connections that have sent nothing yet

	handling   atomic.Int64 // requests whose access log is not written
	generating atomic.Int64 // generation requests in flight
	draining   atomic.Bool
	stopAll    context.CancelCauseFunc // ends the contexts of all requests
}

// New returns a server that is ready to serve.
func New(cfg Config) *Server {
	if cfg.MaxBody == 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = defaultMaxConnections
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, log: cfg.Log, created: time.Now(), models: map[string]Model{}, hosts: map[string]bool{}, origins: map[string]bool{}, fresh: map[net.Conn]struct{}{}, readTimeout: readTimeout, writeTimeout: writeTimeout, endTimeout: endTimeout}
	for _, m := range cfg.Models {
		s.models[m.Name] = m
	}
	s.cfg.Keys = slices.Clone(cfg.Keys)
	for i := range s.cfg.Keys {
		s.cfg.Keys[i].sum = sha256.Sum256([]byte(cfg.Keys[i].Secret))
	}
	for _, host := range cfg.Hosts {
		s.hosts[strings.ToLower(host)] = true
	}
	if name, err := os.Hostname(); err == nil {
		s.hosts[strings.ToLower(name)] = true
	}
	for _, origin := range cfg.Origins {
		s.origins[strings.ToLower(origin)] = true
	}
	_, _ = rand.Read(s.secret[:]) // never fails
	if cfg.Secret != nil {
		s.secret = sha256.Sum256(cfg.Secret)
	}
	s.metrics = newMetrics(&s.cfg)
	s.fingerprint = fingerprint(cfg)
	s.routes = newRouteTable(Routes())
	base, stopAll := context.WithCancelCause(context.Background())
	s.stopAll = stopAll
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return base }, ConnState: s.note,
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	s.http.SetKeepAlivesEnabled(!cfg.Loading) // the next request goes to the server that has the models
	return s
}

// fingerprint names the build, the models and their engines: equal ones give equal answers to equal seeds.
func fingerprint(cfg Config) string {
	h := sha256.New()
	for _, part := range append([]string{cfg.Version, cfg.Revision}, modelNames(cfg.Models)...) {
		h.Write([]byte(part + "\x00"))
	}
	return "sampo-" + cfg.Version + "-" + hex.EncodeToString(h.Sum(nil))[:8]
}

func modelNames(models []Model) []string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name+"@"+m.Tier())
	}
	return names
}

// Serve answers requests on l until Shutdown or Close. It then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(s.limited(l)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// note keeps track of the connections that have sent nothing yet.
func (s *Server) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = struct{}{}
		return
	}
	delete(s.fresh, c)
}

// closeFresh closes connections that have sent nothing: clients open some ahead of need, and a shutdown would wait
// seconds for their first request.
func (s *Server) closeFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		_ = c.Close()
	}
}

// Shutdown stops accepting requests and lets those that run finish. When ctx ends, the rest end with an error that
// says so. It returns when no request is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.closeFresh()
	err := s.http.Shutdown(ctx)
	s.stopAll(errShuttingDown)
	if err == nil {
		return nil
	}
	// What was told to end still has to send its last words.
	last, cancel := context.WithTimeout(context.Background(), s.endTimeout)
	defer cancel()
	if s.http.Shutdown(last) == nil {
		return nil
	}
	err = s.http.Close()
	s.awaitHandlers()
	return err
}

// awaitHandlers waits for the access log of requests whose connections are closed.
func (s *Server) awaitHandlers() {
	for end := time.Now().Add(lastLineTime); s.handling.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// Close ends everything at once.
func (s *Server) Close() error {
	s.draining.Store(true)
	s.stopAll(errShuttingDown)
	return s.http.Close()
}
