// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// names is a name server for all names.
type names struct {
	mu sync.Mutex
	// answers are returned in turn, the last one from then on.
	answers []string
}

// resolve makes the process resolve all names to the answers.
func resolve(t *testing.T, answers ...string) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{answers: answers}
	go n.serve(server)
	preferGo, dial := net.DefaultResolver.PreferGo, net.DefaultResolver.Dial
	net.DefaultResolver.PreferGo = true
	net.DefaultResolver.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}
	t.Cleanup(func() {
		net.DefaultResolver.PreferGo, net.DefaultResolver.Dial = preferGo, dial
		_ = server.Close()
	})
}

func (n *names) serve(server net.PacketConn) {
	packet := make([]byte, 512)
	for {
		size, from, err := server.ReadFrom(packet)
		if err != nil {
			return
		}
		_, _ = server.WriteTo(n.answer(packet[:size]), from)
	}
}

// answer returns the response to a query for the addresses of one name (RFC 1035, 4.1).
func (n *names) answer(query []byte) []byte {
	const header, typeA = 12, 1
	end := header
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[header : end+5]
	response := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if binary.BigEndian.Uint16(query[end+1:]) != typeA {
		return response
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	address := netip.MustParseAddr(n.answers[0]).As4()
	if len(n.answers) > 1 {
		n.answers = n.answers[1:]
	}
	response[7] = 1
	response = append(response, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(response, address[:]...)
}
