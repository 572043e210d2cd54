// SPDX-License-Identifier: Apache-2.0

// Package hosttest has hosts that direct winnow elsewhere or answer without an end, for tests of what it requests. It must not
// know which verb requests.
package hosttest

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

// publicConn is a connection to a server of the test that has a public address.
type publicConn struct{ net.Conn }

func (publicConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 7), Port: 443} }

// ServePublic makes https://example.com a server with a public address, and returns a file with its authority. Only what may
// dial any address reaches it.
func ServePublic(t *testing.T, handler http.Handler) (authority string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	authority = filepath.Join(t.TempDir(), "ca.pem")
	clitest.WriteFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	before := http.DefaultTransport
	transport := before.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "example.com:443" {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		return publicConn{conn}, err
	}
	http.DefaultTransport = transport
	t.Cleanup(func() { transport.CloseIdleConnections(); http.DefaultTransport = before })
	Forgetful(t)
	return authority
}

// Forgetful leaves the process without a cache of charts and without credentials, and returns the directory of Docker's
// configuration.
func Forgetful(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	directory := t.TempDir()
	t.Setenv("DOCKER_CONFIG", directory)
	return directory
}

// Service is a service of the network, which records connections, and requests with their credentials.
type Service struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string
	conns    atomic.Int32
}

// StartService starts a service that ends with the test.
func StartService(t *testing.T, withTLS bool, handler http.HandlerFunc) *Service {
	t.Helper()
	s := &Service{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")))
		s.mu.Unlock()
		handler(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	if withTLS {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// Seen returns what the service has received since the last call.
func (s *Service) Seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := strings.Join(s.requests, ", ")
	if conns := s.conns.Swap(0); conns > 0 && found == "" {
		found = fmt.Sprintf("%d connections", conns)
	}
	s.requests = nil
	return found
}

// Port returns the port of the service.
func (s *Service) Port() string { return s.URL[strings.LastIndex(s.URL, ":")+1:] }

// Host returns the host and port of the service.
func (s *Service) Host() string { return s.Listener.Addr().String() }
