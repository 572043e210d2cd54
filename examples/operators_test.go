package examples_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// Each cluster of operators installs its instances, from the catalog and from the next one.
func TestOperatorsInstallWhatTheirOverlaysName(t *testing.T) {
	for _, test := range []struct {
		overlay, catalog string
		want             map[string]string
	}{
		{"olm-v1", "catalog", map[string]string{"beacon": "1.1.1", "ledger": "2.1.0"}},
		{"olm-v1", "next", map[string]string{"beacon": "1.2.0", "ledger": "2.1.0"}},
		{"olm-v0", "catalog", map[string]string{"courier": "3.1.0", "ledger": "2.1.0"}},
		{"olm-v0", "next", map[string]string{"courier": "3.2.0", "ledger": "2.2.0"}},
	} {
		t.Run(test.overlay+" of "+test.catalog, func(t *testing.T) {
			result := rendered(t, filepath.Join("operators", test.overlay), filepath.Join("operators", test.catalog))
			got := map[string]string{}
			for _, in := range result.Instances {
				got[in.Name] = in.Version
			}
			if !maps.Equal(got, test.want) || len(result.Unmatched) > 0 {
				t.Errorf("it installs %v, want %v; unmatched is %v", got, test.want, result.Unmatched)
			}
			kept := slices.DeleteFunc(result.Tree.Paths(), func(path string) bool { return filepath.Base(path) != "catalog.yaml" })
			want := []string{"configs/beacon/catalog.yaml", "configs/courier/catalog.yaml", "configs/ledger-operator/catalog.yaml"}
			if !slices.Equal(kept, want) {
				t.Errorf("it keeps %v, want %v", kept, want)
			}
		})
	}
}

// rendered returns what the selection of an overlay makes of a catalog.
func rendered(t *testing.T, overlay, catalog string) *render.Result {
	t.Helper()
	cs := overlaid(t, overlay)
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	source := cs.Spec.Sources[0].Name
	loaded, err := render.LoadFS(t.Context(), source, os.DirFS(catalog), render.Place{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: source, Catalog: loaded}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
