// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/olmtest"
	"github.com/winnow-dev/winnow/test/stack"
)

// olmScenario is a selection of operators whose artifact Winnow pushes as a catalog image.
type olmScenario struct {
	olm
	*operators
}

// catalogd serves the packages and versions that a selection keeps, and no others, also of the next catalogs: from an
// image that a ClusterCatalog of the test names, and then from the ClusterCatalog in the artifact.
func TestOLMServesWhatIsKept(t *testing.T) {
	push := fmt.Sprintf("push: {url: oci://%s/kept-image, insecure: true, type: CatalogImage}", system.RegistryHost())
	o := olmScenario{startOLM(t), newOperators(t, "kept", push, servedInstance)}
	o.check("v1", "lemon.v1.1.0", "lemon.v1.2.0", "plum.v1.0.0")
	o.addCatalog()
	o.check("v1", "lemon.v1.1.0", "lemon.v1.2.0", "plum.v1.0.0")

	o.offer("v2", packageOf("lemon", "1.2.0", "1.2.1, replaces: lemon.v1.2.0, skipRange: '>=1.1.0 <1.2.1'"))
	o.point("v2")
	o.check("v2", "lemon.v1.2.0", "lemon.v1.2.1", "plum.v1.0.0")
	o.holdStranded()

	// A catalog image of two layers, of which source-controller pulls one.
	o.pushImage(t, "kept", "v3", "/configs", map[string]string{
		"lemon/catalog.yaml": packageOf("lemon", "1.2.1"), "plum.yaml": plumPackage(), "fig/catalog.yaml": packageOf("fig", "1.0.0"),
	}, map[string]string{
		"lemon/catalog.yaml": packageOf("lemon", "1.2.1", "1.3.0, replaces: lemon.v1.2.1, skips: [lemon.v1.2.0]"), ".wh.fig": "",
	})
	repository := o.repository()
	o.update(repository, func() {
		repository.Spec.Reference.Tag = "v3"
		repository.Spec.LayerSelector = &sourcev1.OCILayerSelector{MediaType: stack.CatalogLayerMediaType, Operation: sourcev1.OCILayerCopy}
	})
	o.check("v3", "lemon.v1.2.1", "lemon.v1.3.0", "plum.v1.0.0")
}

// servedInstance installs lemon from the catalog of the push, once there is one.
const servedInstance = "instances: {lemon-served: {application: lemon, backend: ClusterExtension, namespace: lemon-served, serviceAccountName: installer}}"

// check checks what is published of a tag: opm accepts it, and catalogd serves from the image what opm reads in the
// artifact, which has these bundles. The command line makes such an image, too, and the same artifact.
func (o olmScenario) check(tag string, bundles ...string) {
	o.t.Helper()
	cs := o.awaitPublished(o.awaitPulled(tag))
	dir := o.t.TempDir()
	for file, content := range o.files() {
		write(o.t, filepath.Join(dir, file), content)
	}
	o.opm.Validate(o.t, filepath.Join(dir, "configs"))
	want := o.opm.Render(o.t, filepath.Join(dir, "configs"))
	if names := olmtest.Bundles(o.t, want); !slices.Equal(names, bundles) {
		o.t.Errorf("published are the bundles %v, want %v", names, bundles)
	}
	image := strings.TrimPrefix(o.awaitPushedFrom(tag).Status.Push.URL, "oci://")
	made := winnow(o.t, "push", "--plain-http", "--as", "catalog-image", dir, "oci://"+system.RegistryHost()+"/kept-made:"+tag)
	all := map[string][]string{
		"opm reads":                              o.opm.Render(o.t, image),
		"catalogd serves":                        o.serve(o.t, "kept", image),
		"from the command line, catalogd serves": o.serve(o.t, "made", strings.TrimPrefix(made, "oci://")),
	}
	if cs.Spec.Push.Catalog != nil {
		o.assertSameRender(cs, "kept=oci://"+system.RegistryHost()+"/kept:"+tag)
		all["by the catalog in the artifact, catalogd serves"] = o.servedOf(image)
	}
	for what, got := range all {
		if !slices.Equal(got, want) {
			o.t.Errorf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// addCatalog adds a ClusterCatalog to the push, and waits until it is published.
func (o olmScenario) addCatalog() {
	o.t.Helper()
	before := o.awaitPushedFrom("v1").Status.Artifact.Revision
	o.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Push.Catalog = &v1alpha1.PushCatalog{Kind: v1alpha1.PushClusterCatalog}
	})
	o.awaitSelection("published with a catalog", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Artifact.Revision == before {
			return fmt.Errorf("published is %s", before)
		}
		return nil
	})
}

// holdStranded points to a catalog that has no successor of what is served: the ClusterCatalog, the image of the tag and
// what catalogd serves stay as they are.
func (o olmScenario) holdStranded() {
	o.t.Helper()
	before := o.awaitPushedFrom("v2").Status
	image := strings.TrimPrefix(before.Push.URL, "oci://")
	served := o.servedOf(image)
	o.offer("stranded", packageOf("lemon", "1.3.0, replaces: lemon.v1.2.9"))
	now := o.awaitHeld(o.follow("stranded"), "Stranded lemon [lemon.v1.2.1 lemon.v1.2.0]").Status
	if now.Artifact.Revision != before.Artifact.Revision || now.Push.URL != before.Push.URL {
		o.t.Errorf("while it is held, published is %s and pushed %s", now.Artifact.Revision, now.Push.URL)
	}
	if got := o.servedOf(image); !slices.Equal(got, served) {
		o.t.Errorf("while it is held, catalogd serves\n%s\nbefore\n%s", strings.Join(got, "\n"), strings.Join(served, "\n"))
	}
}

// servedOf returns what catalogd serves of the one ClusterCatalog that the instance selects. Its image, whose digest the
// render has computed, must be this one, and that of the tag in the registry.
func (o olmScenario) servedOf(image string) []string {
	o.t.Helper()
	extension := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension"}}
	if err := system.Client().Get(o.t.Context(), client.ObjectKey{Name: "lemon-served"}, extension); err != nil {
		o.t.Fatal(err)
	}
	labels, _, _ := unstructured.NestedStringMap(extension.Object, "spec", "source", "catalog", "selector", "matchLabels")
	catalogs := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalogList"}}
	if err := system.Client().List(o.t.Context(), catalogs, client.MatchingLabels(labels)); err != nil {
		o.t.Fatal(err)
	}
	if len(catalogs.Items) != 1 {
		o.t.Fatalf("the labels %v select %d ClusterCatalogs", labels, len(catalogs.Items))
	}
	named, _, _ := unstructured.NestedString(catalogs.Items[0].Object, "spec", "source", "image", "ref")
	tagged, err := plainRepository(o.t, "kept-image").Resolve(o.t.Context(), "latest")
	if err != nil {
		o.t.Fatal(err)
	}
	if named != image || !strings.HasSuffix(image, "@"+tagged.Digest.String()) {
		o.t.Errorf("the ClusterCatalog has the image %s and the tag %s, want %s", named, tagged.Digest, image)
	}
	served, err := o.catalogd.Served(o.t.Context(), catalogs.Items[0].GetName())
	if err != nil {
		o.t.Fatal(err)
	}
	return olmtest.Blobs(o.t, served)
}
