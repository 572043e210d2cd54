// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// What users read, and what Helm compares, is what this program says of a cluster.
func TestTheOldestVersionsAreTheSupportedOnes(t *testing.T) {
	const kubernetes = "Winnow needs Kubernetes " + leastKubernetes + " or newer"
	for file, texts := range map[string][]string{
		"docs/compatibility.md": {
			"| Kubernetes before " + leastKubernetes + " | | not supported", "kustomize-controller " + leastFlux + ".", "| Flux helm-controller before " + leastHelm + " ",
		},
		"README.md": {kubernetes}, "docs/guides/install.md": {kubernetes}, "docs/releases/v0.1.0.md": {kubernetes},
		"charts/winnow/Chart.yaml": {"\nkubeVersion: \">=" + leastKubernetes + ".0-0\"\n"},
	} {
		content, err := os.ReadFile("../../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(string(content), text) {
				t.Errorf("%s does not have %q", file, text)
			}
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
		of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "n"}}
		of.Spec.Template.Spec.Containers = test.containers
		d := newDeployment(of)
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
		{errors.New("the conversion fails"), "the conversion fails"},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), "the cluster did not answer in time: a longer --timeout may help"},
		{errAbsent, "no controller is found"},
		{forbidden(`User "u" cannot get resource "secrets" in API group "" in the namespace "n"`), `it may not be read: you need the right to get secrets in the namespace "n"`},
		{forbidden("a webhook denies it"), `secrets "a" is forbidden: a webhook denies it`},
	} {
		if got := unknownBecause(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}

// TestEachSelectionHasOneController has controllers in two namespaces, as shards, and two that do the same.
func TestEachSelectionHasOneController(t *testing.T) {
	selection := func(namespace, shard string) *v1alpha1.CatalogSelection {
		return &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "apps", Labels: map[string]string{"shard": shard}}}
	}
	controller := func(namespace string, args ...string) deployment {
		of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "winnow-controller"}}
		of.Spec.Template.Spec.Containers = []corev1.Container{{Args: args}}
		return newDeployment(of)
	}
	all := []*v1alpha1.CatalogSelection{selection("a", "one"), selection("b", "two")}
	pushed := reach{of: all[0], by: "CatalogSelection a/apps", namespace: "a", provider: "aws", account: "puller", secrets: []*meta.LocalObjectReference{{Name: "login"}, {Name: "login"}}}
	const gate = "--feature-gates=ObjectLevelWorkloadIdentity=true"
	for _, test := range []struct {
		name        string
		controllers []deployment
		want        string
		// accounts need the Secret.
		accounts []string
	}{
		{"one", []deployment{controller("a", gate)}, "ok the controller has what the selections need", []string{"a/default"}},
		{"one for each namespace", []deployment{controller("a", gate, "--watch-all-namespaces=false"), controller("b", "--watch-all-namespaces=0")},
			"ok the controller has what the selections need", []string{"a/default"}},
		{"one for a namespace", []deployment{controller("a", gate, "--watch-all-namespaces=false")},
			"problem no controller reconciles b/apps: change --watch-all-namespaces or --watch-label-selector, or move them", []string{"a/default"}},
		{"shards", []deployment{controller("w", "--watch-label-selector=shard=two"), controller("x", gate, "--watch-label-selector=shard!=two")},
			"ok the controller has what the selections need", []string{"x/default"}},
		{"a shard that is missing", []deployment{controller("w", gate, "--watch-label-selector=shard=one")},
			"problem no controller reconciles b/apps: change --watch-all-namespaces or --watch-label-selector, or move them", []string{"w/default"}},
		{"two that do the same", []deployment{controller("w", gate), controller("x", gate)},
			"problem w/winnow-controller and x/winnow-controller reconcile the same CatalogSelections: a/apps, b/apps: delete one, or separate them by --watch-label-selector",
			[]string{"w/default", "x/default"}},
		{"one without the gate that a cloud needs", []deployment{controller("a")},
			"problem a/winnow-controller lacks --feature-gates=ObjectLevelWorkloadIdentity=true, which the serviceAccountName of CatalogSelection a/apps needs", []string{"a/default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &examiner{installation: &installation{of: map[string]deployments{"winnow": test.controllers}, selections: all}, Examination: newExamination(), reaches: []reach{pushed, pushed}}
			if err := e.flags(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := e.Findings[0].State + " " + e.Findings[0].Message; got != test.want || len(e.Findings) > 1 {
				t.Errorf("got %q, want %q", got, test.want)
			}
			var accounts []string
			for _, d := range test.controllers {
				needs, err := e.needs(d, nil)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(needs, func(n need) bool { return n.right.Resource == "secrets" && n.right.Name == "login" }) {
					accounts = append(accounts, d.Namespace+"/default")
				}
			}
			if !slices.Equal(accounts, test.accounts) {
				t.Errorf("the Secret is needed by %v, want %v", accounts, test.accounts)
			}
		})
	}
}

