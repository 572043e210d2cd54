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

// olmScenario is a selection of operators whose artifact is pushed as a catalog image.
type olmScenario struct {
	olm
	*operators
}

// catalogd serves the packages and versions that a selection keeps, and no others, also of the next catalog.
func TestOLMServesWhatIsKept(t *testing.T) {
	o := olmScenario{startOLM(t), newOperators(t, "kept")}
	o.awaitPublished(o.awaitPulled("v1"))
	o.check("lemon.v1.1.0", "lemon.v1.2.0")

	o.offer("v2", packageOf("lemon", "1.2.0", "1.2.1, replaces: lemon.v1.2.0, skipRange: '>=1.1.0 <1.2.1'"))
	o.awaitPublished(o.follow("v2"))
	o.check("lemon.v1.2.0", "lemon.v1.2.1")
}

// check pushes the published catalog as an image, and checks that opm accepts it, and that catalogd serves what opm
// reads: blobs with these bundles.
func (o olmScenario) check(bundles ...string) {
	o.t.Helper()
	dir := o.t.TempDir()
	for file, content := range o.files() {
		write(o.t, filepath.Join(dir, file), content)
	}
	o.opm.Validate(o.t, filepath.Join(dir, "configs"))
	want := o.opm.Render(o.t, filepath.Join(dir, "configs"))
	labels := map[string]string{stack.ConfigsLabel: "/configs"}
	digest, err := system.PushCatalogImage(o.t.Context(), "kept-image:v1", labels, filepath.Join(dir, "configs"))
	if err != nil {
		o.t.Fatal(err)
	}
	image := system.RegistryHost() + "/kept-image@" + digest.String()
	if got := o.opm.Render(o.t, image); !slices.Equal(got, want) {
		o.t.Errorf("opm reads in the image\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got := o.serve(o.t, "kept", image)
	if !slices.Equal(got, want) {
		o.t.Errorf("catalogd serves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if names := olmtest.Bundles(o.t, got); !slices.Equal(names, bundles) {
		o.t.Errorf("catalogd serves the bundles %v, want %v", names, bundles)
	}
}
