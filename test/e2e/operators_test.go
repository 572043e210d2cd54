// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/test/stack"
)

// operators is a namespace with a file-based catalog, and a selection of its packages.
type operators struct{ *installing }

// Paths of the selected packages in an artifact.
const (
	lemonCatalog = "configs/lemon/catalog.yaml"
	plumCatalog  = "configs/plum/catalog.yaml"
)

// newOperators pushes a catalog as v1, in the shape of `flux push artifact`, and selects the versions of lemon from 1.1
// on, and plum, with more lines in the spec of the selection. The catalog has fig as well.
func newOperators(t *testing.T, name string, spec ...string) *operators {
	t.Helper()
	return newOperatorsOf(t, name, packageOf("lemon",
		"1.0.0", "1.1.0, replaces: lemon.v1.0.0", "1.2.0, replaces: lemon.v1.1.0", "2.0.0, replaces: lemon.v1.2.0"), spec...)
}

// newOperatorsOf is newOperators for a lemon of other blobs.
func newOperatorsOf(t *testing.T, name, lemon string, spec ...string) *operators {
	t.Helper()
	o := &operators{newInstalling(t, name)}
	o.offer("v1", lemon)
	repository := o.repository()
	repository.Spec.LayerSelector.MediaType = stack.FluxLayerMediaType
	o.create(repository)
	t.Cleanup(o.clear)
	spec = append(spec, limitedTo("lemon", "plum"), `versions: [{names: [lemon], constraint: ">=1.1.0 <2.0.0-0"}]`)
	o.commit([]string{o.selecting(name, spec...), o.applying(name, name)})
	return o
}

// offer pushes a catalog as a tag, with lemon as it is given.
func (o *operators) offer(tag, lemon string) {
	o.t.Helper()
	o.pushCatalog(tag, plumPackage()+packageOf("fig", "1.0.0")+lemon)
}

func (o *operators) pushCatalog(tag, catalog string) {
	o.t.Helper()
	dir := o.t.TempDir()
	write(o.t, filepath.Join(dir, "catalog.yaml"), catalog)
	_, err := system.PushCatalog(o.t.Context(), dir, o.name+":"+tag, stack.PushOptions{Shape: stack.FluxArtifact})
	if err != nil {
		o.t.Fatal(err)
	}
}

func plumPackage() string { return packageOf("plum", "1.0.0") }

// packageOf returns the blobs of a package with one channel. Each entry begins with its version, and continues with
// the other fields of the entry.
func packageOf(name string, entries ...string) string {
	var channel, bundles strings.Builder
	for _, entry := range entries {
		version, _, _ := strings.Cut(entry, ",")
		fmt.Fprintf(&channel, "- {name: %s.v%s}\n", name, entry)
		fmt.Fprintf(&bundles, `---
schema: olm.bundle
name: %s.v%s
package: %[1]s
image: registry.example.com/%[1]s:%[2]s
properties:
- {type: olm.package, value: {packageName: %[1]s, version: %[2]s}}
- {type: olm.gvk, value: {group: example.com, kind: Fruit, version: v1}}
- {type: olm.csv.metadata, value: {installModes: [{type: OwnNamespace, supported: true}]}}
`, name, version)
	}
	return fmt.Sprintf(`---
schema: olm.package
name: %s
defaultChannel: stable
---
schema: olm.channel
package: %[1]s
name: stable
entries:
%s%s`, name, channel.String(), bundles.String())
}

// awaitPublished waits until the catalog of a digest is published and applied.
func (o *operators) awaitPublished(digest string) *v1alpha1.CatalogSelection {
	o.t.Helper()
	var published *v1alpha1.CatalogSelection
	o.await("published "+digest, func(ctx context.Context) error {
		cs, ea, ks, err := o.live(ctx)
		if err != nil {
			return err
		}
		of := cs.Status.Artifact
		switch {
		case of == nil || !strings.HasSuffix(cs.Status.Sources[0].Revision, digest) || !conditions.IsReady(cs) || cs.Status.Held != nil:
			return fmt.Errorf("not published: held is %+v, the conditions are %+v", cs.Status.Held, cs.Status.Conditions)
		case ea.Status.Artifact == nil || ea.Status.Artifact.Revision != of.Revision || ks.Status.LastAppliedRevision != of.Revision:
			return fmt.Errorf("not applied: %+v", ks.Status.Conditions)
		}
		published = cs
		return nil
	})
	return published
}

// A package is cut to the versions of a selection, and installed by OLM, of which only the definitions are here. It stays
// as it is published while a new catalog would strand a version.
func TestOperators(t *testing.T) {
	for _, release := range []stack.OLM{stack.OLMv0(), stack.OLMv1()} {
		if err := system.InstallOLM(t.Context(), release); err != nil {
			t.Fatal(err)
		}
	}
	o := newOperators(t, "operators", operatorInstances)
	cs := o.awaitPublished(o.awaitPulled("v1"))
	o.assertSameRender(cs, o.name+"=oci://"+system.RegistryHost()+"/"+o.name+":v1")
	o.assertPublished(packageOf("lemon", "1.1.0, replaces: lemon.v1.0.0", "1.2.0, replaces: lemon.v1.1.0"), "1.2.0")

	// 1.1.0 goes, and its successor is there.
	next := packageOf("lemon", "1.2.0, replaces: lemon.v1.1.0", "1.2.1, replaces: lemon.v1.2.0, skips: [lemon.v1.1.0]")
	o.offer("v2", next)
	o.awaitPublished(o.follow("v2"))
	o.assertPublished(next, "1.2.1")

	// No entry succeeds what is installed.
	last := packageOf("lemon", "1.3.0, replaces: lemon.v1.2.9")
	o.offer("v3", last)
	digest := o.follow("v3")
	held := o.awaitHeld(digest, "Stranded lemon [lemon.v1.2.1 lemon.v1.2.0]")
	o.assertPublished(next, "1.2.1")
	o.approve(held.Status.Held.Approve...)
	o.awaitPublished(digest)
	o.assertPublished(last, "1.3.0")

	// The package goes.
	o.offer("v4", "")
	o.follow("v4")
	o.awaitHolding("Removal : would be removed", "Removal lemon: instance lemon would be removed")
	o.assertPublished(last, "1.3.0")
}

