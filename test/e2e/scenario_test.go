// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// patience bounds every wait for a state; pulse is the time between two polls.
const (
	patience = 90 * time.Second
	pulse    = 100 * time.Millisecond
)

// app is an application of a generated catalog.
type app struct {
	name, tier string
	versions   []string
	values     string
	switches   bool // sets default, enforced and selector
	namespace  string
}

// scenario is a catalog in the registry, an OCIRepository, a CatalogSelection and a
// Kustomization with the same name, in a namespace of the test. The names of applications have
// it as prefix, because definitions are cluster-scoped.
type scenario struct {
	t         *testing.T
	name      string
	selection *v1alpha1.CatalogSelection
}

// newScenario pushes the catalog as v1 and applies the pipeline. mutate may change the
// selection and the Kustomization before they are created.
func newScenario(t *testing.T, name string, apps []app, mutate func(*v1alpha1.CatalogSelection, *kustomizev1.Kustomization)) *scenario {
	t.Helper()
	s := &scenario{t: t, name: name}
	s.push("v1", apps)
	key := metav1.ObjectMeta{Name: name, Namespace: name}
	s.selection = &v1alpha1.CatalogSelection{ObjectMeta: key, Spec: v1alpha1.CatalogSelectionSpec{
		Interval: metav1.Duration{Duration: time.Hour},
		Sources:  []v1alpha1.SourceReference{{Name: name}},

		DeletionPolicy: v1alpha1.DeletionPolicyDelete,
	}}
	kustomization := &kustomizev1.Kustomization{ObjectMeta: key, Spec: kustomizev1.KustomizationSpec{
		Interval:  metav1.Duration{Duration: time.Hour},
		Prune:     true,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: name},
	}}
	if mutate != nil {
		mutate(s.selection, kustomization)
	}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	s.create(s.repository())
	s.create(s.selection)
	s.create(kustomization)
	t.Cleanup(func() { s.remove(kustomization, s.selection, s.repository()) })
	return s
}

// metaOf returns the metadata of an object in the namespace of the scenario.
func (s *scenario) metaOf(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.name}
}

func (s *scenario) repository() *sourcev1.OCIRepository {
	return &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.name},
		Spec: sourcev1.OCIRepositorySpec{
			URL:       fmt.Sprintf("oci://%s/%s", system.RegistryHost(), s.name),
			Reference: &sourcev1.OCIRepositoryRef{Tag: "v1"},
			Insecure:  true,
			Interval:  metav1.Duration{Duration: time.Hour},
			LayerSelector: &sourcev1.OCILayerSelector{
				MediaType: stack.CatalogLayerMediaType,
				Operation: sourcev1.OCILayerExtract,
			},
		},
	}
}

// push writes a catalog and pushes it under a tag.
func (s *scenario) push(tag string, apps []app) {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, a := range apps {
		writeApp(s.t, filepath.Join(dir, "applications", a.name), a)
	}
	s.pushDir(tag, dir)
}

