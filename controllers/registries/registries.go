// SPDX-License-Identifier: Apache-2.0

// Package registries connects to OCI registries with the settings of an object of the API: its credentials,
// certificates and proxy, and with errors from which secrets are redacted. It must not know the content that
// is read from a registry or pushed to it.
package registries

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	ociretry "oras.land/oras-go/v2/registry/remote/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/registry/realm"
	"github.com/winnow-dev/winnow/registry/redact"
)

// Registries connects to OCI registries. It reads Secrets and ServiceAccounts by name for each connection, and
// does not cache them.
type Registries struct {
	// TokenHosts issue tokens wherever they are. Set it before the first connection.
	TokenHosts realm.Hosts
	// Traffic counts what is sent and received; may be nil.
	Traffic *metrics.Traffic

	client  client.Client
	retries int
}

// New returns Registries that read credentials using reader, a client that does not cache Secrets and ServiceAccounts.
// A request is retried httpRetry times.
func New(reader client.Client, httpRetry int) *Registries {
	return &Registries{client: reader, retries: httpRetry}
}

// Access has the settings to reach a repository, with the same meaning as in an OCIRepository.
type Access struct {
	// Field is the path of the settings in the object, for errors: spec or spec.push.
	Field              string
	Namespace          string
	URL                string
	Provider           string
	SecretRef          *meta.LocalObjectReference
	ServiceAccountName string
	CertSecretRef      *meta.LocalObjectReference
	ProxySecretRef     *meta.LocalObjectReference
	Insecure           bool
}

// OfSource returns the access to the repository of an OCIRepository.
func OfSource(repository *sourcev1.OCIRepository) Access {
	spec := repository.Spec
	return Access{
		Field: "spec", Namespace: repository.Namespace, URL: spec.URL, Provider: spec.Provider,
		SecretRef: spec.SecretRef, ServiceAccountName: spec.ServiceAccountName,
		CertSecretRef: spec.CertSecretRef, ProxySecretRef: spec.ProxySecretRef, Insecure: spec.Insecure,
	}
}

// OfPush returns the access to the repository of spec.push, which is required.
func OfPush(cs *v1alpha1.CatalogSelection) Access {
	push := cs.Spec.Push
	return Access{
		Field: "spec.push", Namespace: cs.Namespace, URL: push.URL, Provider: push.Provider,
		SecretRef: push.SecretRef, ServiceAccountName: push.ServiceAccountName,
		CertSecretRef: push.CertSecretRef, ProxySecretRef: push.ProxySecretRef, Insecure: push.Insecure,
	}
}

// Host returns the host of the registry, with its port if that is in the URL.
func (a Access) Host() string {
	repository, err := a.repository()
	if err != nil {
		return a.URL
	}
	return repository.RegistryStr()
}

// Connection identifies how a registry is reached: for which object, with which credentials and through which proxy. A
// failure of one connection proves nothing about another one to the same host.
func (a Access) Connection() string {
	nameOf := func(ref *meta.LocalObjectReference) string {
		if ref == nil {
			return ""
		}
		return ref.Name
	}
	return strings.Join([]string{
		a.Namespace, a.Host(), a.Provider, a.ServiceAccountName, fmt.Sprint(a.Insecure), nameOf(a.SecretRef), nameOf(a.CertSecretRef), nameOf(a.ProxySecretRef),
	}, "|")
}

// Connection is a repository with its transport. Close it after use.
type Connection struct {
	*remote.Repository
	transport *http.Transport
	// secrets are redacted from errors.
	secrets redact.Secrets
	// authenticated is true if the registry requested credentials, and some were found.
	authenticated bool
}

// Close ends the idle connections to the registry.
func (c *Connection) Close() { c.transport.CloseIdleConnections() }

