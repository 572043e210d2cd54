// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// chartCatalog is a source of the application web with versions of one chart.
func chartCatalog(t *testing.T, versions string) guard.Source {
	t.Helper()
	document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n  method: helm\n  versions:\n"
	for version := range strings.FieldsSeq(versions) {
		document += fmt.Sprintf("  - {version: %q, template: {source: {helm: {url: 'https://charts.example', chartName: web, chartVersion: 1.0.0}}}}\n", version)
	}
	return loaded(t, "catalog", fstest.MapFS{"applications/web/application.yaml": {Data: []byte(document)}})
}

// decideInstances publishes instances from one catalog, and decides about others from another one. It returns what is held.
func decideInstances(t *testing.T, then, now guard.Source, before, after map[string]v1alpha1.Instance) []string {
	t.Helper()
	spec := func(instances map[string]v1alpha1.Instance) *v1alpha1.CatalogSelection {
		return edit(func(s *v1alpha1.CatalogSelectionSpec) {
			s.Definitions, s.Instances = v1alpha1.DefinitionsOmit, instances
		})
	}
	_, reasons := decided(t, recorded(t, spec(before), then), spec(after), now)
	var held []string
	for _, reason := range reasons {
		held = append(held, reason.Reason+" "+reason.Message)
	}
	return held
}

func TestWhoDecidesAboutInstances(t *testing.T) {
	one := func(in v1alpha1.Instance) map[string]v1alpha1.Instance {
		return map[string]v1alpha1.Instance{"web": in}
	}
	version := func(version string) map[string]v1alpha1.Instance { return one(v1alpha1.Instance{Version: version}) }
	for _, test := range []struct {
		name          string
		then, now     string
		before, after map[string]v1alpha1.Instance
		want          []string
	}{
		{
			"a catalog, by a version that is called like the range", "1.0.0 1.1.0", "1.0.0 1.1.0 1", version("1"), version("1"),
			[]string{"VersionRemoval instance web would fall from 1.1.0 to 1"},
		},
		{
			"a catalog, by the loss of the lower version that an edit asks for", "2.0.0 1.1.0 0.9.0", "2.0.0 0.9.0", version(">=0.1"), version("<2"),
			[]string{"VersionRemoval instance web would fall from 2.0.0 to 0.9.0"},
		},
		{
			"nobody, by a range of lower versions", "2.0.0 1.1.0 0.9.0", "3.0.0 2.0.0 1.1.0", version(">=0.1"), version("<2"),
			[]string{"VersionRemoval instance web would fall from 2.0.0 to 1.1.0"},
		},
		{
			"nobody, where an edit gives a release to another instance", "1.0.0", "1.0.0", version("1.0.0"),
			map[string]v1alpha1.Instance{"other": {Application: "web", Version: "1.0.0", ReleaseName: "web"}},
			[]string{"IdentityChange instance web would be removed, and instance other would get its object or its release: what runs would be uninstalled, " +
				"and installed anew; keep the name web, or give other another releaseName"},
		},
		{
			"nobody, where an edit gives a release in another storage to another instance", "1.0.0", "1.0.0", version("1.0.0"),
			map[string]v1alpha1.Instance{"other": {Application: "web", Version: "1.0.0", ReleaseName: "web", StorageNamespace: "x"}},
			[]string{"IdentityChange instance web would be removed, and instance other would get its object or its release: what runs would be uninstalled, " +
				"and installed anew; keep the name web, or give other another releaseName"},
		},
		{
			"nobody, where another instance of another release takes its place", "1.0.0", "1.0.0", version("1.0.0"), map[string]v1alpha1.Instance{"other": {Application: "web", Version: "1.0.0"}},
			[]string{"Removal instance web would be removed: spec.instances does not have it"},
		},
		{
			"a catalog, where neither the spec nor the definition names a version", "1.0.0", "1.0.0 2.0.0", version(""), version(""),
			[]string{"InstanceUpgrade instance web would rise from 1.0.0 to 2.0.0"},
		},
		{"nobody, where the highest version rises by a minor", "1.0.0", "1.0.0 1.1.0", version(""), version(""), nil},
		{
			"a catalog, by the loss of the highest version", "1.0.0 1.1.0", "1.0.0", version(""), version(""),
			[]string{"VersionRemoval instance web would fall from 1.1.0 to 1.0.0"},
		},
		{"an edit, by the name of a version that is no semantic one", "1.0.0 1.1.0 stable", "1.0.0 stable", version("^1"), version("stable"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := decideInstances(t, chartCatalog(t, test.then), chartCatalog(t, test.now), test.before, test.after)
			if !slices.Equal(got, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
