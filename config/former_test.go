// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/test/stack"
)

// former is an object as a CustomResourceDefinition of an earlier commit has stored it. docs/compatibility.md has the rule:
// it goes on as before, means something stricter, or is refused.
type former struct {
	name, spec, status string
	// deletes reports that objects that leave the artifact are deleted, as before.
	deletes bool
	// stalls is a part of the error of the controller; empty if it reconciles the object as before.
	stalls string
	// edit is a part of the answer to an edit of another field of the spec, and create of that to the same spec in a new
	// object; empty if they are accepted.
	edit, create string
	// drops are the paths of fields that are gone, without which the object means something stricter.
	drops []string
}

// formers has a case for each field that was renamed or is gone, and for each rule that has become stricter. What was added, and rules
// that have become looser, need none: see testdata/fields.txt.
func formers() []former {
	const renamed, reserved = "prune was renamed: write deletionPolicy: Delete instead of prune: true", "cannot be set here"
	sources := func(more string) string {
		return "interval: 10m\nsources: [{name: catalog, kind: OCIRepository, format: Auto}]\n" + more
	}
	return []former{
		{name: "what the first commit stored", spec: sources("prune: false")},
		{name: "without prune", spec: sources("")},
		{name: "prune", spec: sources("prune: true"), deletes: true, edit: renamed, create: renamed},
		{name: "no prune, and the new name", spec: sources("prune: false\ndeletionPolicy: Delete"), deletes: true},
		{name: "prune, and the new name", spec: sources("prune: true\ndeletionPolicy: Delete"), deletes: true},
		{name: "prune against the new name", spec: sources("prune: true\ndeletionPolicy: Orphan"), edit: renamed, create: renamed},
		{name: "the default of the new name", spec: sources("deletionPolicy: Orphan")},
		{name: "an annotation that is reserved now", spec: sources("commonMetadata: {annotations: {config.kubernetes.io/local-config: 'true'}}"),
			stalls: "config.kubernetes.io/local-config", create: reserved},
		{name: "a label that is reserved now", spec: sources("commonMetadata: {labels: {apps.k8c.io/application-bypass: 'true'}}"),
			stalls: "apps.k8c.io/application-bypass", create: reserved},
		{name: "an annotation of KKP that is reserved now", spec: sources("commonMetadata: {annotations: {apps.k8c.io/managed-by-external-manager: 'true'}}"),
			stalls: "apps.k8c.io/managed-by-external-manager", create: reserved},
		{name: "a mirror with a path in upper case", spec: sources("mirrors: [{from: example.com, to: 'oci://mirror.example.com/UPPER'}]"),
			stalls: "mirrors", create: "must be [oci://|https://]"},
		{name: "a mirror over HTTP and https", spec: sources("mirrors: [{from: example.com, to: 'https://mirror.example.com', helm: {plainHTTP: true}}]"),
			stalls: "plainHTTP", create: "helm.plainHTTP is for oci:// addresses"},
		{name: "an account that is no name", spec: sources("serviceAccountName: Not_A_Name"), create: "should match"},
		{name: "an account of a push that is no name", spec: sources("push: {url: 'oci://registry.example.com/a', serviceAccountName: Not_A_Name}"),
			create: "should match"},
		{name: "an account of an instance that is no name", spec: sources("instances: {a: {namespace: a, serviceAccountName: Not_A_Name}}"),
			create: "should match"},
		{name: "an instance with an interval below a second", spec: sources("instances: {a: {namespace: a, interval: 1ms}}"),
			stalls: "must be at least 1s", create: "must be at least 1s"},
		{name: "an approval of a long algorithm", spec: sources("safeguards: {approve: ['" + strings.Repeat("a", 1000) + ":" + strings.Repeat("0", 64) + "']}"),
			create: "Too long"},
		{name: "a record of the first format", spec: sources("prune: true"), deletes: true, edit: renamed, create: renamed,
			status: "observedGeneration: 1\npublished: H4sIAAAAAAAA\napplications: [{name: argocd}]\nsummary: {available: 1, selected: 1}",
			drops:  []string{"status.published"}}, // the archive is the baseline
		{name: "an empty result that is published", spec: sources("safeguards: {onEmpty: Publish, onRemoval: Publish}"),
			drops: []string{"spec.safeguards.onEmpty"}}, // it is the loss of every name, which is held
		{name: "approvals that are used", spec: sources("safeguards: {approve: ['sha256:" + strings.Repeat("0", 64) + "#2']}"),
			status: "observedGeneration: 1\nusedApprovals: ['sha256:" + strings.Repeat("0", 64) + "#2']",
			drops:  []string{"status.usedApprovals[0]"}}, // the checksum of a revision releases nothing
	}
}

// The API server stores the objects while any field is allowed, as it does with the fields of a former definition, and then
// gets the present one. It returns stored objects without fields that the definition lacks, and says nothing.
func TestObjectsOfFormerShapesGoOnOrAreRefused(t *testing.T) {
	s := controlPlane(t)
	t.Cleanup(func() {
		if err := s.DeleteKustomization(context.WithoutCancel(t.Context()), "config/crd", time.Minute); err != nil {
			t.Error(err)
		}
	})
	permitAll(t, s)
	for i, test := range formers() {
		store(t, s.Client(), test.object(t, i))
	}
	if err := s.ApplyKustomization(t.Context(), "config/crd"); err != nil {
		t.Fatal(err)
	}
	awaitSchema(t, s.Client())
	for i, test := range formers() {
		t.Run(test.name, func(t *testing.T) { test.check(t, s.Client(), test.object(t, i)) })
	}
}