// operatorInstances has one for each release of OLM.
const operatorInstances = `instances:
    lemon: {backend: ClusterExtension, namespace: lemon-system, version: 1.1 - 1.9, catalog: {name: fruits}}
    plum:
      backend: Subscription
      namespace: plum-system
      catalog: {name: fruits, namespace: olm}
      createOperatorGroup: false`

// assertPublished compares the package in the artifact, of which kept blobs have their bytes, and what is applied.
func (o *operators) assertPublished(want, version string) {
	o.t.Helper()
	files := o.files()
	if got := files[lemonCatalog]; got != want {
		o.t.Errorf("published is\n%s\nwant\n%s", got, want)
	}
	if got := files[plumCatalog]; got != plumPackage() {
		o.t.Errorf("published is\n%s\nwant\n%s", got, plumPackage())
	}
	seals := seal.Of([]string{lemonCatalog, plumCatalog})
	for file := range files {
		if _, is := seals[file]; !is && file != lemonCatalog && file != plumCatalog && strings.HasPrefix(file, "configs/") {
			o.t.Errorf("published is %s as well", file)
		}
	}
	o.assertInstances(version)
}

// assertInstances compares the objects of the instances, which have the version that OLM leads to as an annotation.
func (o *operators) assertInstances(version string) {
	o.t.Helper()
	for _, want := range []struct {
		apiVersion, kind, namespace, name, version string
		spec                                       map[string]any
	}{
		{"olm.operatorframework.io/v1", "ClusterExtension", "", "lemon", version, map[string]any{
			"namespace": "lemon-system",
			"source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{
				"packageName": "lemon", "version": ">=1.1 <=1.9", "upgradeConstraintPolicy": "CatalogProvided",
				"selector": map[string]any{"matchLabels": map[string]any{"olm.operatorframework.io/metadata.name": "fruits"}},
			}},
		}},
		{"operators.coreos.com/v1alpha1", "Subscription", "plum-system", "plum", "1.0.0", map[string]any{
			"name": "plum", "channel": "stable", "source": "fruits", "sourceNamespace": "olm",
		}},
	} {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(schema.FromAPIVersionAndKind(want.apiVersion, want.kind))
		if err := system.Client().Get(o.t.Context(), client.ObjectKey{Namespace: want.namespace, Name: want.name}, live); err != nil {
			o.t.Fatal(err)
		}
		if !reflect.DeepEqual(live.Object["spec"], want.spec) {
			o.t.Errorf("the %s has\n%v\nwant\n%v", want.kind, live.Object["spec"], want.spec)
		}
		if got := live.GetAnnotations()[v1alpha1.VersionAnnotation]; got != want.version {
			o.t.Errorf("the %s is of version %s, want %s", want.kind, got, want.version)
		}
	}
}

// The namespace of a ClusterExtension cannot be changed: a selection waits until its instance has that of one that an
// admin has made by hand, and takes it over.
func TestOperatorIsTakenOver(t *testing.T) {
	if err := system.InstallOLM(t.Context(), stack.OLMv1()); err != nil {
		t.Fatal(err)
	}
	const byHand = `---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: taken}
spec: {namespace: by-hand, serviceAccount: {name: installer}, source: {sourceType: Catalog, catalog: {packageName: lemon}}}
`
	if err := system.Apply(t.Context(), []byte(byHand)); err != nil {
		t.Fatal(err)
	}
	before := liveExtension(t)
	taking := "instances: {taken: {application: lemon, backend: ClusterExtension, namespace: %s, serviceAccountName: installer}}"
	o := newOperators(t, "taken", fmt.Sprintf(taking, "lemon-system"))
	o.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		if conditions.GetReason(cs, v1alpha1.HeldCondition) != v1alpha1.IdentityChangeReason || cs.Status.Artifact != nil {
			return fmt.Errorf("held is %+v", cs.Status.Held)
		}
		return nil
	})
	o.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		taken := spec.Instances["taken"]
		taken.Namespace = "by-hand"
		spec.Instances["taken"] = taken
	})
	o.awaitPublished(o.awaitPulled("v1"))
	after := liveExtension(t)
	if after.GetUID() != before.GetUID() || after.GetAnnotations()[v1alpha1.VersionAnnotation] != "1.2.0" {
		t.Errorf("not taken over: %v", after)
	}
}

func liveExtension(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind("olm.operatorframework.io/v1", "ClusterExtension"))
	if err := system.Client().Get(t.Context(), client.ObjectKey{Name: "taken"}, live); err != nil {
		t.Fatal(err)
	}
	return live
}
