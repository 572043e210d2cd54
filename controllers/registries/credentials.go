// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	fluxauth "github.com/fluxcd/pkg/auth"
	authutils "github.com/fluxcd/pkg/auth/utils"
	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/kubernetes"
	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"oras.land/oras-go/v2/registry/remote/auth"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// transport returns the transport for requests, and the proxy of proxySecretRef; without one, it uses the proxy
// of the environment.
func (r *Registries) transport(ctx context.Context, a Access) (*http.Transport, *url.URL, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	config, err := r.tlsConfig(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	if config != nil {
		transport.TLSClientConfig = config
	}
	if a.ProxySecretRef == nil {
		return transport, nil, nil
	}
	secret, err := r.secret(ctx, a, "proxySecretRef", a.ProxySecretRef)
	if err != nil {
		return nil, nil, err
	}
	proxy, err := secrets.ProxyURLFromSecret(ctx, secret)
	if err != nil {
		// The error omits the cause, which quotes an address that may contain a password.
		return nil, nil, fmt.Errorf("%s.proxySecretRef: the Secret %s has no valid %s of a proxy with http, https or socks5",
			a.Field, client.ObjectKeyFromObject(secret), secrets.KeyAddress)
	}
	transport.Proxy = http.ProxyURL(proxy)
	return transport, proxy, nil
}

// credentials returns the function that authenticates to the registry.
func (r *Registries) credentials(ctx context.Context, a Access, repository name.Repository, proxy *url.URL) (auth.CredentialFunc, error) {
	var authenticator authn.Authenticator
	var err error
	if a.Provider == "" || a.Provider == sourcev1.GenericOCIProvider {
		authenticator, err = r.pullSecrets(ctx, a, repository)
	} else {
		authenticator, err = r.cloudCredentials(ctx, a, repository, proxy)
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ string) (auth.Credential, error) {
		found, err := authn.Authorization(ctx, authenticator)
		if err != nil {
			return auth.EmptyCredential, fmt.Errorf("%s.provider %s: %w", a.Field, a.Provider, err)
		}
		return auth.Credential{
			Username: found.Username, Password: found.Password,
			RefreshToken: found.IdentityToken, AccessToken: found.RegistryToken,
		}, nil
	}, nil
}

// pullSecrets finds the credentials in the referenced Secrets, like kubelet.
func (r *Registries) pullSecrets(ctx context.Context, a Access, repository name.Repository) (authn.Authenticator, error) {
	var named []corev1.Secret
	if a.SecretRef != nil {
		secret, err := r.secret(ctx, a, "secretRef", a.SecretRef)
		if err != nil {
			return nil, err
		}
		named = append(named, *secret)
	}
	if a.ServiceAccountName != "" {
		account := types.NamespacedName{Namespace: a.Namespace, Name: a.ServiceAccountName}
		pulled, err := secrets.PullSecretsFromServiceAccountRef(ctx, r.client, account)
		if err != nil {
			return nil, a.unreadable("serviceAccountName", err)
		}
		named = append(named, pulled...)
	}
	keychain, err := kubernetes.NewFromPullSecrets(ctx, named)
	if err != nil {
		// The error omits the cause, which may quote the content.
		return nil, fmt.Errorf("%s: the Secrets of secretRef and serviceAccountName hold no valid %s", a.Field, corev1.DockerConfigJsonKey)
	}
	found, err := keychain.Resolve(repository)
	if err == nil && found == authn.Anonymous {
		err = r.generic(ctx, a)
	}
	return found, err
}

// clouds maps the prefixes of annotations, by which a ServiceAccount gets an identity, to their providers.
var clouds = map[string]string{
	"azure.workload.identity": sourcev1.AzureOCIProvider,
	"eks.amazonaws.com":       sourcev1.AmazonOCIProvider,
	"gcp.auth.fluxcd.io":      sourcev1.GoogleOCIProvider,
	"iam.gke.io":              sourcev1.GoogleOCIProvider,
}

// generic returns an error if the ServiceAccount, which has no Secret for the registry, belongs to a cloud: without credentials, a
// registry refuses a request with an error that names neither.
func (r *Registries) generic(ctx context.Context, a Access) error {
	account := &corev1.ServiceAccount{}
	if a.ServiceAccountName == "" {
		return nil
	}
	if err := r.client.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: a.ServiceAccountName}, account); err != nil {
		return a.unreadable("serviceAccountName", err)
	}
	for _, annotation := range slices.Sorted(maps.Keys(account.Annotations)) {
		prefix, _, _ := strings.Cut(annotation, "/")
		if provider := clouds[prefix]; provider != "" {
			return fmt.Errorf("%s.provider is %s, which uses the imagePullSecrets of the ServiceAccount %s/%s, and none is for %s; its annotation %s is for the provider %s: set provider: %s",
				a.Field, sourcev1.GenericOCIProvider, a.Namespace, a.ServiceAccountName, a.Host(), annotation, provider, provider)
		}
	}
	return nil
}

// ecr matches the registries of AWS. The pattern of Flux has no end: it matches any host with such a prefix.
var ecr = regexp.MustCompile(`^(public\.ecr\.aws|[0-9]+\.dkr[.-]ecr(-fips)?\.[a-z0-9-]+\.` +
	`(amazonaws\.com(\.cn)?|amazonaws\.eu|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov|on\.aws))$`)

// exposed returns an error if the credentials of the controller's pod in a cloud would reach another party than
// that cloud: the writer of the object chooses the proxy, which can impersonate the host, unless TLS verifies
// it with an authority of the machine. The credentials of a ServiceAccount belong to the namespace.
func (a Access) exposed(host string) error {
	if a.Provider == "" || a.Provider == sourcev1.GenericOCIProvider || a.ServiceAccountName != "" {
		return nil
	}
	field := ""
	switch {
	case a.Provider == sourcev1.AmazonOCIProvider && !ecr.MatchString(host):
		return fmt.Errorf("%s.url: %s is no registry of AWS, which provider %s would send the credentials of the controller to", a.Field, host, a.Provider)
	case a.ProxySecretRef == nil:
		return nil
	case a.Insecure:
		field = "insecure"
	case a.CertSecretRef != nil:
		field = "certSecretRef"
	default:
		return nil
	}
	return fmt.Errorf("%s.%s with proxySecretRef and provider %s is not allowed: the proxy could read the credentials of the controller in the cloud; "+
		"leave one of them out, or name a serviceAccountName with an identity of its own", a.Field, field, a.Provider)
}

// cloudCredentials gets credentials from the cloud in which the controller runs.
func (r *Registries) cloudCredentials(ctx context.Context, a Access, repository name.Repository, proxy *url.URL) (authn.Authenticator, error) {
	options := []fluxauth.Option{fluxauth.WithClient(r.client), fluxauth.WithServiceAccountNamespace(a.Namespace)}
	if proxy != nil {
		options = append(options, fluxauth.WithProxyURL(*proxy))
	}
	if a.ServiceAccountName != "" {
		if !fluxauth.IsObjectLevelWorkloadIdentityEnabled() {
			return nil, fmt.Errorf("%s.serviceAccountName: with provider %s it needs the controller's --feature-gates=%s=true",
				a.Field, a.Provider, fluxauth.FeatureGateObjectLevelWorkloadIdentity)
		}
		options = append(options, fluxauth.WithServiceAccountName(a.ServiceAccountName))
	}
	found, err := authutils.GetArtifactRegistryCredentials(ctx, a.Provider, repository.String(), options...)
	return found, a.unreadable("provider", err)
}
