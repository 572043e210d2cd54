// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

const pruneAnnotation = "kustomize.toolkit.fluxcd.io/prune"

// estate is a set of selections in one namespace over one catalog, each with Kustomizations of its own.
type estate struct {
	*scenario // the namespace and its OCIRepository; no selection
}

// newEstate pushes the catalog as v1 and creates the namespace and the OCIRepository. At the end of the
// test it deletes the objects in the namespace and the definitions.
func newEstate(t *testing.T, name string, apps []app) *estate {
	t.Helper()
	e := &estate{&scenario{t: t, name: name}}
	e.push("v1", apps)
	e.create(namespace(name))
	e.create(e.repository())
	t.Cleanup(e.clear)
	return e
}

// clear deletes the objects of a test: Kustomizations first, because their finalizers may prune.
func (e *estate) clear() {
	ctx := context.WithoutCancel(e.t.Context())
	for _, list := range []client.ObjectList{
		&kustomizev1.KustomizationList{}, &v1alpha1.CatalogSelectionList{}, &sourcev1.OCIRepositoryList{},
	} {
		if err := system.Client().List(ctx, list, client.InNamespace(e.name)); err != nil {
			e.t.Error(err)
		}
		for _, o := range itemsOf(list) {
			e.remove(o)
		}
	}
	left, err := e.definitions(ctx)
	if err != nil {
		e.t.Error(err)
	}
	for _, d := range left {
		e.remove(&d)
	}
}

func itemsOf(list client.ObjectList) (items []client.Object) {
	switch l := list.(type) {
	case *kustomizev1.KustomizationList:
		for i := range l.Items {
			items = append(items, &l.Items[i])
		}
	case *v1alpha1.CatalogSelectionList:
		for i := range l.Items {
			items = append(items, &l.Items[i])
		}
	case *sourcev1.OCIRepositoryList:
		for i := range l.Items {
			items = append(items, &l.Items[i])
		}
	}
	return items
}

// selecting returns the manifest of a selection with more lines in its spec.
func (e *estate) selecting(name string, spec ...string) string {
	return fmt.Sprintf(`---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: %s, namespace: %s}
spec:
  interval: 1h
  deletionPolicy: Delete
  sources: [{name: %[2]s}]
  %s
`, name, e.name, strings.Join(spec, "\n  "))
}

// limitedTo returns the line of a spec that selects the applications with these names.
func limitedTo(names ...string) string {
	return "limit: {nameSelector: [" + strings.Join(names, ", ") + "]}"
}

// naming returns the line of a spec that names what leaves.
func naming(lines ...string) string { return "safeguards: {approve: [" + quoted(lines) + "]}" }

// applying returns the manifest of a Kustomization over the artifact of a selection, or over an
// OCIRepository if source is OCIRepository/name.
func (e *estate) applying(name, source string, spec ...string) string {
	kind, of, named := strings.Cut(source, "/")
	if !named {
		kind, of = sourcev1.ExternalArtifactKind, source
	}
	return fmt.Sprintf(`---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: %s}
spec:
  interval: 24h
  retryInterval: 1s
  prune: true
  sourceRef: {kind: %s, name: %s}
  %s
`, name, e.name, kind, of, strings.Join(spec, "\n  "))
}

// commit applies manifests in their order and then deletes objects, as kustomize-controller does for one
// commit: CatalogSelections before Kustomizations and sources.
func (e *estate) commit(manifests []string, gone ...client.Object) {
	e.t.Helper()
	if err := system.Apply(e.t.Context(), []byte(strings.Join(manifests, ""))); err != nil {
		e.t.Fatal(err)
	}
	for _, o := range gone {
		if err := system.Client().Delete(e.t.Context(), o); err != nil {
			e.t.Fatalf("deleting %T: %v", o, err)
		}
	}
}

// selectionOf returns an empty selection with the name.
func (e *estate) selectionOf(name string) *v1alpha1.CatalogSelection {
	return &v1alpha1.CatalogSelection{ObjectMeta: e.metaOf(name)}
}

// of returns the scenario of one selection, for the functions that wait for its states.
func (e *estate) of(name string) *scenario {
	return &scenario{t: e.t, name: e.name, selection: e.selectionOf(name)}
}

func (e *estate) kustomizationOf(name string) *kustomizev1.Kustomization {
	return &kustomizev1.Kustomization{ObjectMeta: e.metaOf(name)}
}

