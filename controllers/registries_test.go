package controllers

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// secured pushes a catalog to the secure registry, as the OCIRepository "catalog" reaches it.
func (e *environment) secured(edit func(*sourcev1.OCIRepository)) {
	e.Helper()
	to := e.securedRepository(secureRegistry, registryUser, registryPassword)
	e.pushed(to, shaped(catalogLayer(applications(e.T, "argocd"))), edit)
}

func (e *environment) registrySecret(name, host, password string) {
	e.Helper()
	secret, err := secrets.MakeRegistrySecret(name, e.namespace, host, registryUser, password)
	if err != nil {
		e.Fatal(err)
	}
	e.create(secret)
}

func (e *environment) caSecret(name string, of *stack.SecureRegistry) {
	e.Helper()
	secret, err := secrets.MakeTLSSecret(name, e.namespace, secrets.WithCAData(of.CA))
	if err != nil {
		e.Fatal(err)
	}
	e.create(secret)
}

// credentialed has what the OCIRepository needs for the secure registry, in Secrets.
func (e *environment) credentialed(edit func(*sourcev1.OCIRepository)) func(*sourcev1.OCIRepository) {
	e.Helper()
	e.registrySecret("login", secureRegistry.Host, registryPassword)
	e.registrySecret("wrong", secureRegistry.Host, "wrong-password")
	e.registrySecret("elsewhere", "registry.example", registryPassword)
	e.caSecret("authority", secureRegistry)
	account := &corev1.ServiceAccount{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "login"}}}
	account.Name = "puller"
	e.create(account)
	return func(r *sourcev1.OCIRepository) {
		r.Spec.SecretRef, r.Spec.CertSecretRef = reference("login"), reference("authority")
		edit(r)
	}
}

func TestARegistryIsReachedAsTheOCIRepositorySays(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*sourcev1.OCIRepository)
	}{
		{"a secret and an authority", func(*sourcev1.OCIRepository) {}},
		{"the pull secrets of a service account", func(r *sourcev1.OCIRepository) {
			r.Spec.SecretRef, r.Spec.ServiceAccountName = nil, "puller"
		}},
		{"a secret of another registry, and one of the account", func(r *sourcev1.OCIRepository) {
			r.Spec.SecretRef, r.Spec.ServiceAccountName = reference("elsewhere"), "puller"
		}},
		{"no authority, but insecure", func(r *sourcev1.OCIRepository) {
			r.Spec.CertSecretRef, r.Spec.Insecure = nil, true
		}},
		{"insecure with an authority", func(r *sourcev1.OCIRepository) { r.Spec.Insecure = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.secured(e.credentialed(test.edit))
			e.selectByManifest()
			e.publish("kkp")
		})
	}
}

func TestARegistryThatRefusesOrIsNotTrusted(t *testing.T) {
	secure := func(edit func(*sourcev1.OCIRepository)) func(*environment) {
		return func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}} })
			e.secured(e.credentialed(edit))
		}
	}
	for _, trouble := range []trouble{
		{name: "no credentials", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.SecretRef = nil }),
			message: []string{"401 Unauthorized", "no credentials were sent"}},
		{name: "credentials of another registry", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.SecretRef = reference("elsewhere") }),
			message: []string{"401 Unauthorized", "no credentials were sent"}},
		{name: "a wrong password", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.SecretRef = reference("wrong") }),
			message: []string{"401 Unauthorized", "the credentials are refused"}},
		{name: "a secret that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.SecretRef = reference("none") }),
			message: []string{"spec.secretRef: ", `"none" not found`}},
		{name: "a service account that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.ServiceAccountName = "none" }),
			message: []string{"spec.serviceAccountName: serviceaccount ", "none' not found"}},
		{name: "an authority that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = reference("none") }),
			message: []string{"spec.certSecretRef: secret ", "none' not found"}},
		{name: "an authority that is none", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = reference("login") }),
			message: []string{"spec.certSecretRef: "}},
		{name: "a certificate of nobody's", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = nil }),
			message: []string{"certificate signed by unknown authority"}},
		{name: "a proxy that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.ProxySecretRef = reference("none") }),
			message: []string{"spec.proxySecretRef: secret ", "none' not found"}},
		{name: "an account of the cloud without the feature gate", cause: secure(func(r *sourcev1.OCIRepository) {
			r.Spec.SecretRef, r.Spec.Provider, r.Spec.ServiceAccountName = nil, "gcp", "puller"
		}), message: []string{"spec.serviceAccountName: ", "--feature-gates=ObjectLevelWorkloadIdentity=true"}},
	} {
		trouble.want, trouble.retry = retried("FetchFailed"), backoff
		t.Run(trouble.name+", at first", func(t *testing.T) { troubleAtFirst(t, trouble) })
		t.Run(trouble.name+", after a publication", func(t *testing.T) { troubleLater(t, trouble) })
	}
}

