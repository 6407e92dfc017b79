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
	return httptest.NewServer(p)
}

// proveCases runs each mutation's case with and without it. It returns how many mutations went unnoticed.
func proveCases(cl *client, only string) int {
	byNumber := map[int]testCase{}
	for _, tc := range cases() {
		byNumber[tc.number] = tc
	}
	target, err := url.Parse(cl.url)
	if err != nil {
		fmt.Println("conformance:", err)
		return 1
	}
	missed := 0
	for _, m := range mutations {
		if !selected(only, m.number) {
			continue
		}
		tc := byNumber[m.number]
		verdict, details := perform(cl, tc)
		result := "caught"
		if verdict == "ok" {
			verdict, details = mutated(cl, target, m, tc)
			if verdict != "FAIL" {
				result, missed = "MISSED", missed+1
			}
		} else {
			result = "no use: " + verdict
		}
		fmt.Printf("%4d  %-8s  %-40s %.140s\n", m.number, result, m.what, details)
	}
	return missed
}

// mutated runs a case behind the proxy.
func mutated(cl *client, target *url.URL, m mutation, tc testCase) (verdict, details string) {
	p := proxy(target, m)
	defer p.Close()
	behind := *cl
	behind.url = p.URL
	return perform(&behind, tc)
}
