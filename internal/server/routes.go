// SPDX-License-Identifier: Apache-2.0

package server

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// A handler answers one request. What it returns before anything was sent becomes an error body.
type handler func(x *exchange) error

// A route is a method and a path. A path that ends in "/" takes everything below it.
type route struct {
	method string
	path   string
	api    string // what metrics call it; "" for routes that generate nothing
	open   bool   // no key is needed
	handle handler
}

// A routeTable finds routes by path and method.
type routeTable map[string]map[string]route

func (s *Server) table() routeTable {
	list := []route{
		{http.MethodPost, "/v1/chat/completions", "chat", false, s.chat},
		{http.MethodPost, "/v1/completions", "completions", false, s.complete},
		{http.MethodPost, "/v1/embeddings", "", false, s.unsupported},
		{http.MethodPost, "/rerank", "", false, s.unsupported},
		{http.MethodPost, "/v1/rerank", "", false, s.unsupported},
		{http.MethodPost, "/v2/rerank", "", false, s.unsupported},
		{http.MethodPost, "/score", "", false, s.unsupported},
		{http.MethodPost, "/v1/score", "", false, s.unsupported},
		{http.MethodGet, "/v1/models", "", false, s.listModels},
		{http.MethodGet, "/v1/models/", "", false, s.showModel},
		{http.MethodPost, "/tokenize", "", false, s.tokenize},
		{http.MethodPost, "/detokenize", "", false, s.detokenize},
		{http.MethodGet, "/tokenizer_info", "", false, s.tokenizerInfo},
		{http.MethodGet, "/load", "", false, s.load},
		{http.MethodGet, "/v1/load", "", false, s.load},
		{http.MethodGet, "/metrics", "", true, s.metricsPage},
		{http.MethodGet, "/api/health", "", false, s.apiHealth},
		{http.MethodGet, "/health", "", true, s.health},
		{http.MethodGet, "/ping", "", true, s.ping},
		{http.MethodPost, "/ping", "", true, s.ping},
		{http.MethodGet, "/version", "", true, s.version},
		{http.MethodGet, "/", "", true, s.page},
		{http.MethodGet, "/v1", "", true, s.page},
	}
	t := routeTable{}
	for _, r := range list {
		if t[r.path] == nil {
			t[r.path] = map[string]route{}
		}
		t[r.path][r.method] = r
	}
	return t
}

// find returns the routes of a path by method; nil if there are none. A slash at the end is passed over.
func (t routeTable) find(urlPath string) map[string]route {
	clean := path.Clean("/" + urlPath)
	if methods := t[clean]; methods != nil {
		return methods
	}
	const below = "/v1/models/"
	if strings.HasPrefix(clean, below) {
		return t[below]
	}
	return nil
}

// method returns the route for a method. HEAD is answered like GET.
func method(routes map[string]route, name string) (route, bool) {
	if name == http.MethodHead {
		name = http.MethodGet
	}
	r, ok := routes[name]
	return r, ok
}

// allow returns the methods of a path as the Allow header lists them.
func allow(routes map[string]route) string {
	names := slices.Collect(maps.Keys(routes))
	if slices.Contains(names, http.MethodGet) {
		names = append(names, http.MethodHead)
	}
	names = append(names, http.MethodOptions)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ServeHTTP takes a request through the checks that come before its body, and to its handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.newExchange(w, r)
	defer x.end()
	if err := s.serve(x); err != nil {
		x.fail(err)
	}
}

func (s *Server) serve(x *exchange) error {
	if headerCount(x.r.Header) > maxHeaders {
		return errHeaders
	}
	if err := s.checkBrowser(x.r); err != nil {
		return err
	}
	s.grantOrigin(x)
	routes := s.routes.find(x.r.URL.Path)
	if x.r.Method == http.MethodOptions && routes != nil {
		x.w.Header().Set("Allow", allow(routes))
		x.status = http.StatusNoContent
		x.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	route, ok := method(routes, x.r.Method)
	if !ok || !route.open {
		tenant, err := s.checkKey(x.r)
		if err != nil {
			return err
		}
		x.tenant = tenant
	}
	switch {
	case routes == nil:
		return errUnknownURL(x.r)
	case !ok:
		x.w.Header().Set("Allow", allow(routes))
		return errMethod(x.r)
	}
	x.route, x.api = route.path, route.api
	return route.handle(x)
}
