// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/bcrypt"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// registryConfig has a fixed secret, because the registry warns of a random one in the log.
const registryConfig = `version: 0.1
log: {level: warn, accesslog: {disabled: true}}
storage:
  filesystem: {rootdirectory: %q}
  delete: {enabled: true}
http:
  addr: %q
  secret: stack
`

// secureConfig follows registryConfig for a registry with TLS and passwords.
const secureConfig = `  tls: {certificate: %q, key: %q}
auth: {htpasswd: {realm: stack, path: %q}}
`

func (s *Stack) startRegistry(ctx context.Context) error {
	if !s.options.Registry {
		return nil
	}
	return s.startServer(ctx, Registry, func(dir string) (launch, error) {
		address, err := freeAddressOf(s.host())
		if err != nil {
			return launch{}, err
		}
		s.registryHost = address
		return registryLaunch(dir, address, "", answers(http.DefaultClient, "http://"+address+"/"))
	})
}

func registryLaunch(dir, address, more string, ready func(context.Context) error) (launch, error) {
	config := filepath.Join(dir, "config.yaml")
	content := fmt.Sprintf(registryConfig, filepath.Join(dir, "data"), address) + more
	return launch{args: []string{"serve", config}, ready: ready}, os.WriteFile(config, []byte(content), 0o600)
}

// StartRegistry starts one more registry and returns its HOST:PORT. The options must include Registry, too.
// It serves plain HTTP; config is appended to its configuration, such as auth.
func (s *Stack) StartRegistry(ctx context.Context, name, config string) (string, *Process, error) {
	host := ""
	p, err := s.startAnother(ctx, name, func(dir string) (l launch, err error) {
		if host, err = freeAddress(); err != nil {
			return launch{}, err
		}
		return registryLaunch(dir, host, config, answers(http.DefaultClient, "http://"+host+"/"))
	})
	return host, p, err
}

func (s *Stack) startAnother(ctx context.Context, name string, configure func(dir string) (launch, error)) (*Process, error) {
	if s.binaries[Registry] == "" {
		return nil, fmt.Errorf("starting %s: the stack has no registry", name)
	}
	s.progress.step("starting %s", name)
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	c := command{name: name, path: s.binaries[Registry], dir: dir}
	return s.launch(ctx, c, func() (launch, error) { return configure(dir) })
}

// SecureRegistry is a registry that requires TLS and a password.
type SecureRegistry struct {
	*Process

	// Host is its HOST:PORT.
	Host string
	// CA is the PEM of its certificate authority. The certificate is valid for loopback and the given names.
	CA []byte
}

// Repository returns a repository of the registry, with the credentials of a user.
func (r *SecureRegistry) Repository(reference, user, password string) (*remote.Repository, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return nil, err
	}
	repository.Client = &auth.Client{Client: r.client(), Cache: auth.NewCache(), Credential: auth.StaticCredential(
		repository.Reference.Registry, auth.Credential{Username: user, Password: password})}
	return repository, nil
}

// StartSecureRegistry starts one more registry. The options must include Registry, too. names are further
// host names of its certificate.
func (s *Stack) StartSecureRegistry(ctx context.Context, name, user, password string, names ...string) (*SecureRegistry, error) {
	r := &SecureRegistry{}
	var err error
	r.Process, err = s.startAnother(ctx, name, func(dir string) (l launch, err error) {
		if r.Host, err = freeAddress(); err != nil {
			return launch{}, err
		}
		var config string
		if r.CA, config, err = furnishSecure(dir, user, password, names); err != nil {
			return launch{}, err
		}
		return registryLaunch(dir, r.Host, config, answers(r.client(), "https://"+r.Host+"/"))
	})
	return r, err
}

// client returns a client that trusts the registry.
func (r *SecureRegistry) client() *http.Client { return trusting(r.CA) }

// trusting returns a client that trusts one certificate authority.
func trusting(ca []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
}

// furnishSecure writes certificate, key and passwords, and returns the authority and the configuration.
func furnishSecure(dir, user, password string, names []string) (ca []byte, config string, err error) {
	certificate, key, err := NewCertificate(names...)
	if err != nil {
		return nil, "", err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return nil, "", err
	}
	files := map[string][]byte{"tls.crt": certificate, "tls.key": key, "htpasswd": fmt.Appendf(nil, "%s:%s\n", user, hash)}
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			return nil, "", err
		}
	}
	at := func(file string) string { return filepath.Join(dir, file) }
	config = fmt.Sprintf(secureConfig, at("tls.crt"), at("tls.key"), at("htpasswd"))
	return certificate, config, nil
}

// NewCertificate creates a self-signed certificate and its key, as PEM. It is valid for servers on
// loopback, also under the names, and for their clients.
func NewCertificate(names ...string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stack"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		DNSNames: append([]string{"localhost"}, names...), IPAddresses: []net.IP{net.ParseIP(loopback)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), nil
}
