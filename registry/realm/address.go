// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"syscall"
)

// insideError is returned for an internal address.
type insideError struct{ address netip.Addr }

func (e *insideError) Error() string { return e.address.String() + " is an internal address" }

func (e *insideError) refuse(at *url.URL) error {
	return &RefusedError{address(at), "which has the internal address " + e.address.String()}
}

// shared is the address space of RFC 6598, in which clouds and clusters have services as well.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// internal reports whether an address is of this machine or of a private network, as oras-go defines it.
func internal(at netip.Addr) bool {
	at = at.Unmap()
	return at.IsLoopback() || at.IsLinkLocalUnicast() || at.IsLinkLocalMulticast() || at.IsPrivate() || at.IsUnspecified() || shared.Contains(at)
}

// refuseInternal is the Control of a net.Dialer: the name may have another address than when it was checked.
func refuseInternal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if internal(at.Addr()) {
		return &insideError{at.Addr().Unmap()}
	}
	return nil
}

// resolvesInside returns a *RefusedError if the host of a URL has an internal address. A name that cannot be resolved
// is one that only a proxy knows, or fails when it is dialed.
func resolvesInside(ctx context.Context, at *url.URL) error {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Hostname())
	if err != nil {
		return nil
	}
	for _, address := range found {
		if internal(address) {
			return (&insideError{address.Unmap()}).refuse(at)
		}
	}
	return nil
}