func TestARegistryIsReachedForTheFormatsThatTheManifestDecides(t *testing.T) {
	for format, want := range map[string]bool{
		"": true, v1alpha1.FormatAuto: true, v1alpha1.FormatFileBased: true, v1alpha1.FormatApplications: false, v1alpha1.FormatDefinitions: false, v1alpha1.FormatKRMFunctions: false,
	} {
		if got := readsManifest(format); got != want {
			t.Errorf("%q: %t", format, got)
		}
	}
}

func TestAControllerIsReadyInItsVersion(t *testing.T) {
	const ready = "ok n/winnow-controller is Ready, image "
	for _, test := range []struct {
		name          string
		tag, number   string
		want          *int32
		updated, pods int32
		found         string
	}{
		{"a pod", "v0.1.0", "v0.1.0", nil, 1, 1, ready + "v0.1.0"},
		{"a number without v", "0.1.0", "v0.1.0", nil, 1, 1, ready + "0.1.0"},
		{"a build of no release", "v0.2.0", "dev", nil, 1, 1, ready + "v0.2.0"},
		{"another version", "v0.1.0", "v0.10.0", nil, 1, 1, "problem n/winnow-controller is v0.1.0, and this winnow v0.10.0: upgrade the older one"},
		{"a tag that is no version", "latest", "v0.1.0", nil, 1, 1, "unknown n/winnow-controller has an image with the tag latest, which is no version"},
		{"an upgrade that no pod has begun", "v0.1.0", "v0.1.0", ptr.To(int32(3)), 0, 3,
			"problem 0 of 3 pods of n/winnow-controller are Ready and as it has them: kubectl -n n describe pods -l app=winnow-controller"},
		{"two of three pods", "v0.1.0", "v0.1.0", ptr.To(int32(3)), 3, 2,
			"problem 2 of 3 pods of n/winnow-controller are Ready and as it has them: kubectl -n n describe pods -l app=winnow-controller"},
		{"no replicas", "v0.1.0", "v0.1.0", ptr.To(int32(0)), 0, 0, "problem no pod of n/winnow-controller is Ready: kubectl -n n describe pods -l app=winnow-controller"},
	} {
		d := newDeployment(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "winnow-controller"}})
		d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ghcr.io/winnow:" + test.tag}}
		d.Spec.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = test.want, test.updated, test.pods
		e := &examiner{installation: &installation{of: map[string]deployments{"winnow": {d}}}, Examination: newExamination(), number: test.number}
		if err := e.controller(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := e.Findings[0].State + " " + e.Findings[0].Message; got != test.found || len(e.Findings) > 1 {
			t.Errorf("%s: got %q", test.name, e.Findings)
		}
	}
}

func TestVersionsAreComparedByTheirNumbers(t *testing.T) {
	for found, want := range map[string]string{
		"v1.34.0+k3s1": ok, "v1.36.4-gke.100": ok, "v1.34.0-rc.1": ok, "v1.100.0": ok, "v1.33.9": problem, "v1.4.0": problem, "": unknown, "latest": unknown,
	} {
		e := &examiner{Examination: newExamination()}
		if e.atLeast("Kubernetes", found, leastKubernetes); e.Findings[0].State != want {
			t.Errorf("%q: %+v", found, e.Findings)
		}
	}
}

func TestTheDomainOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"a.n.svc.cluster.local.": "cluster.local", "a.n.svc.cluster.local": "cluster.local", "a.n.svc.cluster.local.:80": "cluster.local",
		"a.n.svc.$(DOMAIN).": "", "a.n": "", "a.n.svc": "", "127.0.0.1:80": "", "": "",
	} {
		if got := domainOf(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
