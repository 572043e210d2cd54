// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
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
