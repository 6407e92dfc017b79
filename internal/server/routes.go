// SPDX-License-Identifier: Apache-2.0

package server

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// A routeTable finds routes by path and method.
type routeTable map[string]map[string]Route

// modelPath is the one path that takes everything below it: ids of models hold slashes.
const modelPath = "/v1/models/{id}"

func newRouteTable(list []Route) routeTable {
	t := routeTable{}
	for _, r := range list {
		if t[r.Path] == nil {
			t[r.Path] = map[string]Route{}
		}
		t[r.Path][r.Method] = r
	}
	return t
}

// find returns the routes of a path by method; nil if there are none. A slash at the end is passed over.
func (t routeTable) find(urlPath string) map[string]Route {
	clean := path.Clean("/" + urlPath)
	if methods := t[clean]; methods != nil {
		return methods
	}
	if strings.HasPrefix(clean, strings.TrimSuffix(modelPath, "{id}")) {
		return t[modelPath]
	}
	return nil
}

// method returns the route for a method. HEAD is answered like GET.
func method(routes map[string]Route, name string) (Route, bool) {
	if name == http.MethodHead {
		name = http.MethodGet
	}
	r, ok := routes[name]
	return r, ok
}

// allow returns the methods of a path as the Allow header lists them.
func allow(routes map[string]Route) string {
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
	s.handling.Add(1)
	defer s.handling.Add(-1)
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
	var key *Key
	if !ok || route.Scope != scopeOpen {
		var err error
		if key, err = s.checkKey(x.r); err != nil {
			return err
		}
		x.tenant = key.tenant()
	}
	switch {
	case routes == nil:
		return errUnknownURL(x.r, s.routes)
	case !ok:
		x.w.Header().Set("Allow", allow(routes))
		return errMethod(x.r)
	case !key.may(route):
		return errScope(x.id, key, route)
	}
	if err := checkQuery(x.r, route); err != nil {
		return err
	}
	x.route, x.api = route.Path, route.API
	if x.api != "" {
		x.span = s.cfg.Tracer.Start(x.r, x.route, x.begun)
	}
	return route.handle(s, x)
}

// checkQuery refuses parameters that a route below /api does not know: both ends of those are ours.
func checkQuery(r *http.Request, route Route) error {
	if !strings.HasPrefix(route.Path, "/api/") {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.ContainsFunc(route.Query, func(p Param) bool { return p.Name == name }) {
			p := errUnknownField(name)
			p.early = true
			return p
		}
	}
	return nil
}
