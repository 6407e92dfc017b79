// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
)

type questionKey struct{}

// withQuestion and questionOf carry a question from a proxy's request to its answer.
func withQuestion(ctx context.Context, q *question) context.Context {
	return context.WithValue(ctx, questionKey{}, q)
}

func questionOf(ctx context.Context) *question {
	if q, ok := ctx.Value(questionKey{}).(*question); ok {
		return q
	}
	return &question{}
}

// proxy stands before a server and applies a mutation.
func proxy(target *url.URL, m mutation) *httptest.Server {
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			// The proxy names no client: the server checks where requests come from.
			body, _ := io.ReadAll(r.In.Body)
			q := &question{path: r.In.URL.Path, header: r.Out.Header, body: string(body)}
			_ = json.Unmarshal(body, &q.fields) // bodies need not be JSON
			if m.ask != nil {
				m.ask(q)
			}
			r.Out.Body = io.NopCloser(strings.NewReader(q.body))
			r.Out.ContentLength = int64(len(q.body))
			*r.In = *r.In.WithContext(withQuestion(r.In.Context(), q))
			*r.Out = *r.Out.WithContext(r.In.Context())
		},
		ModifyResponse: func(resp *http.Response) error {
			if m.answer == nil {
				return nil
			}
			data, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			a := &reaction{status: resp.StatusCode, header: resp.Header, body: string(data)}
			m.answer(questionOf(resp.Request.Context()), a)
			resp.StatusCode, resp.ContentLength = a.status, int64(len(a.body))
			resp.Header.Set("Content-Length", strconv.Itoa(len(a.body)))
			resp.Body = io.NopCloser(bytes.NewReader([]byte(a.body)))
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	if m.what != earlyStatus {
		return httptest.NewServer(p)
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		p.ServeHTTP(w, r)
	}))
}

// proveCases runs each mutation's cases with and without it. It returns how many mutations went unnoticed, and how many
// cases that can be run no mutation is for.
func proveCases(cl *client, list []testCase) int {
	missed := 0
	for _, tc := range list {
		if verdict, details := perform(cl, tc); verdict != "ok" {
			fmt.Printf("%4d  %-8s  %-40s %.140s\n", tc.number, "no use", tc.title, verdict+": "+details)
			continue
		}
		tried, caught := 0, false
		for _, m := range mutations {
			if m.number != tc.number {
				continue
			}
			verdict, details := mutated(cl, m, tc)
			result := "caught"
			if verdict != "FAIL" {
				result = "passed"
			}
			tried, caught = tried+1, caught || verdict == "FAIL"
			fmt.Printf("%4d  %-8s  %-40s %.140s\n", m.number, result, m.what, details)
		}
		if !caught {
			missed++
			fmt.Printf("%4d  MISSED    %s: %d mutations\n", tc.number, tc.title, tried)
		}
	}
	return missed
}

// mutated runs a case behind the proxy, which stands before the case's own server if it has one.
func mutated(cl *client, m mutation, tc testCase) (verdict, details string) {
	if start := ownServers[tc.title]; start != nil {
		s := start()
		defer s.close()
		cl = s.client()
	}
	target, err := url.Parse(cl.url)
	if err != nil {
		return "ok", err.Error()
	}
	p := proxy(target, m)
	defer p.Close()
	behind := *cl
	behind.url = p.URL
	return verdictOf(&behind, tc)
}
