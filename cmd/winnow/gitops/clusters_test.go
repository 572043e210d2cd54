// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

func TestClustersAreFound(t *testing.T) {
	follow := func(name, path string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name +
			"}\nspec: {path: ./" + path + ", sourceRef: {kind: GitRepository, name: x}}\n"
	}
	instance := "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\n" +
		"spec: {sync: {kind: GitRepository, url: 'https://x/y', ref: refs/heads/main, path: kubernetes/flux}}\n"
	consumer := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {sourceRef: {kind: ExternalArtifact, name: x}}\n"
	podinfo := "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: podinfo}\nspec: {sourceRef: {kind: OCIRepository, name: podinfo}}\n"
	fleet := "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x}\nspec: {url: 'https://git.example.com/org/fleet'}\n"
	artifact := "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: podinfo}\nspec: {url: 'oci://registry.example.com/podinfo'}\n"
	self := repository.Identity{Remotes: map[string]string{"git.example.com/org/fleet": "origin"}}
	tests := []struct {
		name, path string
		files      map[string]string
		want       []string
	}{
		{"those of flux bootstrap", ".", map[string]string{
			"clusters/a/flux-system/gotk-sync.yaml": follow("f", "clusters/a"), "clusters/a/apps.yaml": follow("apps", "apps"),
			"clusters/b/flux-system/gotk-sync.yaml": follow("f", "clusters/b"), "apps/x.yaml": follow("x", "x"),
		}, []string{"clusters/a", "clusters/b"}},
		{"one of them, by a directory in it", "clusters/a/flux-system", map[string]string{
			"clusters/a/flux-system/gotk-sync.yaml": follow("f", "clusters/a"), "clusters/b/flux-system/gotk-sync.yaml": follow("f", "clusters/b"),
		}, []string{"clusters/a"}},
		{"that of a FluxInstance", ".", map[string]string{
			"bootstrap/instance.yaml": instance, "kubernetes/flux/apps.yaml": follow("apps", "kubernetes/apps"),
			"kubernetes/apps/media/ks.yaml": follow("media", "kubernetes/apps/media/app"), "kubernetes/apps/media/app/x.yaml": "kind: X\n",
		}, []string{"kubernetes/flux"}},
		{"those that nothing else applies", ".", map[string]string{
			"clusters/a/apps.yaml": follow("apps", "apps"), "clusters/b/apps.yaml": follow("apps", "apps"), "apps/ks.yaml": follow("x", "x"),
		}, []string{"clusters/a", "clusters/b"}},
		{"those of a base that they share", ".", map[string]string{
			"clusters/a/kustomization.yaml": "resources: [../base, own.yaml]\n", "clusters/a/own.yaml": follow("own", "own"),
			"clusters/base/kustomization.yaml": "resources: [apps.yaml]\n", "clusters/base/apps.yaml": follow("apps", "apps"),
		}, []string{"clusters/a"}},
		{"a directory that is named", "clusters/a", map[string]string{
			"clusters/a/x/apps.yaml": follow("apps", "apps"), "clusters/a/y/apps.yaml": follow("more", "more"),
		}, []string{"clusters/a"}},
		{"one with the root of another repository", ".", map[string]string{
			"clusters/a/flux-system/gotk-sync.yaml": follow("f", "clusters/a") + fleet, "clusters/a/podinfo.yaml": podinfo,
		}, []string{"clusters/a"}},
		{"one with the root of another repository, that nothing else applies", ".", map[string]string{
			"clusters/a/git.yaml": fleet, "clusters/a/apps.yaml": follow("apps", "apps"), "clusters/a/podinfo.yaml": podinfo,
		}, []string{"clusters/a"}},
		{"the root of what may be this repository", ".", map[string]string{"clusters/a/podinfo.yaml": podinfo}, []string{"."}},
		{"those of whole artifacts", ".", map[string]string{
			"spokes/a/apps.yaml": podinfo + artifact, "spokes/b/apps.yaml": podinfo + artifact, "hub/kustomization.yaml": "resources: []\n",
		}, []string{"spokes/a", "spokes/b"}},
		{"those of flux bootstrap, and those that nothing else applies, below a path", "clusters", map[string]string{
			"clusters/a/flux-system/gotk-sync.yaml": follow("f", "clusters/a"), "clusters/a/apps.yaml": follow("apps", "apps"), "clusters/b/apps.yaml": follow("apps", "apps"),
		}, []string{"clusters/a", "clusters/b"}},
		{"the root of a repository", ".", map[string]string{"flux-system/gotk-sync.yaml": follow("f", "")}, []string{"."}},
		{"none without Kustomizations", ".", map[string]string{"a/selection.yaml": selectionOf("a"), "a/consumer.yaml": consumer}, nil},
		{"none at a file", "a.yaml", map[string]string{"a.yaml": follow("a", "a")}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.files, nil)
			if got := clustersIn(self, headTree(t), test.path).dirs(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("clusters are %q, want %q", got, test.want)
			}
		})
	}
}
