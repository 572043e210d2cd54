// SPDX-License-Identifier: Apache-2.0

package receipttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/farm"
)

// Hub is a hub whose catalog loses alpha 1.0.0 and beta, and deprecates gamma 1.0.0; with two stages of clusters, and their user
// clusters.
type Hub struct {
	*Stage

	Newer string // the artifact that staging and production get
}

var stages = []string{"staging", "production"}

// NewHub starts the registry, commits the repository and changes to its directory. The clusters are c00, c01 and so on.
func NewHub(t testing.TB, clusters int) *Hub {
	t.Helper()
	var names []string
	for i := range clusters {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	f := &Hub{Stage: NewStage(t, names...)}
	older := f.push("v1", map[string]string{
		"applications/alpha/application.yaml": definition("alpha", "1.0.0", "2.0.0"), "applications/alpha/metadata.yaml": "tier: gold\n",
		"applications/beta/application.yaml": definition("beta", "1.0.0"), "applications/beta/metadata.yaml": "tier: gold\n",
		"applications/gamma/application.yaml": definition("gamma", "1.0.0", "2.0.0"), "applications/gamma/metadata.yaml": "tier: gold\n",
	})
	f.Newer = f.push("v2", map[string]string{
		"applications/alpha/application.yaml": definition("alpha", "2.0.0"), "applications/alpha/metadata.yaml": "tier: gold\n",
		"applications/gamma/application.yaml": definition("gamma", "1.0.0", "2.0.0"),
		"applications/gamma/metadata.yaml":    "tier: gold\nversions: {1.0.0: {deprecated: Use 2.0.0.}}\n",
	})
	files := map[string]string{"hub/datacenter.yaml": f.selection()}
	for i, name := range names {
		dir := "clusters/"
		if i%10 > 6 {
			dir = "user-clusters/"
		}
		files["spokes/"+stages[2*i/clusters]+"/"+dir+name+".pub"] = f.files["spokes/staging/clusters/"+name+".pub"]
	}
	for _, stage := range stages {
		files["spokes/"+stage+"/applications.yaml"] = f.source("flux-system", "applications", "rendered", "digest: "+older) +
			"---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: applications, namespace: flux-system}\n" +
			"spec: {interval: 1h, prune: true, sourceRef: {kind: OCIRepository, name: applications}}\n"
	}
	hub := func(tag string) map[string]string {
		return map[string]string{"hub/catalog.yaml": f.source("fleet", "catalog", "catalog", "tag: "+tag)}
	}
	dir := t.TempDir()
	if err := farm.Commit(t.Context(), dir, farm.With(files, hub("v1")), hub("v2")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return f
}

// push pushes a catalog, and what the hub renders of it. It returns the digest of the latter.
func (f *Hub) push(tag string, catalog map[string]string) (digest string) {
	f.T.Helper()
	dir := f.T.TempDir()
	for name, content := range farm.With(catalog, map[string]string{"../selection.yaml": f.selection()}) {
		file := filepath.Join(dir, "catalog", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			f.T.Fatal(err)
		}
		clitest.WriteFile(f.T, file, content)
	}
	for _, args := range [][]string{
		{"push", filepath.Join(dir, "catalog"), "oci://" + f.Host + "/catalog:" + tag, "--plain-http"},
		{"render", "-f", filepath.Join(dir, "selection.yaml"), "--source", filepath.Join(dir, "catalog"), "--archive", filepath.Join(dir, "archive")},
	} {
		if got := clitest.Execute(f.T.Context(), args...); got.Code != root.ExitOK {
			f.T.Fatalf("%v: %+v", args, got)
		}
	}
	digest, err := clitest.PushRendered(f.T.Context(), f.Host, "rendered", tag, []byte(clitest.ReadFile(f.T, filepath.Join(dir, "archive"))))
	if err != nil {
		f.T.Fatal(err)
	}
	return digest
}

// selection returns the manifest of the hub's selection.
func (f *Hub) selection() string {
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: datacenter, namespace: fleet}\n" +
		"spec:\n  interval: 1h\n  sources: [{kind: OCIRepository, name: catalog}]\n  push: {url: 'oci://" + f.Host + "/rendered', tags: [latest]}\n"
}

// source returns the manifest of an OCIRepository.
func (f *Hub) source(namespace, name, repository, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec:\n  interval: 1h\n  insecure: true\n  url: oci://" +
		f.Host + "/" + repository + "\n  ref:\n    " + ref + "\n"
}

// definition returns an ApplicationDefinition with versions.
func definition(name string, versions ...string) string {
	text := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  description: a\n  method: helm\n  versions:\n"
	for _, v := range versions {
		text += "  - {version: " + v + ", template: {source: {helm: {url: 'https://charts.example.com', chartName: a, chartVersion: " + v + "}}}}\n"
	}
	return text
}

// UsesOf returns n uses of applications.
func UsesOf(n int) []receipt.Uses {
	var all []receipt.Use
	for i := range n {
		all = append(all, receipt.Use{Application: fmt.Sprintf("application-%03d", i/3), Version: fmt.Sprintf("1.%d.0", i%3), Installations: 1 + i%20})
	}
	return []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation", Applications: all}}
}
