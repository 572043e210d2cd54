// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/stack"
)

// The wire contract of the bypass.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	bypassLabel    = "apps.k8c.io/application-bypass"
	reconcile      = "kustomize.toolkit.fluxcd.io/reconcile"
	bypassMark     = "catalog.winnow.dev/bypass-mark"
)

// platformCRD is what this test needs of Cozystack, or of another platform, by its group.
const platformCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: applicationdefinitions.%[1]s
spec:
  group: %[1]s
  scope: Cluster
  names: {kind: ApplicationDefinition, listKind: ApplicationDefinitionList, plural: applicationdefinitions, singular: applicationdefinition}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

var otherPlatforms = []string{"cozystack.io", "platform.example.com"}

const platformDefinition = `
apiVersion: %s/v1alpha1
kind: ApplicationDefinition
metadata: {name: bucket}
spec:
  application: {kind: Bucket, plural: buckets, singular: bucket, openAPISchema: '{"type":"object"}'}
  dashboard: {weight: 10, keysOrder: [[apiVersion], [spec, size]]}
`

func TestBypassPolicy(t *testing.T) {
	s := startWithPolicy(t)
	kkp, err := os.ReadFile("../examples/catalog/applications/argocd/application.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definitions := map[string]*unstructured.Unstructured{"KKP": parse(t, kkp)}
	for _, group := range otherPlatforms {
		definitions[group] = parse(t, fmt.Appendf(nil, platformDefinition, group))
	}
	for platform, definition := range definitions {
		t.Run(platform, func(t *testing.T) {
			awaitAnnotations(t, s.Client(), definition, bypassed, nil, marks)
			awaitAnnotations(t, s.Client(), definition, managed, marks, nil)
			for _, c := range slices.Concat(bypassCases(), unmarkCases()) {
				t.Run(c.name, func(t *testing.T) { c.run(t, s.Client(), definition) })
			}
			t.Run("nobody owns the marks, so no apply takes them back", func(t *testing.T) {
				marksHaveNoOwner(t, s.Client(), definition)
			})
			t.Run("Flux does not end a bypass", func(t *testing.T) { fluxEndsNoBypass(t, s.Client(), definition) })
		})
	}
	t.Run("a policy that fails stops nobody", func(t *testing.T) {
		breakPolicies(t, s.Client())
		awaitAnnotations(t, s.Client(), definitions["KKP"], bypassed, nil, nil)
		awaitAnnotations(t, s.Client(), definitions["KKP"], managed, marks, marks)
	})
}

// startWithPolicy skips the test where the API server does not know such policies.
func startWithPolicy(t *testing.T) *stack.Stack {
	t.Helper()
	s := controlPlane(t)
	requireMutatingPolicies(t, s)
	for _, group := range otherPlatforms {
		if err := s.Apply(t.Context(), fmt.Appendf(nil, platformCRD, group)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := s.DeleteKustomization(context.WithoutCancel(t.Context()), "config/policies/bypass", time.Minute); err != nil {
			t.Error(err)
		}
	})
	if err := s.ApplyKustomization(t.Context(), "config/policies/bypass"); err != nil {
		t.Fatal(err)
	}
	return s
}

func requireMutatingPolicies(t *testing.T, s *stack.Stack) {
	t.Helper()
	server, err := discovery.NewDiscoveryClientForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	served, err := server.ServerResourcesForGroupVersion(admissionv1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	const resource = "mutatingadmissionpolicies"
	if !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
		t.Skipf("skipped: the API server does not serve %s in %s; Kubernetes 1.36 does", resource, served.GroupVersion)
	}
}

func parse(t *testing.T, manifest []byte) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// awaitAnnotations waits until a definition that is created has these annotations: the API server
// heeds a policy, or a kind, a moment after it has accepted it.
func awaitAnnotations(t *testing.T, api client.Client, definition *unstructured.Unstructured, labels, annotations, want map[string]string) {
	t.Helper()
	var got map[string]string
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		probe := definition.DeepCopy()
		probe.SetLabels(labels)
		probe.SetAnnotations(annotations)
		last = api.Create(ctx, probe, client.DryRunAll)
		got = probe.GetAnnotations()
		return last == nil && maps.Equal(got, want), nil
	})
	if err != nil {
		t.Fatalf("waiting for the annotations %v: %v; they are %v, the last error is: %v", want, err, got, last)
	}
}

func (c bypassCase) run(t *testing.T, api client.Client, definition *unstructured.Unstructured) {
	object := create(t, api, definition, c.labels, c.annotations)
	if c.patch != "" {
		patch(t, api, object, c.patch)
	}
	if got := object.GetAnnotations(); !maps.Equal(got, c.want) {
		t.Errorf("the annotations are %v, want %v", got, c.want)
	}
	if !reflect.DeepEqual(object.Object["spec"], definition.Object["spec"]) {
		t.Errorf("the spec is %v, want %v", object.Object["spec"], definition.Object["spec"])
	}
}

// create returns the object as the API server returned it, and deletes it after the test.
func create(t *testing.T, api client.Client, definition *unstructured.Unstructured, labels, annotations map[string]string) *unstructured.Unstructured {
	t.Helper()
	object := definition.DeepCopy()
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	if err := api.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, api, object) })
	return object
}

func patch(t *testing.T, api client.Client, object client.Object, merge string) {
	t.Helper()
	if err := api.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
}

// breakPolicies makes the policies fail when they mutate.
func breakPolicies(t *testing.T, api client.Client) {
	t.Helper()
	for _, name := range []string{"winnow-bypass-mark", "winnow-bypass-unmark"} {
		policy := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
		patch(t, api, policy, `{"spec":{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":
			"Object{metadata: Object.metadata{annotations: {'a': string(object.spec.isNotThere)}}}"}}]}}`)
	}
}