// The rights to read Secrets are optional; what they are needed for says so.
func TestWithoutTheRightToReadSecrets(t *testing.T) {
	e := newEnvironment(t)
	e.secured(e.credentialed(func(*sourcev1.OCIRepository) {}))
	config := rest.CopyConfig(restConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + e.namespace + ":nobody"}
	powerless, err := client.New(config, client.Options{Scheme: apiServer.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	e.reconciler.Catalogs.registries = NewRegistries(powerless, 0)
	e.selectByManifest()
	e.suffer(trouble{retry: backoff, message: []string{"the controller may not read it; config/registries grants that"}}, retried("FetchFailed"))

	role := &rbacv1.Role{Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "get"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "nobody", Namespace: e.namespace}},
	}
	role.Name, binding.Name = "get", "get"
	e.create(role)
	e.create(binding)
	e.publish("kkp")
}

// connectProxy is a proxy for HTTPS that wants a password, and leads everything to one address.
type connectProxy struct {
	*httptest.Server
	target, authorization string

	mu    sync.Mutex
	hosts []string
}

func newConnectProxy(t *testing.T, target, user, password string) *connectProxy {
	p := &connectProxy{target: target, authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.CloseClientConnections)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements http.Handler.
func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != p.authorization {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	p.mu.Lock()
	p.hosts = append(p.hosts, r.Host)
	p.mu.Unlock()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	w.WriteHeader(http.StatusOK)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(server, bufio.NewReader(buffered))
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, server)
}

func (p *connectProxy) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hosts
}

func (e *environment) proxySecret(address, user, password string) {
	e.Helper()
	secret, err := secrets.MakeProxySecret("proxy", e.namespace, address, user, password)
	if err != nil {
		e.Fatal(err)
	}
	e.create(secret)
}

func TestARegistryBehindAProxy(t *testing.T) {
	e := newEnvironment(t)
	proxy := newConnectProxy(t, secureRegistry.Host, "squid", "proxy-password")
	e.proxySecret(proxy.URL, "squid", "proxy-password")
	e.secured(e.credentialed(func(r *sourcev1.OCIRepository) { r.Spec.ProxySecretRef = reference("proxy") }))
	e.selectByManifest()
	e.publish("kkp")
	if hosts := proxy.seen(); len(hosts) == 0 || hosts[0] != secureRegistry.Host {
		t.Errorf("the proxy saw %q", hosts)
	}
}

