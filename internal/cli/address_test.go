// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestOriginsAreWhatBrowsersSend(t *testing.T) {
	for _, origin := range []string{"null", "http://localhost:3000", "https://app.example", "HTTPS://App.Example", "http://[::1]:80", "app://obsidian.md", "chrome-extension://abc"} {
		if !isOrigin(origin) {
			t.Errorf("%q is refused", origin)
		}
	}
	for _, origin := range []string{"", "*", "http://*", "app.example", "localhost:3000", "http://a.example/", "http://a.example/x", "http://a.example?", " http://a.example", "http://u@a.example", "http://"} {
		if isOrigin(origin) {
			t.Errorf("%q is taken", origin)
		}
	}
}

func TestHostsAreNamesOrAddressesAlone(t *testing.T) {
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "::", "fe80::1%eth0", "box.example"} {
		if !isHost(host) {
			t.Errorf("%q is refused", host)
		}
	}
	for _, host := range []string{"", "[::1]", "127.0.0.1:80", "box:80", "http://box", "a b", "*"} {
		if isHost(host) {
			t.Errorf("%q is taken", host)
		}
	}
}

// A host that this machine does not have was blamed on the port.
func TestAForeignHostIsNotBlamedOnThePort(t *testing.T) {
	bind := func(errno syscall.Errno) error {
		return &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", errno)}
	}
	for _, tt := range []struct {
		err  error
		flag string
	}{
		{bind(syscall.EADDRINUSE), "--port"},
		{bind(syscall.EACCES), "--port"},
		{bind(syscall.EADDRNOTAVAIL), "--host"},
		{&net.OpError{Op: "listen", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nosuch", IsNotFound: true}}, "--host"},
	} {
		got := listenError(tt.err)
		if _, hint, _ := strings.Cut(got.Error(), "; "); !strings.HasPrefix(hint, tt.flag) || !errors.Is(got, tt.err) {
			t.Errorf("%v: got %q, want a hint at %s", tt.err, got, tt.flag)
		}
	}
}

// zsh takes brackets for a pattern, and sampo api refused the address of a server that listened in a zone.
func TestAddressesOfIPv6AreThoseThatShellsAndURLsTake(t *testing.T) {
	for _, tt := range []struct{ host, url, inShell string }{
		{"127.0.0.1", "http://127.0.0.1:7", "http://127.0.0.1:7"},
		{"::1", "http://[::1]:7", "'http://[::1]:7'"},
		{"::", "http://127.0.0.1:7", "http://127.0.0.1:7"},
		{"fe80::1%eth0", "http://[fe80::1%25eth0]:7", "'http://[fe80::1%25eth0]:7'"},
	} {
		got := baseURL(tt.host, &net.TCPAddr{IP: net.IPv6loopback, Port: 7})
		if u, err := url.Parse(got); got != tt.url || err != nil || u.Port() != "7" || shellURL(got) != tt.inShell {
			t.Errorf("%s: got %s (%v) and %s, want %s and %s", tt.host, got, err, shellURL(got), tt.url, tt.inShell)
		}
	}
}
