// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTheOldestVersionsAreTheSupportedOnes(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| Kubernetes before " + leastKubernetes + " | | not supported", "kustomize-controller " + leastFlux + ".", "| Flux helm-controller before " + leastHelm + " ",
	} {
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/compatibility.md has no row %q", row)
		}
	}
}

func TestFlagsAndVersionsOfADeployment(t *testing.T) {
	for _, test := range []struct {
		image   string
		args    []string
		version string
		address string
		gated   bool
	}{
		{"ghcr.io/fluxcd/kustomize-controller:v1.9.5", []string{"--feature-gates=A=true,G=true"}, "v1.9.5", "", true},
		{"localhost:5000/winnow@sha256:01", []string{"--feature-gates=G=true", "--feature-gates=G=false"}, "", "", false},
		{"localhost:5000/winnow:v1@sha256:01", []string{"--storage-adv-addr=a.$(RUNTIME_NAMESPACE).svc.b."}, "v1", "a.n.svc.b.", false},
		{"winnow", []string{"--storage-adv-addr-of=x", "--G=true"}, "", "", false},
	} {
		d := deployment{&appsv1.Deployment{}}
		d.Namespace = "n"
		d.Spec.Template.Spec.Containers = []corev1.Container{{Image: test.image, Args: test.args}}
		if d.version() != test.version || d.flag("storage-adv-addr") != test.address || d.gated("G") != test.gated {
			t.Errorf("%s %v: version %q, address %q, gated %t", test.image, test.args, d.version(), d.flag("storage-adv-addr"), d.gated("G"))
		}
	}
}

func TestWhatMayNotBeReadIsUnknown(t *testing.T) {
	forbidden := func(because string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", errors.New(because))
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("connection refused"), ""},
		{errors.Join(nil, errAbsent), "no controller is found"},
		{forbidden(`User "u" cannot get resource "secrets" in API group "" in the namespace "n"`), `it may not be read: you need the right to get secrets in the namespace "n"`},
		{forbidden("a webhook denies it"), `secrets "a" is forbidden: a webhook denies it`},
	} {
		if got := unknownBecause(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}
