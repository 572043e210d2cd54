//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// operators is a namespace with a file-based catalog, and a selection of its packages.
type operators struct{ *installing }

// lemonCatalog is the path of the package lemon in an artifact.
const lemonCatalog = "configs/lemon/catalog.yaml"

// newOperators pushes a catalog of these packages as v1, in the shape of `flux push artifact`, and selects lemon from
// 1.1 on.
func newOperators(t *testing.T, name string, packages ...string) *operators {
	t.Helper()
	o := &operators{newInstalling(t, name)}
	o.offer("v1", packages...)
	repository := o.repository()
	repository.Spec.LayerSelector.MediaType = stack.FluxLayerMediaType
	o.create(repository)
	t.Cleanup(o.clear)
	o.commit([]string{
		o.selecting(name, limitedTo("lemon"), `versions: [{constraint: ">=1.1.0 <2.0.0-0"}]`),
		o.applying(name, name),
	})
	return o
}

// offer pushes a catalog of packages as a tag.
func (o *operators) offer(tag string, packages ...string) {
	o.t.Helper()
	dir := o.t.TempDir()
	write(o.t, filepath.Join(dir, "catalog.yaml"), strings.Join(packages, ""))
	_, err := system.PushCatalog(o.t.Context(), dir, o.name+":"+tag, stack.PushOptions{Shape: stack.FluxArtifact})
	if err != nil {
		o.t.Fatal(err)
	}
}

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

// A package is cut to the versions of a selection, and stays as it is published while a new catalog would strand one.
func TestOperators(t *testing.T) {
	plum := packageOf("plum", "1.0.0")
	o := newOperators(t, "operators", plum,
		packageOf("lemon", "1.0.0", "1.1.0, replaces: lemon.v1.0.0", "1.2.0, replaces: lemon.v1.1.0", "2.0.0, replaces: lemon.v1.2.0"))
	cs := o.awaitPublished(o.awaitPulled("v1"))
	o.assertSameRender(cs, o.name+"=oci://"+system.RegistryHost()+"/"+o.name+":v1")
	o.assertPublished(packageOf("lemon", "1.1.0, replaces: lemon.v1.0.0", "1.2.0, replaces: lemon.v1.1.0"))

	// 1.1.0 goes, and its successor is there.
	next := packageOf("lemon", "1.2.0, replaces: lemon.v1.1.0", "1.2.1, replaces: lemon.v1.2.0, skips: [lemon.v1.1.0]")
	o.offer("v2", next, plum)
	o.awaitPublished(o.follow("v2"))
	o.assertPublished(next)

	// No entry succeeds what is installed.
	last := packageOf("lemon", "1.3.0, replaces: lemon.v1.2.9")
	o.offer("v3", last, plum)
	digest := o.follow("v3")
	o.awaitHeld(digest, "Stranded lemon [lemon.v1.2.1 lemon.v1.2.0]")
	o.assertPublished(next)
	o.approve(digest)
	o.awaitPublished(digest)
	o.assertPublished(last)
}

// assertPublished compares the package in the artifact, of which kept blobs have their bytes.
func (o *operators) assertPublished(want string) {
	o.t.Helper()
	files := o.files()
	if got := files[lemonCatalog]; got != want {
		o.t.Errorf("published is\n%s\nwant\n%s", got, want)
	}
	for file := range files {
		if file != lemonCatalog && strings.HasPrefix(file, "configs/") {
			o.t.Errorf("published is %s as well", file)
		}
	}
}
