// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// loss is a namespace with all objects of Winnow and Flux, which is lost and restored. The definitions that were applied
// live on: if they were restored as well, they have the labels that they had.
type loss struct {
	*scenario
	// git restores what is in Git: neither the ExternalArtifact nor any status. Otherwise it is a backup, with the status
	// of all objects if status is true.
	git, status bool
	// less is a catalog that has lost an application, and a version of another one, meanwhile.
	less bool
	// running restores it while the controller runs.
	running bool
	// held is what the controller holds until it is approved, and left are the applications that live then.
	held []string
	left string

	saved  []*unstructured.Unstructured
	before map[string]unstructured.Unstructured
}

// losses returns a case for each kind of restore. What the catalog has lost meanwhile is held, as far as anything tells that
// it was published: of live definitions, their versions do. An application that nothing tells of stays, because Flux deletes
// only what an inventory has.
func losses() []*loss {
	adopted, removed := []string{"Adoption a [1.0.0]"}, []string{"Removal c [3.0.0]", "VersionRemoval a [1.0.0]"}
	return []*loss{
		{scenario: &scenario{name: "gitsame"}, git: true, left: "abc"},
		{scenario: &scenario{name: "gitlive"}, git: true, running: true, left: "abc"},
		{scenario: &scenario{name: "gitless"}, git: true, less: true, held: adopted, left: "abc"},
		{scenario: &scenario{name: "baresame"}, left: "abc"},
		{scenario: &scenario{name: "barelive"}, running: true, left: "abc"},
		{scenario: &scenario{name: "bareless"}, less: true, held: adopted, left: "abc"},
		{scenario: &scenario{name: "fullsame"}, status: true, left: "abc"},
		{scenario: &scenario{name: "fulllive"}, status: true, running: true, left: "abc"},
		{scenario: &scenario{name: "fullless"}, status: true, less: true, held: removed, left: "ab"},
	}
}

// All are lost at the same time, with the archives of the controller.
func TestANamespaceIsRestored(t *testing.T) {
	all := losses()
	for _, l := range all {
		l.scenario = newScenario(t, l.name, catalogOf(l.name), nil)
	}
	for _, l := range all {
		l.before = l.awaitApplied(l.name+"-a", l.name+"-b", l.name+"-c")
		l.save()
	}
	if err := system.controller.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		l.lose()
	}
	for _, l := range all {
		if !l.running {
			l.restore()
		}
	}
	var err error
	if system.controller, err = system.StartController(t.Context(), stack.ControllerOptions{Binary: system.binary, Args: []string{settleDelay}}); err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.running {
			l.restore()
		}
	}
	for _, l := range all {
		t.Run(l.name, func(t *testing.T) {
			l.t = t
			l.converge()
		})
	}
}

// save keeps the objects as a backup does, sources last.
func (l *loss) save() {
	l.t.Helper()
	for _, object := range []client.Object{
		&v1alpha1.CatalogSelection{}, &sourcev1.ExternalArtifact{}, &kustomizev1.Kustomization{}, &sourcev1.OCIRepository{},
	} {
		saved := &unstructured.Unstructured{}
		saved.SetGroupVersionKind(gvkOf(l.t, object))
		if err := system.Client().Get(l.t.Context(), client.ObjectKey{Namespace: l.name, Name: l.name}, saved); err != nil {
			l.t.Fatal(err)
		}
		if l.git && saved.GetKind() == sourcev1.ExternalArtifactKind {
			continue
		}
		l.saved = append(l.saved, saved)
	}
}

func gvkOf(t *testing.T, object client.Object) schema.GroupVersionKind {
	t.Helper()
	gvk, err := system.Client().GroupVersionKindFor(object)
	if err != nil {
		t.Fatal(err)
	}
	return gvk
}

// lose deletes all objects, such that kustomize-controller prunes nothing: it does not see that a suspended Kustomization
// is deleted.
func (l *loss) lose() {
	l.t.Helper()
	_, ea, ks, err := l.live(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	l.update(ks, func() { ks.Spec.Suspend = true })
	l.remove(ks, l.selection.DeepCopy(), ea, l.repository())
	if l.less {
		apps := catalogOf(l.name)[:2]
		apps[0].versions = apps[0].versions[1:]
		l.push("v1", apps)
	}
	if live, err := l.definitions(l.t.Context()); err != nil || len(live) != 3 {
		l.t.Fatalf("%d definitions live on (%v), want 3", len(live), err)
	}
}

// restore creates the objects under new UIDs, without their owners.
func (l *loss) restore() {
	l.t.Helper()
	for _, saved := range l.saved {
		object := saved.DeepCopy()
		for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences"} {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		unstructured.RemoveNestedField(object.Object, "status")
		l.create(object)
		if !l.status {
			continue
		}
		patch := &unstructured.Unstructured{Object: map[string]any{"status": saved.Object["status"]}}
		content, err := patch.MarshalJSON()
		if err != nil && len(content) == 0 {
			l.t.Fatal(err)
		}
		if err := system.Client().Status().Patch(l.t.Context(), object, client.RawPatch("application/merge-patch+json", content)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// converge waits until all is applied, what is held after it was approved.
func (l *loss) converge() {
	l.t.Helper()
	if l.held != nil {
		cs := l.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
			var got []string
			if cs.Status.Held != nil {
				for _, r := range cs.Status.Held.Reasons {
					got = append(got, fmt.Sprintf("%s %s %v", r.Reason, strings.TrimPrefix(r.Application, l.name+"-"), r.Versions))
				}
			}
			if slices.Sort(got); !slices.Equal(got, l.held) || len(cs.Status.Held.Approve) == 0 {
				return fmt.Errorf("held is %v", got)
			}
			return nil
		})
		l.assertAlive("abc")
		l.approve(cs.Status.Held.Approve...)
	}
	published := []string{"a", "b", "c"}
	if l.less {
		published = published[:2]
	}
	l.await("applied", func(ctx context.Context) error {
		cs, ea, ks, err := l.live(ctx)
		if err != nil {
			return err
		}
		var names []string
		for _, a := range cs.Status.Applications {
			names = append(names, strings.TrimPrefix(a.Name, l.name+"-"))
		}
		switch {
		case !slices.Equal(names, published):
			return fmt.Errorf("published are %v: %+v", names, cs.Status.Conditions)
		case ea.Status.Artifact == nil || ea.Status.Artifact.Revision != cs.Status.Artifact.Revision:
			return errors.New("not announced")
		case ks.Status.LastAppliedRevision != ea.Status.Artifact.Revision || !conditions.IsReady(ks):
			return errors.New("not applied")
		}
		return nil
	})
	l.assertAlive(l.left)
}

// assertAlive checks that these definitions, and no others, are those of before.
func (l *loss) assertAlive(names string) {
	l.t.Helper()
	live, err := l.definitions(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	alive := ""
	for _, suffix := range []string{"a", "b", "c"} {
		if object, ok := live[l.name+"-"+suffix]; ok {
			alive += suffix
			if before := l.before[object.GetName()]; before.GetUID() != object.GetUID() {
				l.t.Errorf("%s was deleted and created again", object.GetName())
			}
		}
	}
	if alive != names {
		l.t.Errorf("alive are %q, want %q", alive, names)
	}
}
