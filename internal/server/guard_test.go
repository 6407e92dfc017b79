// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// Proxies that ask for the health as HTTP/1.0 does, without a Host, were refused.
func TestARequestWithoutAHostIsAnsweredIfItsVersionNeedsNone(t *testing.T) {
	s := say(t, "hi")
	for request, want := range map[string]string{
		"GET /health HTTP/1.0\r\n\r\n":                                 "200",
		"GET /health HTTP/1.0\r\nHost: evil.example\r\n\r\n":           "403",
		"GET /health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n":   "403",
		"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n":            "400",
		"GET /health HTTP/1.0\r\nOrigin: https://evil.example\r\n\r\n": "403",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(conn, request); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if fields := strings.Fields(string(answer)); err != nil || len(fields) < 2 || fields[1] != want {
			t.Errorf("%q: got %.60q, %v; want %s", request, answer, err, want)
		}
		_ = conn.Close()
	}
}