func (s *scenario) pushDir(tag, dir string) {
	s.t.Helper()
	if _, err := system.PushCatalog(s.t.Context(), dir, s.name+":"+tag, stack.PushOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func writeApp(t *testing.T, dir string, a app) {
	t.Helper()
	var doc strings.Builder
	fmt.Fprintf(&doc, "# %s, written by a test\napiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\n", a.name)
	fmt.Fprintf(&doc, "metadata:\n  name: %s\n", a.name)
	if a.namespace != "" {
		fmt.Fprintf(&doc, "  namespace: %s\n", a.namespace)
	}
	fmt.Fprintf(&doc, "spec:\n  method: helm\n  description: %q\n", "of "+a.name)
	if a.switches {
		doc.WriteString("  default: false\n  enforced: false\n  selector:\n    datacenters: [elsewhere]\n")
	}
	fmt.Fprintf(&doc, "  defaultValuesBlock: |\n    note: %q # {{ .Cluster.Version }} ${NOT_FLUXS}\n  versions:\n", a.values)
	for _, v := range a.versions {
		fmt.Fprintf(&doc, "  - version: %s\n    template:\n      source:\n        helm:\n", v)
		fmt.Fprintf(&doc, "          url: https://charts.example.com\n          chartName: %s\n          chartVersion: %s\n", a.name, v)
	}
	write(t, filepath.Join(dir, "application.yaml"), doc.String())
	write(t, filepath.Join(dir, "metadata.yaml"), fmt.Sprintf("tier: %s\n", a.tier))
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *scenario) create(object client.Object) {
	s.t.Helper()
	if err := system.Client().Create(s.t.Context(), object); err != nil {
		s.t.Fatalf("creating %T: %v", object, err)
	}
}

// remove deletes objects and waits until they are gone.
func (s *scenario) remove(objects ...client.Object) {
	s.t.Helper()
	ctx := context.WithoutCancel(s.t.Context())
	for _, o := range objects {
		if err := client.IgnoreNotFound(system.Client().Delete(ctx, o)); err != nil {
			s.t.Errorf("deleting %T: %v", o, err)
		}
		s.awaitGone(ctx, o)
	}
}

func (s *scenario) awaitGone(ctx context.Context, o client.Object) {
	s.t.Helper()
	err := wait.PollUntilContextTimeout(ctx, pulse, patience, true, func(ctx context.Context) (bool, error) {
		err := system.Client().Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object))
		return err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		s.t.Fatalf("%T %s is still there: %v", o, o.GetName(), err)
	}
}

// point changes the tag that the OCIRepository follows, and requests a reconciliation.
func (s *scenario) point(tag string) {
	s.t.Helper()
	repository := s.repository()
	s.update(repository, func() { repository.Spec.Reference = &sourcev1.OCIRepositoryRef{Tag: tag} })
}

// update patches the live object.
func (s *scenario) update(object client.Object, mutate func()) {
	s.t.Helper()
	if err := system.Client().Get(s.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.t.Fatal(err)
	}
	before := object.DeepCopyObject().(client.Object)
	mutate()
	if err := system.Client().Patch(s.t.Context(), object, client.MergeFrom(before)); err != nil {
		s.t.Fatalf("patching %T: %v", object, err)
	}
}

// await polls until check returns nil.
func (s *scenario) await(what string, check func(context.Context) error) {
	s.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(s.t.Context(), pulse, patience, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); err == nil || ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	if err != nil {
		s.t.Fatalf("%s: %v", what, last)
	}
}

// live returns the CatalogSelection, the ExternalArtifact and the Kustomization.
func (s *scenario) live(ctx context.Context) (*v1alpha1.CatalogSelection, *sourcev1.ExternalArtifact, *kustomizev1.Kustomization, error) {
	key := client.ObjectKey{Namespace: s.name, Name: s.name}
	cs, ea, ks := &v1alpha1.CatalogSelection{}, &sourcev1.ExternalArtifact{}, &kustomizev1.Kustomization{}
	for _, o := range []client.Object{cs, ea, ks} {
		if err := system.Client().Get(ctx, key, o); err != nil {
			return nil, nil, nil, fmt.Errorf("getting %T: %w", o, err)
		}
	}
	return cs, ea, ks, nil
}

// awaitSelection waits for a state of the CatalogSelection that belongs to its generation.
func (s *scenario) awaitSelection(what string, check func(*v1alpha1.CatalogSelection) error) *v1alpha1.CatalogSelection {
	s.t.Helper()
	cs := &v1alpha1.CatalogSelection{}
	s.await(what, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(s.selection), cs); err != nil {
			return err
		}
		if cs.Status.ObservedGeneration != cs.Generation {
			return fmt.Errorf("generation %d, observed %d", cs.Generation, cs.Status.ObservedGeneration)
		}
		if err := check(cs); err != nil {
			return fmt.Errorf("%w; conditions: %+v", err, cs.Status.Conditions)
		}
		return nil
	})
	return cs
}

// awaitStalled waits until Ready is False and the selection is Stalled for the reason.
func (s *scenario) awaitStalled(reason string) *v1alpha1.CatalogSelection {
	s.t.Helper()
	return s.awaitSelection("stalled by "+reason, func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsStalled(cs) || !conditions.IsFalse(cs, meta.ReadyCondition) ||
			conditions.GetReason(cs, meta.ReadyCondition) != reason {
			return fmt.Errorf("not stalled by %s", reason)
		}
		return nil
	})
}

// awaitApplied waits until exactly the named applications are published, applied and in the
// cluster, and returns their objects.
func (s *scenario) awaitApplied(names ...string) map[string]unstructured.Unstructured {
	s.t.Helper()
	var applied map[string]unstructured.Unstructured
	s.await(fmt.Sprintf("applied %v", names), func(ctx context.Context) error {
		cs, ea, ks, err := s.live(ctx)
		if err != nil {
			return err
		}
		var selected []string
		for _, a := range cs.Status.Applications {
			selected = append(selected, a.Name)
		}
		switch {
		case cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs):
			return fmt.Errorf("selection not ready: %+v", cs.Status.Conditions)
		case !slices.Equal(selected, names):
			return fmt.Errorf("selected %v", selected)
		case ea.Status.Artifact == nil || cs.Status.Artifact == nil || ea.Status.Artifact.Revision != cs.Status.Artifact.Revision:
			return fmt.Errorf("the ExternalArtifact has %v, the selection %v", ea.Status.Artifact, cs.Status.Artifact)
		case ks.Status.LastAppliedRevision != ea.Status.Artifact.Revision || !conditions.IsReady(ks):
			return fmt.Errorf("applied is %s of %s: %+v", ks.Status.LastAppliedRevision, ea.Status.Artifact.Revision, ks.Status.Conditions)
		}
		if applied, err = s.definitions(ctx); err != nil {
			return err
		}
		if len(applied) != len(names) {
			return fmt.Errorf("the cluster has %d definitions", len(applied))
		}
		for _, name := range names {
			if _, ok := applied[name]; !ok {
				return fmt.Errorf("the cluster has no %s", name)
			}
		}
		return nil
	})
	return applied
}
