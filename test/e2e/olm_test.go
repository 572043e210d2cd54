//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/test/olmtest"
	"github.com/winnow-dev/winnow/test/stack"
)

// olm is what OLM has for catalogs.
type olm struct {
	opm      olmtest.Opm
	catalogd *stack.RunningCatalogd
}

// startOLM starts catalogd until the end of a test, or skips the test.
func startOLM(t *testing.T) olm {
	t.Helper()
	opm := olmtest.Need(t)
	catalogd, err := system.StartCatalogd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := catalogd.Stop(); err != nil {
			t.Error(err)
		}
	})
	return olm{opm, catalogd}
}

// serve applies a ClusterCatalog of an image, and returns the blobs that catalogd serves.
func (o olm) serve(t *testing.T, name, image string) []string {
	t.Helper()
	olmtest.ApplyCatalog(t, system.Stack, name, image)
	served, err := o.catalogd.Served(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return olmtest.Blobs(t, served)
}

// olmScenario is a selection of operators whose artifact Winnow pushes as a catalog image.
type olmScenario struct {
	olm
	*operators
}

// catalogd serves the packages and versions that a selection keeps, and no others, also of the next catalogs.
func TestOLMServesWhatIsKept(t *testing.T) {
	push := fmt.Sprintf("push: {url: oci://%s/kept-image, insecure: true, type: CatalogImage}", system.RegistryHost())
	o := olmScenario{startOLM(t), newOperators(t, "kept", push)}
	o.check("v1", "lemon.v1.1.0", "lemon.v1.2.0", "plum.v1.0.0")

	o.offer("v2", packageOf("lemon", "1.2.0", "1.2.1, replaces: lemon.v1.2.0, skipRange: '>=1.1.0 <1.2.1'"))
	o.point("v2")
	o.check("v2", "lemon.v1.2.0", "lemon.v1.2.1", "plum.v1.0.0")

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

// check checks what is published of a tag: opm accepts it, and catalogd serves from the image what opm reads in the
// artifact, which has these bundles. The command line makes such an image, too.
func (o olmScenario) check(tag string, bundles ...string) {
	o.t.Helper()
	o.awaitPublished(o.awaitPulled(tag))
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
	for what, got := range map[string][]string{
		"opm reads":                              o.opm.Render(o.t, image),
		"catalogd serves":                        o.serve(o.t, "kept", image),
		"from the command line, catalogd serves": o.serve(o.t, "made", strings.TrimPrefix(made, "oci://")),
	} {
		if !slices.Equal(got, want) {
			o.t.Errorf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// pushImage pushes a catalog image whose layers have these files, and returns its reference by digest.
func (o olm) pushImage(t *testing.T, repository, tag, label string, layers ...map[string]string) string {
	t.Helper()
	var dirs []string
	for _, layer := range layers {
		dir := t.TempDir()
		for file, content := range layer {
			write(t, filepath.Join(dir, file), content)
		}
		dirs = append(dirs, dir)
	}
	digest, err := system.PushCatalogImage(t.Context(), repository+":"+tag, map[string]string{stack.ConfigsLabel: label}, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return system.RegistryHost() + "/" + repository + "@" + digest.String()
}

// Images of several layers are for catalogd what they are for Winnow.
func TestOLMUnpacksLayersAlike(t *testing.T) {
	o := startOLM(t)
	lemon, plum, fig := packageOf("lemon", "1.0.0"), packageOf("plum", "1.0.0"), packageOf("fig", "1.0.0")
	for _, c := range []struct {
		name, label string
		layers      []map[string]string
		want        []string
	}{
		{"replaced", "/configs", []map[string]string{
			{"lemon/catalog.yaml": lemon, "plum/catalog.yaml": plum},
			{"lemon/catalog.yaml": packageOf("lemon", "2.0.0")},
		}, []string{"lemon.v2.0.0", "plum.v1.0.0"}},
		{"whiteouts", "/configs", []map[string]string{
			{"lemon/catalog.yaml": lemon, "plum/catalog.yaml": plum, "plum/README": "no blob"},
			{".wh.lemon": "", "plum/.wh.README": "", "fig/catalog.yaml": fig},
		}, []string{"fig.v1.0.0", "plum.v1.0.0"}},
		{"opaque", "/configs", []map[string]string{
			{"all/lemon.yaml": lemon, "all/plum.yaml": plum},
			{"all/.wh..wh..opq": "", "all/fig.yaml": fig},
		}, []string{"fig.v1.0.0"}},
		{"elsewhere", "/srv/catalog", []map[string]string{{"lemon.yaml": lemon}}, []string{"lemon.v1.0.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			image := o.pushImage(t, "layers-"+c.name, "v1", c.label, c.layers...)
			served := o.serve(t, "layers-"+c.name, image)
			if got := olmtest.Bundles(t, served); !slices.Equal(got, c.want) {
				t.Errorf("catalogd serves %v, want %v", got, c.want)
			}
			if got := o.read(t, image); !slices.Equal(got, served) {
				t.Errorf("Winnow reads\n%s\nand catalogd\n%s", strings.Join(got, "\n"), strings.Join(served, "\n"))
			}
		})
	}
}

// read returns the blobs that Winnow reads in an image.
func (o olm) read(t *testing.T, image string) []string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "selection.yaml")
	write(t, file, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: all, namespace: all}\nspec: {interval: 1h, sources: [{name: image}]}\n")
	winnow(t, "render", "-f", file, "--plain-http", "--source", "oci://"+image, "-o", filepath.Join(dir, "rendered"))
	return o.opm.Render(t, filepath.Join(dir, "rendered/configs"))
}
