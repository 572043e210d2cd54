// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// vendorArchive is a repository of definitions beside other files, as a vendor keeps it.
func vendorArchive(t *testing.T) []byte {
	return catalogArchive(t,
		"packages/a-rd/cozyrds/a.yaml", "# about argocd\n"+definition("argocd", ""), "packages/a-rd/Chart.yaml", "name: a\n",
		"packages/b-rd/cozyrds/b.yaml", definition("nginx", "")+"---\n"+definition("velero", ""), "packages/b-rd/templates/b.yaml", "{{ .b }}\n")
}

func TestDefinitionsBesideOtherFiles(t *testing.T) {
	e := newEnvironment(t)
	e.sourceOf("GitRepository", e.key("catalog"), vendorArchive(t))
	e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = []v1alpha1.SourceReference{{
			Kind: "GitRepository", Name: "catalog", Path: "packages", Include: []string{"*/cozyrds/*.yaml"},
		}}
	})
	good := e.good()
	if got := len(good.cs.Status.Applications); got != 3 {
		t.Fatalf("%d applications, want 3", got)
	}

	// The artifact is rebuilt from the record with the same files and format.
	e.emptyStorage()
	e.restart()
	e.good()
	e.untouched(good)

	// What an edit of include takes away is held.
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Include = []string{"a-rd/cozyrds/*"} })
	e.equal("held", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0", "Removal velero 1.0.0"})
}

// The cache keeps the catalogs of one artifact by the part of it that they are.
func TestPartsOfAnArtifactAreCatalogsOfTheirOwn(t *testing.T) {
	e := newEnvironment(t)
	e.source(vendorArchive(t))
	for name, pattern := range map[string]string{"argocd": "**/a.yaml", "nginx": "**/cozyrds/b.yaml"} {
		e.selection(name, func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Sources[0].Format, cs.Spec.Sources[0].Include = "Definitions", []string{pattern}
		})
		cs, _ := e.publish(name)
		e.equal("the first application", cs.Status.Applications[0].Name, name)
	}
}
