// Package registries connects to OCI registries as an object of the API says: with its credentials,
// certificates and proxy, and with errors from which secrets are redacted. It must not know what is read
// from a registry or pushed to it.
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
)

// Registries connects to OCI registries. Secrets and ServiceAccounts are read by their names, when they
// are needed, and nothing of them is kept.
type Registries struct {
	client  client.Client
	retries int
}

// New returns registries whose credentials reader reads: a client that does not cache Secrets and
// ServiceAccounts. A request is retried httpRetry times.
func New(reader client.Client, httpRetry int) *Registries {
	return &Registries{client: reader, retries: httpRetry}
}

// Access says how a repository is reached. The members mean what they mean in an OCIRepository.
type Access struct {
	// Field is where the members stand in the object, for errors: spec or spec.push.
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

// OfSource returns how an OCIRepository is reached.
func OfSource(repository *sourcev1.OCIRepository) Access {
	spec := repository.Spec
	return Access{
		Field: "spec", Namespace: repository.Namespace, URL: spec.URL, Provider: spec.Provider,
		SecretRef: spec.SecretRef, ServiceAccountName: spec.ServiceAccountName,
		CertSecretRef: spec.CertSecretRef, ProxySecretRef: spec.ProxySecretRef, Insecure: spec.Insecure,
	}
}

// OfPush returns how the repository of spec.push, which has to be there, is reached.
func OfPush(cs *v1alpha1.CatalogSelection) Access {
	push := cs.Spec.Push
	return Access{
		Field: "spec.push", Namespace: cs.Namespace, URL: push.URL, Provider: push.Provider,
		SecretRef: push.SecretRef, ServiceAccountName: push.ServiceAccountName,
		CertSecretRef: push.CertSecretRef, ProxySecretRef: push.ProxySecretRef, Insecure: push.Insecure,
	}
}

// Connection is a repository and the means to reach it. Close it after use.
type Connection struct {
	*remote.Repository
	transport *http.Transport
	// secrets are redacted from errors.
	secrets []string
	// authenticated says that the registry asked for credentials, and that there were some.
	authenticated bool
}

// Close ends the idle connections to the registry.
func (c *Connection) Close() { c.transport.CloseIdleConnections() }

// Connect returns the repository. It sends at most a request without credentials.
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
		c.conceal(proxy.User.Username(), password)
	}
	authenticate, err := r.credentials(ctx, a, repository, proxy)
	if err != nil {
		c.Close()
		return nil, err
	}
	credential := func(ctx context.Context, host string) (auth.Credential, error) {
		found, err := authenticate(ctx, host)
		c.conceal(found.Username, found.Password, found.AccessToken, found.RefreshToken)
		c.authenticated = found != auth.EmptyCredential
		return found, err
	}
	plainHTTP := a.insecureHTTP(ctx, transport, repository)
	c.Repository = &remote.Repository{
		Reference: referenceOf(repository), PlainHTTP: plainHTTP,
		Client: &auth.Client{
			Client:     &http.Client{Transport: &ociretry.Transport{Base: transport, Policy: r.policy}},
			Header:     http.Header{"User-Agent": {"winnow-controller"}},
			Cache:      auth.NewCache(),
			Credential: credential,
		},
	}
	return c, nil
}

// policy tries again as oras does, for as long as the flag says.
func (r *Registries) policy() ociretry.Policy {
	return &ociretry.GenericPolicy{
		Retryable: ociretry.DefaultPredicate, Backoff: ociretry.DefaultBackoff,
		MinWait: 200 * time.Millisecond, MaxWait: 3 * time.Second, MaxRetry: r.retries,
	}
}

// repository parses the URL as source-controller does, Docker Hub's short names included.
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
		host = "docker.io" // oras knows where its API is
	}
	return ociregistry.Reference{Registry: host, Repository: repository.RepositoryStr()}
}

// insecureHTTP reports whether to do without TLS. As for source-controller, insecure allows that, and so does
// an address of the machine or of a private network; TLS comes first where the registry speaks it.
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
	// Nothing else counts: where TLS fails for another reason, there is no secret to be sent without it.
	var noTLS tls.RecordHeaderError
	return errors.As(err, &noTLS) || errors.Is(err, syscall.ECONNREFUSED)
}

// secret reads the Secret that a field names.
func (r *Registries) secret(ctx context.Context, a Access, field string, ref *meta.LocalObjectReference) (*corev1.Secret, error) {
	secret, key := &corev1.Secret{}, types.NamespacedName{Namespace: a.Namespace, Name: ref.Name}
	err := r.client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%s.%s: the Secret %s does not exist", a.Field, field, key)
	}
	return secret, a.unreadable(field, err)
}

// tlsConfig returns nil where the defaults do.
func (r *Registries) tlsConfig(ctx context.Context, a Access) (*tls.Config, error) {
	switch {
	case a.CertSecretRef != nil:
		secret, err := r.secret(ctx, a, "certSecretRef", a.CertSecretRef)
		if err != nil {
			return nil, err
		}
		// The machine's authorities count as well, as for source-controller.
		config, err := secrets.TLSConfigFromSecret(ctx, secret, secrets.WithSystemCertPool())
		return config, a.unreadable("certSecretRef", err)
	case a.Insecure:
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // asked for, as in an OCIRepository
	}
	return nil, nil
}

// unreadable says which field names the Secret or the ServiceAccount that cannot be read.
func (a Access) unreadable(field string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s.%s: the controller may not read it; config/registries grants that: %w", a.Field, field, err)
	}
	return fmt.Errorf("%s.%s: %w", a.Field, field, err)
}