// permitAll installs the CustomResourceDefinition with a schema that permits everything.
func permitAll(t *testing.T, s *stack.Stack) {
	t.Helper()
	crd := definition(t)
	anything := true
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything}
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	content, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), content); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha1.AddToScheme(s.Client().Scheme()); err != nil {
		t.Fatal(err)
	}
}

func (f former) object(t *testing.T, i int) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind))
	object.SetName(fmt.Sprintf("former-%02d", i))
	object.SetNamespace(corev1.NamespaceDefault)
	object.SetFinalizers([]string{v1alpha1.CatalogSelectionFinalizer})
	for field, content := range map[string]string{"spec": f.spec, "status": f.status} {
		var fields map[string]any
		if err := yaml.Unmarshal([]byte(content), &fields); err != nil {
			t.Fatal(err)
		}
		if fields != nil {
			object.Object[field] = fields
		}
	}
	return object
}

func store(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	status := object.DeepCopy()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Create(ctx, object)
		if apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return false, nil // the API server serves a definition a moment after it is established
		}
		return err == nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	status.SetResourceVersion(object.GetResourceVersion())
	if err := c.Status().Update(t.Context(), status); err != nil {
		t.Fatal(err)
	}
}

// awaitSchema waits until the API server uses the present schema.
func awaitSchema(t *testing.T, c client.Client) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe := &v1alpha1.CatalogSelection{}
		probe.Name, probe.Namespace = "probe", corev1.NamespaceDefault
		return client.NewDryRunClient(c).Create(ctx, probe) != nil, nil // it has no source
	})
	if err != nil {
		t.Fatalf("the present schema is not used: %v", err)
	}
}

func (f former) check(t *testing.T, c client.Client, stored *unstructured.Unstructured) {
	t.Helper()
	key := client.ObjectKeyFromObject(stored)
	read := stored.DeepCopy()
	if err := c.Get(t.Context(), key, read); err != nil {
		t.Fatal(err)
	}
	lost := slices.Concat(missing(stored.Object["spec"], read.Object["spec"], "spec"), missing(stored.Object["status"], read.Object["status"], "status"))
	if !slices.Equal(lost, f.drops) {
		t.Errorf("the API server drops %v, want %v", lost, f.drops)
	}
	cs := &v1alpha1.CatalogSelection{}
	if err := c.Get(t.Context(), key, cs); err != nil {
		t.Fatal(err)
	}
	if got := cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyDelete; got != f.deletes {
		t.Errorf("deletes is %v, was %v", got, f.deletes)
	}
	if _, err := options.FromSpec(cs); !answers(err, f.stalls) {
		t.Errorf("FromSpec() = %v, want %q", err, f.stalls)
	}
	// What the controller writes must be accepted, whatever the spec is.
	before := cs.DeepCopy()
	cs.Finalizers = nil
	if err := c.Patch(t.Context(), cs, client.MergeFrom(before)); err != nil {
		t.Errorf("the finalizer cannot be removed: %v", err)
	}
	before = cs.DeepCopy()
	cs.Status.ObservedGeneration = cs.Generation
	if err := c.Status().Patch(t.Context(), cs, client.MergeFrom(before)); err != nil {
		t.Errorf("the status cannot be written: %v", err)
	}
	if err := c.Get(t.Context(), key, read); err != nil {
		t.Fatal(err)
	}
	if lost := missing(stored.Object["spec"], read.Object["spec"], "spec"); len(lost) > 0 && !slices.Equal(lost, f.drops) {
		t.Errorf("the write of the status drops %v", lost)
	}
	f.write(t, client.NewDryRunClient(c), stored, read)
}

// write checks the answers of the API server to what people write.
func (f former) write(t *testing.T, dryRun client.Client, stored, read *unstructured.Unstructured) {
	t.Helper()
	edited := read.DeepCopy()
	if err := unstructured.SetNestedField(edited.Object, true, "spec", "suspend"); err != nil {
		t.Fatal(err)
	}
	if err := dryRun.Update(t.Context(), edited); !answers(err, f.edit) {
		t.Errorf("an edit: %v, want %q", err, f.edit)
	}
	created := stored.DeepCopy()
	created.SetName("new")
	if err := dryRun.Create(t.Context(), created); !answers(err, f.create) {
		t.Errorf("a new object: %v, want %q", err, f.create)
	}
}

// answers reports whether err has the text, or is nil if the text is empty.
func answers(err error, text string) bool {
	return (err == nil) == (text == "") && (err == nil || strings.Contains(err.Error(), text))
}

// missing returns the paths of the values in stored that read does not have.
func missing(stored, read any, path string) []string {
	var lost []string
	switch stored := stored.(type) {
	case map[string]any:
		others, _ := read.(map[string]any)
		for name, value := range stored {
			lost = append(lost, missing(value, others[name], path+"."+name)...)
		}
	case []any:
		others, _ := read.([]any)
		for i, item := range stored {
			var other any
			if i < len(others) {
				other = others[i]
			}
			lost = append(lost, missing(item, other, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case nil:
	default:
		if fmt.Sprint(stored) != fmt.Sprint(read) { // a number may have another type
			lost = append(lost, path)
		}
	}
	return lost
}
