package config_test

import (
	"context"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
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

// cozystackCRD is what this test needs of Cozystack.
const cozystackCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: applicationdefinitions.cozystack.io
spec:
  group: cozystack.io
  scope: Cluster
  names: {kind: ApplicationDefinition, listKind: ApplicationDefinitionList, plural: applicationdefinitions, singular: applicationdefinition}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

const cozystackDefinition = `
apiVersion: cozystack.io/v1alpha1
kind: ApplicationDefinition
metadata: {name: bucket}
spec:
  application: {kind: Bucket, plural: buckets, singular: bucket, openAPISchema: '{"type":"object"}'}
  dashboard: {weight: 10, keysOrder: [[apiVersion], [spec, size]]}
`

// bypassCase is a request, and the annotations of the object that it returns.
type bypassCase struct {
	name                string
	labels, annotations map[string]string // of the object to create
	patch               string            // a merge patch of it. Empty: the creation is the request
	want                map[string]string
}

var (
	managed  = map[string]string{managedByLabel: "winnow", "catalog.winnow.dev/name": "default"}
	bypassed = map[string]string{managedByLabel: "winnow", bypassLabel: ""}
	marks    = map[string]string{reconcile: "disabled", bypassMark: "admission"}
)

const setLabel = `{"metadata":{"labels":{"apps.k8c.io/application-bypass":"true"}}}`

func bypassCases() []bypassCase {
	other := map[string]string{"example.com/owner": "network"}
	return []bypassCase{
		{"the label on a managed object marks it, and keeps what it has", managed, other, setLabel, with(other, marks)},
		{"the label on an object without annotations marks it", managed, nil, setLabel, marks},
		{"the label with an empty value counts", managed, nil, strings.Replace(setLabel, `"true"`, `""`, 1), marks},
		{"the label with the value false counts", managed, nil, strings.Replace(setLabel, `"true"`, `"false"`, 1), marks},
		{"an object created with the label is marked", bypassed, nil, "", marks},
		{"an object that was labelled before it became Winnow's is marked then", map[string]string{bypassLabel: "true"}, nil,
			`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"winnow"}}}`, marks},
		{"a managed object without the label stays as it is", managed, other, `{"metadata":{"labels":{"example.com/a":"b"}}}`, other},
		{"an object of somebody else stays as it is", map[string]string{managedByLabel: "Helm"}, other, setLabel, other},
		{"an object without labels and annotations, of nobody, stays as it is", nil, nil, setLabel, nil},
		{"an object created without labels and annotations stays as it is", nil, nil, "", nil},
		{"somebody's own annotation does not become Winnow's", managed, map[string]string{reconcile: "disabled"}, setLabel, map[string]string{reconcile: "disabled"}},
		{"somebody's own annotation counts in any case, as with Flux", managed, map[string]string{reconcile: "Disabled"}, setLabel, map[string]string{reconcile: "Disabled"}},
		{"somebody's own annotation in the same request does not become Winnow's", managed, nil,
			`{"metadata":{"labels":{"apps.k8c.io/application-bypass":"true"},"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":"disabled"}}}`,
			map[string]string{reconcile: "disabled"}},
		{"another value, which Flux ignores, is replaced", managed, map[string]string{reconcile: "enabled"}, setLabel, marks},
		{"removing the label removes nothing", bypassed, other, `{"metadata":{"labels":{"apps.k8c.io/application-bypass":null}}}`, with(other, marks)},
		{"taking the marks while the label is there is in vain", bypassed, nil, `{"metadata":{"annotations":null}}`, marks},
		{"taking the marks together with the label works", bypassed, nil, `{"metadata":{"labels":{"apps.k8c.io/application-bypass":null},"annotations":null}}`, nil},
	}
}

func with(a, b map[string]string) map[string]string {
	sum := maps.Clone(a)
	maps.Copy(sum, b)
	return sum
}

// TestBypassPolicy runs on a system of its own, because the policy holds for a whole cluster.
func TestBypassPolicy(t *testing.T) {
	s := startWithPolicy(t)
	kkp, err := os.ReadFile("../examples/catalog/applications/argocd/application.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definitions := map[string]*unstructured.Unstructured{"KKP": parse(t, kkp), "Cozystack": parse(t, []byte(cozystackDefinition))}
	for platform, definition := range definitions {
		t.Run(platform, func(t *testing.T) {
			awaitAnnotations(t, s.Client(), definition, marks)
			for _, c := range bypassCases() {
				t.Run(c.name, func(t *testing.T) { c.run(t, s.Client(), definition) })
			}
			t.Run("nobody owns the marks, so that who applies them may take them back", func(t *testing.T) {
				marksAreTakenOver(t, s.Client(), definition)
			})
		})
	}
	t.Run("a policy that fails stops nobody", func(t *testing.T) {
		breakPolicy(t, s.Client())
		awaitAnnotations(t, s.Client(), definitions["KKP"], nil)
	})
}

// startWithPolicy skips the test where the API server does not know such policies.
func startWithPolicy(t *testing.T) *stack.Stack {
	t.Helper()
	s, err := stack.Start(t.Context(), stack.Options{Progress: t.Output(), CRDs: []string{"test/stack/crds"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	requireMutatingPolicies(t, s)
	if err := s.Apply(t.Context(), []byte(cozystackCRD)); err != nil {
		t.Fatal(err)
	}
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

// awaitAnnotations waits until a bypassed definition that is created has these annotations: the API
// server heeds a policy, or a kind, a moment after it has accepted it.
func awaitAnnotations(t *testing.T, api client.Client, definition *unstructured.Unstructured, want map[string]string) {
	t.Helper()
	var got map[string]string
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		probe := definition.DeepCopy()
		probe.SetLabels(bypassed)
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
	t.Cleanup(func() {
		if err := api.Delete(context.WithoutCancel(t.Context()), object); err != nil {
			t.Error(err)
		}
	})
	return object
}

func patch(t *testing.T, api client.Client, object client.Object, merge string) {
	t.Helper()
	if err := api.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
}

// marksAreTakenOver: an admission policy leaves no trace in managedFields. So an apply without the
// marks takes nothing back, unless the same manager has applied them before.
func marksAreTakenOver(t *testing.T, api client.Client, definition *unstructured.Unstructured) {
	own := map[string]string{"example.com/owner": "network"}
	object := create(t, api, definition, managed, own)
	patch(t, api, object, setLabel)
	for _, entry := range object.GetManagedFields() {
		if fields := entry.FieldsV1.GetRawString(); strings.Contains(fields, reconcile) || strings.Contains(fields, bypassMark) {
			t.Errorf("%s owns %s", entry.Manager, fields)
		}
	}
	patch(t, api, object, `{"metadata":{"labels":{"apps.k8c.io/application-bypass":null}}}`)
	for i, c := range []struct{ applied, want map[string]string }{
		{nil, with(own, marks)},
		{marks, with(own, marks)},
		{nil, own},
	} {
		applied := &unstructured.Unstructured{}
		applied.SetGroupVersionKind(definition.GroupVersionKind())
		applied.SetName(definition.GetName())
		applied.SetAnnotations(c.applied)
		if err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("controller"), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
		if got := applied.GetAnnotations(); !maps.Equal(got, c.want) {
			t.Errorf("after apply %d the annotations are %v, want %v", i+1, got, c.want)
		}
	}
}

// breakPolicy makes the policy fail when it mutates.
func breakPolicy(t *testing.T, api client.Client) {
	t.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "winnow-bypass-mark"}}
	patch(t, api, policy, `{"spec":{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":
		"Object{metadata: Object.metadata{annotations: {'a': string(object.spec.isNotThere)}}}"}}]}}`)
}
