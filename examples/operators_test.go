// SPDX-License-Identifier: Apache-2.0

package examples_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
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
			cs := overlaid(t, filepath.Join("operators", test.overlay))
			result := rendered(t, cs, filepath.Join("operators", test.catalog))
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

// What an ImageSetConfiguration says of a package, as the guide translates it.
func TestOperatorsAreSelectedLikeImageSets(t *testing.T) {
	for _, test := range []struct {
		name, rule string
		want       []string
	}{
		{"the head of the default channel", `{channels: [stable-v2], latest: 1}`, []string{"2.1.0"}},
		{"a range of the default channel", `{channels: [stable-v2], constraint: ">=1.3.0 <=2.0.1"}`, []string{"2.0.1", "2.0.0", "1.3.0"}},
		{"a channel that is not the default", `{channels: [stable-v1], defaultChannel: stable-v1}`, []string{"1.3.0", "1.2.1", "1.2.0"}},
		{"all of a channel", `{channels: [stable-v2]}`, []string{"2.1.0", "2.0.1", "2.0.0", "1.3.0"}},
		{"all of the package", `{constraint: "*"}`, []string{"2.1.0", "2.0.1", "2.0.0", "1.3.0", "1.2.1", "1.2.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := overlaid(t, "operators/olm-v1")
			cs.Spec.Instances = nil
			cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"ledger-operator"}}
			cs.Spec.Versions = make([]v1alpha1.VersionRule, 1)
			if err := yaml.UnmarshalStrict([]byte(test.rule), &cs.Spec.Versions[0]); err != nil {
				t.Fatal(err)
			}
			contents := rendered(t, cs, "operators/catalog").Contents
			var want []string
			for _, version := range test.want {
				want = append(want, "ledger-operator.v"+version)
			}
			if len(contents) != 1 || !slices.Equal(contents[0].Versions, want) {
				t.Errorf("kept is %v, want %v", contents, want)
			}
		})
	}
}

// rendered returns what a selection makes of a catalog.
func rendered(t *testing.T, cs *v1alpha1.CatalogSelection, catalog string) *render.Result {
	t.Helper()
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	source := cs.Spec.Sources[0].Name
	loaded, err := render.LoadFS(t.Context(), source, os.DirFS(catalog), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: source, Catalog: loaded}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