// part is a selection, the Kustomization that applies it and its applications.
type part struct {
	selection, kustomization string
	apps                     []string
}

// awaitParts waits until exactly these selections have published exactly these applications, their
// Kustomizations have applied them, no other definition is live, and no mark is set. It returns the UIDs
// of the definitions.
func (e *estate) awaitParts(parts ...part) map[string]types.UID {
	e.t.Helper()
	var found map[string]types.UID
	e.await(fmt.Sprintf("settled as %v", parts), func(ctx context.Context) error {
		live, err := e.definitions(ctx)
		if err != nil {
			return err
		}
		found = map[string]types.UID{}
		for name, d := range live {
			found[name] = d.GetUID()
		}
		wanted := 0
		for _, p := range parts {
			if err := e.settledPart(ctx, p, live); err != nil {
				return fmt.Errorf("%s: %w", p.selection, err)
			}
			wanted += len(p.apps)
		}
		if len(live) != wanted {
			return fmt.Errorf("live are %v", slices.Sorted(maps.Keys(live)))
		}
		return nil
	})
	return found
}

// settledPart returns an error that names the reason why a selection is not settled.
func (e *estate) settledPart(ctx context.Context, p part, live map[string]unstructured.Unstructured) error {
	cs, ks := e.selectionOf(p.selection), e.kustomizationOf(p.kustomization)
	ea := &sourcev1.ExternalArtifact{ObjectMeta: e.metaOf(p.selection)}
	for _, o := range []client.Object{cs, ea, ks} {
		if err := system.Client().Get(ctx, keyOf(o), o); err != nil {
			return err
		}
	}
	var published []string
	for _, a := range cs.Status.Applications {
		published = append(published, a.Name)
	}
	switch artifact := cs.Status.Artifact; {
	case cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition):
		return fmt.Errorf("the conditions are %+v", cs.Status.Conditions)
	case cs.Status.Held != nil || !slices.Equal(published, p.apps):
		return fmt.Errorf("published are %v, held is %+v", published, cs.Status.Held)
	case artifact == nil || ea.Status.Artifact == nil || ea.Status.Artifact.Revision != artifact.Revision ||
		ks.Status.LastAppliedRevision != artifact.Revision || !conditions.IsReady(ks):
		return errors.New("not served and applied")
	}
	for _, name := range p.apps {
		d, lives := live[name]
		owner := d.GetLabels()["kustomize.toolkit.fluxcd.io/name"]
		if mark := d.GetAnnotations()[pruneAnnotation]; !lives || owner != p.kustomization || mark != "" {
			return fmt.Errorf("%s lives: %t; it is applied by %q and marked %q", name, lives, owner, mark)
		}
	}
	return nil
}

// assertSameObjects compares UIDs.
func (e *estate) assertSameObjects(before, after map[string]types.UID) {
	e.t.Helper()
	for name, uid := range before {
		if after[name] != uid {
			e.t.Errorf("%s was deleted: its UID was %q and is %q", name, uid, after[name])
		}
	}
}

// uids returns the UIDs of the live definitions.
func (e *estate) uids() map[string]types.UID {
	e.t.Helper()
	live, err := e.definitions(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	found := map[string]types.UID{}
	for name, d := range live {
		found[name] = d.GetUID()
	}
	return found
}

// plain pushes manifests unchanged, and creates an OCIRepository of them: a source that does not come
// from Winnow, such as a Git repository.
func (e *estate) plain(name string, files map[string]string) {
	e.t.Helper()
	dir := e.t.TempDir()
	for file, content := range files {
		write(e.t, filepath.Join(dir, file), content)
	}
	ref := e.name + "-" + name
	if _, err := system.PushCatalog(e.t.Context(), dir, ref+":v1", stack.PushOptions{}); err != nil {
		e.t.Fatal(err)
	}
	repository := e.repository()
	repository.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: e.name}
	repository.Spec.URL = fmt.Sprintf("oci://%s/%s", system.RegistryHost(), ref)
	e.create(repository)
}

// definitionManifest returns an ApplicationDefinition with one version.
func definitionManifest(name, version string) string {
	return fmt.Sprintf(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: %s}
spec:
  method: helm
  description: not of Winnow
  versions:
  - version: %s
    template: {source: {helm: {url: https://charts.example.com, chartName: %[1]s, chartVersion: %[2]s}}}
`, name, version)
}
