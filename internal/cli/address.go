// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// checkAddresses refuses addresses that nobody could listen on, or that no client would ever send.
func (f *serveFlags) checkAddresses() error {
	if !isHost(f.host) && f.host != "" {
		return usagef("--host: got %q, want a name or an address alone, such as 127.0.0.1 or ::1; --port has the port", f.host)
	}
	if f.public && f.hostGiven && isLoopback(f.host) {
		return usagef("--public listens for other machines, and --host %s for this one only: give one of them", f.host)
	}
	for _, host := range f.hosts {
		if !isHost(host) {
			return usagef("--allowed-hosts: got %q, want a name alone, such as box.example", host)
		}
	}
	for _, origin := range f.origins {
		if !isOrigin(origin) {
			return usagef("--allowed-origins: got %q, want an origin such as https://app.example or http://box.example:8080, without a path", origin)
		}
	}
	return nil
}

// isHost says whether text is a name or an address, without scheme, port and brackets.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return text != "" && !strings.ContainsAny(text, ":/@[]*, \t")
}

// isOrigin says whether a browser may send text as the origin of a page. Pages of files have null.
func isOrigin(text string) bool {
	if text == "null" {
		return true
	}
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.Host != "*" && strings.EqualFold(text, u.Scheme+"://"+u.Host)
}

// listenError says what may help where nobody can listen: another port, unless the address is none of this machine.
func listenError(err error) error {
	hint := "--port chooses another port, 0 a free one"
	var unknown *net.DNSError
	if errors.As(err, &unknown) || errors.Is(err, syscall.EADDRNOTAVAIL) {
		hint = "--host takes an address of this machine"
	}
	return fmt.Errorf("serve: %w; %s", err, hint)
}
