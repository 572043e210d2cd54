// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/winnow-dev/winnow/render/each"
)

// scope is where an address is valid. All but the public one are internal.
type scope int32

const (
	publicScope scope = iota
	privateScope
	linkScope
	machineScope
)

// insideError is returned for an internal address.
type insideError struct{ address netip.Addr }

func (e *insideError) Error() string { return e.address.String() + " is an internal address" }

var (
	// reserved are the addresses that the registries of IANA for special purposes do not call reachable from anywhere, beside the
	// ones that netip knows and the addresses of documents, which nobody has: shared by clouds and clusters, of benchmarks, of
	// protocols, for later use, of sites.
	reserved = prefixes("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "64:ff9b:1::/48", "100::/64", "2001::/23", "5f00::/16", "fec0::/10")
	// machine is the network of this machine.
	machine = netip.MustParsePrefix("0.0.0.0/8")
	// ends and tunneled are the addresses of IPv6 that have one of IPv4 at their end, by RFC 6052 and RFC 4291, or behind their
	// beginning, by RFC 3056.
	ends     = prefixes("64:ff9b::/96", "::/96")
	tunneled = netip.MustParsePrefix("2002::/16")
)

func prefixes(all ...string) (found []netip.Prefix) {
	return each.Map(all, netip.MustParsePrefix)
}

func isIn(all []netip.Prefix, at netip.Addr) bool {
	return slices.ContainsFunc(all, func(prefix netip.Prefix) bool { return prefix.Contains(at) })
}

// unwrapped returns the address of IPv4 that one of IPv6 stands for, or else the address.
func unwrapped(at netip.Addr) netip.Addr {
	at = at.Unmap().WithZone("")
	bytes := at.As16()
	switch {
	case at.IsLoopback(), at.IsUnspecified():
	case isIn(ends, at):
		return netip.AddrFrom4([4]byte(bytes[12:]))
	case tunneled.Contains(at):
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	return at
}

func scopeOf(at netip.Addr) scope {
	switch at = unwrapped(at); {
	case at.IsLoopback(), machine.Contains(at), at.IsUnspecified():
		return machineScope
	case at.IsLinkLocalUnicast(), at.IsLinkLocalMulticast():
		return linkScope
	case at.IsPrivate(), isIn(reserved, at):
		return privateScope
	}
	return publicScope
}

// within is the Control of a net.Dialer that connects to public addresses, and to other ones of the scope that near returns. The
// name may have had another address when it was checked.
func within(near func() scope) func(network, address string, conn syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if found := scopeOf(at.Addr()); found != publicScope && found != near() {
			return &insideError{unwrapped(at.Addr())}
		}
		return nil
	}
}

// dialing returns a transport like base, without its proxy, with a control for the addresses that it dials.
func dialing(base *http.Transport, control func(network, address string, conn syscall.RawConn) error) *http.Transport {
	checked := base.Clone()
	checked.Proxy = nil
	checked.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: control}).DialContext
	checked.DisableKeepAlives = true // few requests, and idle connections would stay open
	return checked
}

// resolvesInside returns an *insideError if the host of a URL has an internal address. A name that cannot be resolved is one
// that only a proxy knows, or fails when it is dialed.
func resolvesInside(ctx context.Context, at *url.URL) error {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Hostname())
	if err != nil {
		return nil
	}
	for _, address := range found {
		if scopeOf(address) != publicScope {
			return &insideError{unwrapped(address)}
		}
	}
	return nil
}
