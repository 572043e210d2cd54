// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
