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
	const manager = "ghcr.io/fluxcd/kustomize-controller:v1.9.5"
	for _, test := range []struct {
		name       string
		containers []corev1.Container
		version    string
		address    string
		gated      bool
	}{
		{"several gates in a flag", []corev1.Container{{Image: manager, Args: []string{"--feature-gates=A=true,G=true"}}}, "v1.9.5", "", true},
		{"a flag for each gate", []corev1.Container{{Image: manager, Args: []string{"--feature-gates=G=true", "--feature-gates=A=true"}}}, "v1.9.5", "", true},
		{"the last value of a gate", []corev1.Container{{Image: "localhost:5000/winnow@sha256:01", Args: []string{"--feature-gates=G=true", "--feature-gates=G=false"}}}, "", "", false},
		{"a gate that is off beside one that is on", []corev1.Container{{Image: manager, Args: []string{"--feature-gates=A=true,G=false"}}}, "v1.9.5", "", false},
		{"another spelling of true", []corev1.Container{{Image: manager, Args: []string{"--feature-gates=A=false, G=True"}}}, "v1.9.5", "", true},
		{"a value as an argument of its own", []corev1.Container{{Image: manager, Args: []string{"--feature-gates", "G=true", "--storage-adv-addr", "a.n.svc.b."}}}, "v1.9.5", "a.n.svc.b.", true},
		{"flags in the command", []corev1.Container{{Image: manager, Command: []string{"/manager", "--feature-gates=G=true"}}}, "v1.9.5", "", true},
		{"the namespace in a value", []corev1.Container{{Image: "localhost:5000/winnow:v1@sha256:01", Args: []string{"--storage-adv-addr=a.$(RUNTIME_NAMESPACE).svc.b."}}}, "v1", "a.n.svc.b.", false},
		{"another variable in a value", []corev1.Container{{Image: manager, Args: []string{"--storage-adv-addr=a.n.svc.$(D)."}, Env: []corev1.EnvVar{{Name: "D", Value: "b"}}}}, "v1.9.5", "a.n.svc.b.", false},
		{"an address in the environment", []corev1.Container{{Image: manager, Env: []corev1.EnvVar{{Name: "STORAGE_ADV_ADDR", Value: "a.n.svc.b."}}}}, "v1.9.5", "a.n.svc.b.", false},
		{"flags with similar names", []corev1.Container{{Image: "winnow", Args: []string{"--storage-adv-addr-of=x", "--G=true", "--log-level", "info"}}}, "", "", false},
		{"a container beside the controller", []corev1.Container{{Name: "proxy", Image: "proxy:v9", Args: []string{"--feature-gates=G=false"}}, {Name: "manager", Image: manager, Args: []string{"--feature-gates=G=true"}},
			{Name: "log", Image: "log:v8", Args: []string{"--feature-gates=G=false"}}}, "v1.9.5", "", true},
		{"no container", nil, "", "", false},
	} {
		d := deployment{&appsv1.Deployment{}}
		d.Namespace = "n"
		d.Spec.Template.Spec.Containers = test.containers
		if d.version() != test.version || d.flag("storage-adv-addr") != test.address || d.gated("G") != test.gated {
			t.Errorf("%s: version %q, address %q, gated %t", test.name, d.version(), d.flag("storage-adv-addr"), d.gated("G"))
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
