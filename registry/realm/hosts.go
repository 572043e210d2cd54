// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Flag is the name of the flag with the Hosts, in all programs.
const Flag = "allowed-token-hosts"

// Hosts are the token hosts that are requested wherever they are. The zero value allows none. It implements
// pflag.Value.
type Hosts struct{ addresses []string }

// Set adds a comma-separated list of HOST or HOST:PORT. Without a port, the port is 443.
func (h *Hosts) Set(list string) error {
	for host := range strings.SplitSeq(list, ",") {
		at, err := url.Parse("https://" + host)
		if err != nil || at.Hostname() == "" || at.Host != host {
			return fmt.Errorf("%q is no HOST or HOST:PORT: write it without a scheme and a path", host)
		}
		h.addresses = append(h.addresses, address(at))
	}
	return nil
}

// String is part of pflag.Value.
func (h *Hosts) String() string { return strings.Join(h.addresses, ",") }

// Type is part of pflag.Value.
func (h *Hosts) Type() string { return "strings" }

// has reports whether the host and the port of an address are allowed.
func (h *Hosts) has(at *url.URL) bool { return slices.Contains(h.addresses, address(at)) }

// address returns the host and the port of a URL, in one form for all that mean the same.
func address(at *url.URL) string {
	port := at.Port()
	switch {
	case port != "":
	case at.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(at.Hostname()), port)
}
