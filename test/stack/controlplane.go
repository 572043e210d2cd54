// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
)

func (s *Stack) startEtcd(ctx context.Context) error {
	return s.startServer(ctx, Etcd, func(dir string) (launch, error) {
		addresses, err := freeAddresses(2)
		if err != nil {
			return launch{}, err
		}
		s.etcdURL = "http://" + addresses[0]
		peerURL := "http://" + addresses[1]
		return launch{
			args: []string{
				"--name=stack",
				"--data-dir=" + filepath.Join(dir, "data"),
				"--listen-client-urls=" + s.etcdURL,
				"--advertise-client-urls=" + s.etcdURL,
				"--listen-peer-urls=" + peerURL,
				"--initial-advertise-peer-urls=" + peerURL,
				"--initial-cluster=stack=" + peerURL,
				"--log-level=warn",
				"--unsafe-no-fsync", // the data need not survive a crash of the machine
			},
			ready: answers(http.DefaultClient, s.etcdURL+"/health"),
		}, nil
	})
}

func (s *Stack) startAPIServer(ctx context.Context) error {
	token := rand.Text()
	return s.startServer(ctx, APIServer, func(dir string) (launch, error) {
		address, err := freeAddressOf(s.host())
		if err != nil {
			return launch{}, err
		}
		args, err := s.apiServerArgs(dir, address, token)
		if err != nil {
			return launch{}, err
		}
		s.restConfig = &rest.Config{
			Host:        "https://" + address,
			BearerToken: token,
			// The server creates a self-signed certificate and writes the chain when it starts.
			TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, certificateFile)},
			QPS:             -1, // no limit
		}
		// Most of its garbage is that of requests, and memory is cheaper than CPU here.
		return launch{args: args, env: []string{"GOGC=400"}, ready: s.apiServerReady(s.restConfig.CAFile)}, nil
	})
}

// Files in the directory of the API server, which writes the certificate.
const (
	signingKeyFile  = "service-account.key"
	certificateFile = "apiserver.crt"
)

func (s *Stack) apiServerArgs(dir, address, token string) ([]string, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	signingKey := filepath.Join(dir, signingKeyFile)
	if err := writeSigningKey(signingKey); err != nil {
		return nil, fmt.Errorf("writing the signing key of ServiceAccount tokens: %w", err)
	}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	args := []string{
		"--etcd-servers=" + s.etcdURL,
		"--cert-dir=" + dir,
		"--bind-address=" + s.host(),
		"--advertise-address=" + s.host(),
		"--secure-port=" + port,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + signingKey,
		"--service-account-signing-key-file=" + signingKey,
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
	}
	if s.options.NodeAddress != "" {
		return append(args, "--endpoint-reconciler-type=lease"), nil
	}
	return append(args,
		"--endpoint-reconciler-type=none", // it rejects loopback addresses
		// No pods run here, and no controller creates the default ServiceAccount that the plugin requires.
		"--disable-admission-plugins=ServiceAccount",
	), nil
}

// apiServerReady returns a check that the server is ready. It reads the certificate each time, because the server
// writes it while it starts. The clients of client-go would cache the first one for minutes.
func (s *Stack) apiServerReady(certificate string) func(context.Context) error {
	return func(ctx context.Context) error {
		chain, err := os.ReadFile(certificate)
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(chain) {
			return fmt.Errorf("%s has no certificate yet", certificate)
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		defer transport.CloseIdleConnections()
		return answers(&http.Client{Transport: transport}, s.restConfig.Host+"/readyz")(ctx)
	}
}

// writeSigningKey writes a signing key unless an earlier attempt has written one.
func writeSigningKey(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}
