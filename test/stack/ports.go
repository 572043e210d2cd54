// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"net"
	"strings"
)

// loopback is the address on which the servers listen, unless there is a node.
const loopback = "127.0.0.1"

// host returns the address of the servers that pods reach.
func (s *Stack) host() string {
	if s.options.NodeAddress != "" {
		return s.options.NodeAddress
	}
	return loopback
}

// freeAddress returns a HOST:PORT on loopback that was free a moment ago. Another process may take it
// before the caller does; see startServer for the retry.
func freeAddress() (string, error) { return freeAddressOf(loopback) }

// freeAddressOf is freeAddress on another host of this machine.
func freeAddressOf(host string) (string, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", fmt.Errorf("picking a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("picking a free port: %w", err)
	}
	return address, nil
}

// freeAddresses returns n different free addresses.
func freeAddresses(n int) ([]string, error) {
	seen := map[string]bool{}
	addresses := make([]string, 0, n)
	for len(addresses) < n {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		if !seen[address] {
			seen[address] = true
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}

// lostPort reports whether a process ended because another process took its port.
func lostPort(log []byte) bool {
	return strings.Contains(string(log), "address already in use")
}
