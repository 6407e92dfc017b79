// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkBrowser refuses what only a foreign web page would send: on loopback, where no key protects, a page could
// otherwise drive the server, or reach it under a name of its own (DNS rebinding).
func (s *Server) checkBrowser(r *http.Request) error {
	nameless := r.Host == "" && !r.ProtoAtLeast(1, 1) // as checks of proxies are, and no browser's request is
	if (s.cfg.Loopback || len(s.cfg.Hosts) > 0) && !nameless && !s.hostAllowed(r.Host) {
		return errOrigin("The host %q is not one of this server's names.", r.Host)
	}
	if !s.cfg.Loopback {
		return nil
	}
	origin := r.Header.Get("Origin")
	if origin != "" && !s.originAllowed(origin, r.Host) {
		return errOrigin("Requests from the origin %q are refused.", origin)
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	if !reads && r.Header.Get("Sec-Fetch-Site") == "cross-site" && !s.origins[strings.ToLower(origin)] {
		return errOrigin("Requests from other sites are refused.")
	}
	return nil
}

// hostAllowed reports whether a Host header names this machine.
func (s *Server) hostAllowed(header string) bool {
	host := hostOnly(header)
	if s.hosts[host] || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsPrivate()) && ip.Zone() == ""
}

// hostOnly returns a host in lower case without port, brackets and final dot.
func hostOnly(header string) string {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originAllowed reports whether an origin is listed, this server's own, or another program on this machine.
func (s *Server) originAllowed(origin, host string) bool {
	if s.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	name := hostOnly(u.Host)
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || name == hostOnly(host) || err == nil && ip.IsLoopback()
}

// grantOrigin lets a listed origin read the answer.
func (s *Server) grantOrigin(x *exchange) {
	origin := x.r.Header.Get("Origin")
	if !s.origins[strings.ToLower(origin)] || origin == "" {
		return
	}
	h := x.w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-Sampo-Notice, Retry-After, X-Should-Retry")
	if x.r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
		h.Add("Vary", "Access-Control-Request-Headers")
		// Client libraries send some of their own; an origin that may call may send what it likes.
		if names := x.r.Header.Get("Access-Control-Request-Headers"); names != "" {
			h.Set("Access-Control-Allow-Headers", names)
		}
		if x.r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			h.Set("Access-Control-Allow-Private-Network", "true")
		}
		h.Set("Access-Control-Max-Age", "600")
	}
}

// A Key is a secret that a client must send, and what it may be used for.
type Key struct {
	Secret string
	Scopes []Scope // nil: all

	sum [sha256.Size]byte // of Secret
}

// tenant names the key without telling it. No key is nobody's.
func (k *Key) tenant() string {
	if k == nil {
		return ""
	}
	return "key-" + hex.EncodeToString(k.sum[:4])
}

// may reports whether a key opens a route. Without keys everything is open.
func (k *Key) may(r Route) bool {
	return k == nil || k.Scopes == nil || r.Scope == scopeAny || slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return s == ScopeAdmin || s == r.Scope || s == r.Also
	})
}

// checkKey refuses a request without one of the keys, if there are any. Of two headers one valid key is enough. It
// returns the key, or nil where none is needed.
func (s *Server) checkKey(r *http.Request) (*Key, error) {
	if len(s.cfg.Keys) == 0 {
		return nil, nil
	}
	sent := []string{r.Header.Get("X-Api-Key")}
	if scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		sent = append(sent, strings.TrimSpace(key))
	}
	valid, which, any := 0, 0, false
	for _, key := range sent {
		any = any || key != ""
		sum := sha256.Sum256([]byte(key))
		// All keys are compared, each in constant time: the time tells nothing about them.
		for i := range s.cfg.Keys {
			equal := subtle.ConstantTimeCompare(sum[:], s.cfg.Keys[i].sum[:])
			which = subtle.ConstantTimeSelect(equal, i, which)
			valid |= equal
		}
	}
	if valid == 1 {
		return &s.cfg.Keys[which], nil
	}
	reason := "missing"
	if any {
		reason = "wrong"
	}
	s.metrics.keys.WithLabelValues(reason).Inc()
	return nil, errKey(any)
}

// cacheSalt keeps the cached prompts of tenants apart, where there are several: how soon a first token comes would
// otherwise tell what others have asked. The client's own salt divides further.
func (s *Server) cacheSalt(tenant, salt string) string {
	if len(s.cfg.Keys) < 2 {
		return salt
	}
	mac := hmac.New(sha256.New, s.secret[:])
	mac.Write([]byte(tenant))
	return hex.EncodeToString(mac.Sum(nil)) + salt
}