// Connect returns a connection to the repository. It sends at most one request, without credentials.
func (r *Registries) Connect(ctx context.Context, a Access) (*Connection, error) {
	repository, err := a.repository()
	if err != nil {
		return nil, fmt.Errorf("%s.url: %w", a.Field, err)
	}
	if err := a.exposed(repository.RegistryStr()); err != nil {
		return nil, err
	}
	transport, proxy, err := r.transport(ctx, a)
	if err != nil {
		return nil, err
	}
	c := &Connection{transport: transport}
	if proxy != nil && proxy.User != nil {
		password, _ := proxy.User.Password()
		c.secrets.Add(password)
	}
	authenticate, err := r.credentials(ctx, a, repository, proxy)
	if err != nil {
		c.Close()
		return nil, err
	}
	credential := func(ctx context.Context, host string) (auth.Credential, error) {
		found, err := authenticate(ctx, host)
		c.secrets.Add(found.Password, found.AccessToken, found.RefreshToken)
		c.authenticated = found != auth.EmptyCredential
		return found, err
	}
	plainHTTP := a.insecureHTTP(ctx, transport, repository)
	authenticated := realm.NewClient(transport, r.TokenHosts, func(base http.RoundTripper) http.RoundTripper {
		return &ociretry.Transport{Base: r.Traffic.OfRegistry(base), Policy: r.policy}
	})
	authenticated.Header = http.Header{"User-Agent": {"winnow-controller"}}
	authenticated.Credential = credential
	c.Repository = &remote.Repository{Reference: referenceOf(repository), PlainHTTP: plainHTTP, Client: authenticated}
	return c, nil
}

// policy retries like oras, as often as configured.
func (r *Registries) policy() ociretry.Policy {
	return &ociretry.GenericPolicy{
		Retryable: ociretry.DefaultPredicate, Backoff: ociretry.DefaultBackoff,
		MinWait: 200 * time.Millisecond, MaxWait: 3 * time.Second, MaxRetry: r.retries,
	}
}

// repository parses the URL like source-controller, including the short names of Docker Hub.
func (a Access) repository() (name.Repository, error) {
	path, ok := strings.CutPrefix(a.URL, sourcev1.OCIRepositoryPrefix)
	if !ok {
		return name.Repository{}, fmt.Errorf("%s does not begin with %s", a.URL, sourcev1.OCIRepositoryPrefix)
	}
	var options []name.Option
	if a.Insecure {
		options = append(options, name.Insecure)
	}
	return name.NewRepository(path, options...)
}

func referenceOf(repository name.Repository) ociregistry.Reference {
	host := repository.RegistryStr()
	if host == name.DefaultRegistry {
		host = "docker.io" // oras maps this name to the API
	}
	return ociregistry.Reference{Registry: host, Repository: repository.RepositoryStr()}
}

// insecureHTTP reports whether to connect without TLS. As in source-controller, insecure allows that, and so
// does an address of the machine or of a private network, but a registry with TLS is reached by TLS.
func (a Access) insecureHTTP(ctx context.Context, transport *http.Transport, repository name.Repository) bool {
	if repository.Scheme() != "http" {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+repository.RegistryStr()+"/v2/", nil)
	if err != nil {
		return false
	}
	response, err := transport.RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
	// After any other failure of TLS, no secret may be sent without it.
	var noTLS tls.RecordHeaderError
	return errors.As(err, &noTLS) || errors.Is(err, syscall.ECONNREFUSED)
}

// secret reads the Secret that a field refers to.
func (r *Registries) secret(ctx context.Context, a Access, field string, ref *meta.LocalObjectReference) (*corev1.Secret, error) {
	secret, key := &corev1.Secret{}, types.NamespacedName{Namespace: a.Namespace, Name: ref.Name}
	err := r.client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%s.%s: the Secret %s does not exist", a.Field, field, key)
	}
	return secret, a.unreadable(field, err)
}

// tlsConfig returns nil for the defaults.
func (r *Registries) tlsConfig(ctx context.Context, a Access) (*tls.Config, error) {
	switch {
	case a.CertSecretRef != nil:
		secret, err := r.secret(ctx, a, "certSecretRef", a.CertSecretRef)
		if err != nil {
			return nil, err
		}
		// The authorities of the machine are trusted as well, as in source-controller.
		config, err := secrets.TLSConfigFromSecret(ctx, secret, secrets.WithSystemCertPool())
		return config, a.unreadable("certSecretRef", err)
	case a.Insecure:
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // set by the user, as in an OCIRepository
	}
	return nil, nil
}

// unreadable adds to an error the field of the Secret or the ServiceAccount that cannot be read.
func (a Access) unreadable(field string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		grants := config.GrantsSecrets(a.Namespace)
		if strings.Contains(err.Error(), `"serviceaccounts/token"`) {
			grants = config.GrantsWorkloadIdentity
		}
		return fmt.Errorf("%s.%s: the controller may not read it: %s: %w", a.Field, field, grants, err)
	}
	return fmt.Errorf("%s.%s: %w", a.Field, field, err)
}
