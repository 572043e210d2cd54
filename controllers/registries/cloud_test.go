// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestCredentialsOfThePodAreSentToItsCloudOnly(t *testing.T) {
	const (
		amazon = "oci://1234.dkr.ecr.eu-central-1.amazonaws.com/a/b"
		google = "oci://europe-docker.pkg.dev/a/b"
	)
	r := New(nil, 0)
	for _, test := range []struct {
		name   string
		access Access
		want   string
	}{
		{"a registry of AWS", Access{URL: amazon, Provider: "aws"}, ""},
		{"a host with its name as a prefix", Access{URL: "oci://1234.dkr.ecr.eu-central-1.amazonaws.com.evil.example/a/b", Provider: "aws"}, "is no registry of AWS"},
		{"a path with its name as a suffix", Access{URL: "oci://evil.example:443/1234.dkr.ecr.eu-central-1.amazonaws.com", Provider: "aws"}, "is no registry of AWS"},
		{"a registry of AWS in China", Access{URL: "oci://1234.dkr.ecr.cn-north-1.amazonaws.com.cn/a/b", Provider: "aws"}, ""},
		{"the public registry of AWS", Access{URL: "oci://public.ecr.aws/a/b", Provider: "aws"}, ""},
		{"a custom authority without a proxy", Access{URL: google, Provider: "gcp", CertSecretRef: &meta.LocalObjectReference{Name: "authority"}}, ""},
		{"both in a push", Access{URL: google, Provider: "gcp", CertSecretRef: &meta.LocalObjectReference{Name: "authority"}, ProxySecretRef: &meta.LocalObjectReference{Name: "proxy"}, Field: "spec.push"},
			"spec.push.certSecretRef with proxySecretRef and provider gcp is not allowed"},
		{"an insecure proxy of Azure", Access{URL: "oci://a.azurecr.io/a/b", Provider: "azure", Insecure: true, ProxySecretRef: &meta.LocalObjectReference{Name: "proxy"}},
			".insecure with proxySecretRef and provider azure is not allowed"},
		{"without a provider, credentials of the namespace", Access{URL: amazon, Insecure: true, ProxySecretRef: &meta.LocalObjectReference{Name: "proxy"}, CertSecretRef: &meta.LocalObjectReference{Name: "authority"}}, ""},
		{"a ServiceAccount of the namespace", Access{URL: google, Provider: "gcp", ServiceAccountName: "a", CertSecretRef: &meta.LocalObjectReference{Name: "authority"}, ProxySecretRef: &meta.LocalObjectReference{Name: "proxy"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.access.Namespace = "none"
			repository, err := test.access.repository()
			if err != nil {
				t.Fatal(err)
			}
			err = test.access.exposed(repository.RegistryStr())
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("exposed() = %v, want %q", err, test.want)
			}
			if test.want == "" {
				return
			}
			if _, connectErr := r.Connect(t.Context(), test.access); connectErr == nil || connectErr.Error() != err.Error() {
				t.Errorf("Connect() = %v, want %v", connectErr, err)
			}
		})
	}
}

// Without a provider, the identity of a ServiceAccount is not used: a request without any credentials would hide that.
func TestAServiceAccountOfACloudNeedsItsProvider(t *testing.T) {
	const host = "1234.dkr.ecr.eu-central-1.amazonaws.com"
	for _, test := range []struct{ name, annotation, secretFor, provider, want string }{
		{"of AWS", "eks.amazonaws.com/role-arn", "", "", "set provider: aws"},
		{"of AWS, with the provider generic", "eks.amazonaws.com/role-arn", "", "generic", "set provider: aws"},
		{"of Azure", "azure.workload.identity/client-id", "", "", "set provider: azure"},
		{"of Google", "iam.gke.io/gcp-service-account", "", "", "set provider: gcp"},
		{"of Google, federated", "gcp.auth.fluxcd.io/workload-identity-provider", "", "", "set provider: gcp"},
		{"with a Secret for another registry", "eks.amazonaws.com/role-arn", "ghcr.io", "", "and none is for " + host},
		{"with a Secret for the registry", "eks.amazonaws.com/role-arn", host, "", ""},
		{"of no cloud", "example.com/team", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "puller", Annotations: map[string]string{test.annotation: "x"}}}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "login"}, Type: corev1.SecretTypeDockerConfigJson}
			if test.secretFor != "" {
				account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "login"}}
				secret.Data = map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths": {"` + test.secretFor + `": {"username": "bot", "password": "x"}}}`)}
			}
			connection, err := New(fake.NewFakeClient(account, secret), 0).Connect(t.Context(), Access{
				Field: "spec", Namespace: "apps", URL: "oci://" + host + "/a/b", ServiceAccountName: "puller", Provider: test.provider,
			})
			if err == nil {
				connection.Close()
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("Connect() = %v, want %q", err, test.want)
			}
		})
	}
}