// The metadata server of Google's cloud hands out a token, which the registry takes as a password.
func TestARegistryOfACloud(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		if strings.HasSuffix(r.URL.Path, "/token") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token": "token-of-the-cloud", "expires_in": 3600, "token_type": "Bearer"}`)
		}
	}))
	defer metadata.Close()
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(metadata.URL, "http://"))

	const host = "us-docker.pkg.dev" // of Google's, and led elsewhere by the proxy
	cloud, err := system.StartSecureRegistry(t.Context(), "cloud-registry", "oauth2accesstoken", "token-of-the-cloud", host)
	if err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t)
	proxy := newConnectProxy(t, cloud.Host, "squid", "proxy-password")
	e.proxySecret(proxy.URL, "squid", "proxy-password")
	e.caSecret("authority", cloud)
	to := e.securedRepository(cloud, "oauth2accesstoken", "token-of-the-cloud")
	e.pushed(to, shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) {
		r.Spec.URL = strings.Replace(r.Spec.URL, cloud.Host, host, 1)
		r.Spec.Provider = "gcp"
		r.Spec.CertSecretRef, r.Spec.ProxySecretRef = reference("authority"), reference("proxy")
	})
	e.selectByManifest()
	e.publish("kkp")
	if hosts := proxy.seen(); len(hosts) == 0 || hosts[0] != host+":443" {
		t.Errorf("the proxy saw %q", hosts)
	}
}

// What a registry says, redirects to or asks for may quote what it was told. None of it reaches logs,
// events, status or errors.
func TestNothingTellsSecrets(t *testing.T) {
	const password, token, signature = "s3cret/of the+robot", "refresh-token-of-the-robot", "0123signature"
	basic := base64.StdEncoding.EncodeToString([]byte("robot:" + password))
	for _, test := range []struct {
		name  string
		does  func(http.ResponseWriter, *http.Request)
		flows []string // what has to be in the message
	}{
		{"an error that quotes the password", func(w http.ResponseWriter, r *http.Request) {
			user, sent, _ := r.BasicAuth()
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{
				"code": "DENIED", "message": user + " with " + sent + " may not", "detail": r.Header["Authorization"],
			}}})
		}, []string{"403 Forbidden (DENIED); the credentials are refused"}},
		{"a code that quotes the password", func(w http.ResponseWriter, r *http.Request) {
			_, sent, _ := r.BasicAuth()
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{"code": sent}}})
		}, []string{"500 Internal Server Error"}},
		{"a redirect that is signed", func(w http.ResponseWriter, _ *http.Request) {
			http.Redirect(w, &http.Request{}, "http://127.0.0.1:1/blob?X-Amz-Signature="+signature, http.StatusTemporaryRedirect)
		}, []string{"http://127.0.0.1:1/blob"}},
		{"a redirect into the password", func(w http.ResponseWriter, _ *http.Request) {
			http.Redirect(w, &http.Request{}, "http://127.0.0.1:1/"+url.PathEscape(password), http.StatusTemporaryRedirect)
		}, []string{"http://127.0.0.1:1/***"}},
		{"a header that is broken by the password", func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, r.Header.Get("Authorization")+"\r\n\r\n")
			_ = conn.Close()
		}, []string{"malformed HTTP", "***"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, front := newEnvironment(t), newFront(t)
			e.registrySecret("login", front.host(), password)
			e.pushed(e.repositoryAt(front.host()), shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) {
				r.Spec.SecretRef = reference("login")
			})
			front.does(func(w http.ResponseWriter, r *http.Request) bool {
				if _, _, ok := r.BasicAuth(); !ok {
					w.Header().Set("WWW-Authenticate", `Basic realm="`+token+`"`)
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
				test.does(w, r)
				return true
			})
			e.selectByManifest(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Push = &v1alpha1.Push{URL: "oci://" + front.host() + "/" + e.namespace + "/rendered", SecretRef: reference("login"), Insecure: true}
			})
			if _, err := e.tryReconcile("kkp"); err == nil {
				t.Error("Reconcile() succeeded")
			}
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Sources = []v1alpha1.SourceReference{byContent()}
			})
			e.reconcile("kkp")
			e.push()
			e.reconcile("kkp")
			text := e.everythingWritten()
			for _, secret := range []string{password, url.QueryEscape(password), url.PathEscape(password), basic, token, signature} {
				if strings.Contains(text, secret) {
					t.Errorf("%q is in what was written:\n%s", secret, text)
				}
			}
			for _, part := range append(test.flows, "PushFailed", "FetchFailed", "not pushed") {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in what was written, so that this shows nothing:\n%s", part, text)
				}
			}
		})
	}
}
