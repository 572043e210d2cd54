// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
)

// An instance gets another backend, whose object lives already with another release.
func TestTheIdentityOfALiveReleaseIsInTheReport(t *testing.T) {
	files := fstest.MapFS{"applications/app/application.yaml": &fstest.MapFile{Data: []byte(
		"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: app}\nspec:\n  method: helm\n  versions:\n" +
			"  - {version: 1.0.0, template: {source: {helm: {url: 'oci://example.com/x', chartName: x, chartVersion: 1.0.0}}}}\n")}}
	loaded, err := render.LoadFS(t.Context(), "catalog", files, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(backend string) *comparing.Side {
		cs := &v1alpha1.CatalogSelection{}
		cs.Name, cs.Namespace = "apps", "fleet"
		cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
		cs.Spec.Safeguards.OnIdentityChange = "Publish"
		cs.Spec.Instances = map[string]v1alpha1.Instance{"app": {Version: "1.0.0", Backend: backend}}
		kind, name := guard.SourceKey(cs, cs.Spec.Sources[0])
		side, err := comparing.Render(t.Context(), cs, []guard.Source{{Kind: kind, Name: name, Checksum: "sha256:01", Catalog: loaded}})
		if err != nil {
			t.Fatal(err)
		}
		return side
	}
	cluster := connect(t, map[string]string{releases: servedV2, releases + "/helmreleases": livingRelease})
	got, err := comparing.Observer(cluster.Observe).Compare(t.Context(), of("ApplicationInstallation"), of("Helm"))
	if err != nil {
		t.Fatal(err)
	}
	legacy := false
	for _, f := range got.Instances[0].Identity {
		legacy = legacy || f.From == `"legacy"`
	}
	if !legacy {
		t.Errorf("the release that lives is not in the report: held %+v", got.Held)
	}
}
