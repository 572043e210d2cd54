// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// secured pushes a catalog to the secure registry and creates the OCIRepository "catalog" for it.
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

// credentialed creates the Secrets that the OCIRepository needs for the secure registry.
func (e *environment) credentialed(edit func(*sourcev1.OCIRepository)) func(*sourcev1.OCIRepository) {
	e.Helper()
	e.registrySecret("login", secureRegistry.Host, registryPassword)
	e.registrySecret("wrong", secureRegistry.Host, "wrong-"+registryPassword)
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
			message: []string{"spec.secretRef: the Secret ", "/none does not exist"}},
		{name: "a service account that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.ServiceAccountName = "none" }),
			message: []string{"spec.serviceAccountName: serviceaccount ", "none' not found"}},
		{name: "an authority that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = reference("none") }),
			message: []string{"spec.certSecretRef: the Secret ", "/none does not exist"}},
		{name: "an invalid authority", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = reference("login") }),
			message: []string{"spec.certSecretRef: "}},
		{name: "a certificate of an unknown authority", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = nil }),
			message: []string{"certificate signed by unknown authority"}},
		{name: "a proxy that does not exist", cause: secure(func(r *sourcev1.OCIRepository) { r.Spec.ProxySecretRef = reference("none") }),
			message: []string{"spec.proxySecretRef: the Secret ", "/none does not exist"}},
		{name: "an account of the cloud without the feature gate", cause: secure(func(r *sourcev1.OCIRepository) {
			r.Spec.SecretRef, r.Spec.Provider, r.Spec.ServiceAccountName = nil, "gcp", "puller"
		}), message: []string{"spec.serviceAccountName: ", "--feature-gates=ObjectLevelWorkloadIdentity=true"}},
	} {
		trouble.want, trouble.retry = retried("FetchFailed"), backoff
		t.Run(trouble.name+", at first", func(t *testing.T) { troubleAtFirst(t, trouble) })
	}
}

// The rights to read Secrets are optional; the error of a source that needs them names them.
func TestWithoutTheRightToReadSecrets(t *testing.T) {
	e := newEnvironment(t)
	e.secured(e.credentialed(func(*sourcev1.OCIRepository) {}))
	config := rest.CopyConfig(restConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + e.namespace + ":nobody"}
	powerless, err := client.New(config, client.Options{Scheme: apiServer.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	e.restartWith(func(o *Options) { o.Secrets = powerless })
	e.selectByManifest()
	e.suffer(trouble{retry: backoff, message: []string{
		"the controller may not read it: registries.namespaces: [" + e.namespace + "] of the chart, or kubectl apply -n " + e.namespace + " -k config/registries/namespace, grants it",
	}}, retried("FetchFailed"))

	role := &rbacv1.Role{Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "get"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "nobody", Namespace: e.namespace}},
	}
	role.Name, binding.Name = "get", "get"
	e.create(role)
	e.create(binding)
	e.until("the API server knows the right", time.Minute, func() bool { _, err := e.tryReconcile("kkp"); return err == nil })
	e.publish("kkp")
}
