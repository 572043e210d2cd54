// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
)

const (
	releases = "/apis/helm.toolkit.fluxcd.io/v2"
	servedV2 = `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "helm.toolkit.fluxcd.io/v2", "resources": [
		{"name": "helmreleases", "kind": "HelmRelease", "namespaced": true, "verbs": ["get", "list"]}]}`
	// livingRelease has another release, and an object of another namespace with its name.
	livingRelease = `{"kind": "HelmReleaseList", "apiVersion": "helm.toolkit.fluxcd.io/v2", "metadata": {}, "items": [
		{"kind": "HelmRelease", "apiVersion": "helm.toolkit.fluxcd.io/v2", "metadata": {"name": "app", "namespace": "fleet",
			"annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}},
			"spec": {"releaseName": "legacy", "targetNamespace": "app", "storageNamespace": "fleet"}},
		{"kind": "HelmRelease", "apiVersion": "helm.toolkit.fluxcd.io/v2", "metadata": {"name": "app", "namespace": "other"},
			"spec": {"releaseName": "theirs"}}]}`
)

// installing is a selection with an instance.
func installing(t *testing.T, backend, onIdentityChange string) *comparing.Side {
	t.Helper()
	files := fstest.MapFS{"applications/app/application.yaml": &fstest.MapFile{Data: []byte(
		"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: app}\nspec:\n  method: helm\n  versions:\n" +
			"  - {version: 1.0.0, template: {source: {helm: {url: 'oci://example.com/x', chartName: x, chartVersion: 1.0.0}}}}\n")}}
	loaded, err := render.LoadFS(t.Context(), "catalog", files, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "fleet"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	cs.Spec.Safeguards.OnIdentityChange = onIdentityChange
	cs.Spec.Instances = map[string]v1alpha1.Instance{"app": {Version: "1.0.0", Backend: backend}}
	kind, name := guard.SourceKey(cs, cs.Spec.Sources[0])
	side, err := comparing.Render(t.Context(), cs, []guard.Source{{Kind: kind, Name: name, Checksum: "sha256:01", Catalog: loaded}})
	if err != nil {
		t.Fatal(err)
	}
	return side
}

// A release that lives already, and is another one than the instance would install, is held as an adoption.
func TestALiveReleaseOfAnInstanceIsCompared(t *testing.T) {
	to := installing(t, "", "")
	for _, test := range []struct {
		name    string
		answers map[string]string
		want    []string
	}{
		{"nothing serves releases", nil, nil},
		{"another release", map[string]string{releases: servedV2, releases + "/helmreleases": livingRelease},
			[]string{`IdentityChange: instance app: releaseName would change from "legacy" to "app": what runs would be uninstalled, and installed anew`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := comparing.Observer(connect(t, test.answers).Observe).Compare(t.Context(), nil, to)
			if err != nil {
				t.Fatal(err)
			}
			var held []string
			if got.Held != nil {
				for _, reason := range got.Held.Reasons {
					held = append(held, reason.Reason+": "+reason.Message)
				}
			}
			if !slices.Equal(held, test.want) {
				t.Errorf("held %q, want %q", held, test.want)
			}
			if len(got.Instances) != 1 || got.Instances[0].Change != diff.Added {
				t.Errorf("got %+v", got.Instances)
			}
		})
	}
}

// The identity of what lives is in the report also where the safeguards let it pass.
func TestTheIdentityOfALiveReleaseIsInTheReport(t *testing.T) {
	cluster := connect(t, map[string]string{releases: servedV2, releases + "/helmreleases": livingRelease})
	from, to := installing(t, "ApplicationInstallation", v1alpha1.SafeguardPublish), installing(t, "Helm", v1alpha1.SafeguardPublish)
	got, err := comparing.Observer(cluster.Observe).Compare(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(got.Instances[0].Identity, func(f diff.Field) bool { return f.From == `"legacy"` }) {
		t.Errorf("the release that lives is not in the report: held %+v", got.Held)
	}
}
