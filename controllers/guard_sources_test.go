// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// from sets OCIRepositories with these names as the sources of a selection; name:path for one with a directory.
func from(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = nil
		for _, word := range names {
			name, path, _ := strings.Cut(word, ":")
			cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Name: name, Path: path, Format: v1alpha1.FormatApplications})
		}
	}
}

// merging sets the sources with these names, of which the later ones are merged.
func merging(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		from(names...)(cs)
		for i := range cs.Spec.Sources[1:] {
			cs.Spec.Sources[i+1].Merge = v1alpha1.MergeVersions
		}
	}
}

// catalogs sets the catalog of each source: names and words alternate.
func (e *environment) catalogs(pairs ...string) {
	e.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		e.sourceOf("OCIRepository", e.key(pair[0]), applications(e.T, pair[1]))
	}
}

func publishSources(t *testing.T, edit specEdit, pairs ...string) (*environment, lastGood) {
	t.Helper()
	e := newEnvironment(t)
	e.catalogs(pairs...)
	e.selection("kkp", guarded, edit)
	return e, e.good()
}

func TestSourcesOfOneNameAreDistinguished(t *testing.T) {
	e := newEnvironment(t)
	catalog := e.source(applications(t, "argocd"))
	e.sourceOf("GitRepository", e.key("catalog"), applications(t, "nginx angie"))
	both := []v1alpha1.SourceReference{byContent(), {Kind: "GitRepository", Name: "catalog"}}
	e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = both })
	good := e.good()
	git := e.sourceOf("GitRepository", e.key("catalog"), applications(t, "nginx"))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal angie 1.0.0"})
	e.equal("revision", cs.Status.Held.Revision, fmt.Sprintf("OCIRepository/%[1]s/catalog=%[2]s,GitRepository/%[1]s/catalog=%[3]s",
		e.namespace, catalog.Revision, git.Revision))
}

// The revision of yesterday as a second source keeps the versions that today's lacks, and nothing has to be approved.
func TestYesterdaysRevisionKeepsVersions(t *testing.T) {
	for _, kind := range []string{"OCIRepository", "GitRepository"} {
		t.Run(kind, func(t *testing.T) {
			e, good := publishSources(t, from("today"), "today", "argocd::1.0.0,2.0.0 nginx")
			e.sourceOf(kind, e.key("yesterday"), applications(t, "argocd::1.0.0,2.0.0 nginx"))
			e.catalogs("today", "argocd::2.0.0,3.0.0 nginx")
			e.hold(good, "VersionRemoval")
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				merging("today", "yesterday")(cs)
				cs.Spec.Sources[1].Kind = kind
			})
			now := e.good()
			e.equal("versions", now.cs.Status.Applications[0].Versions, []string{"2.0.0", "3.0.0", "1.0.0"})
			e.equal("notes", now.cs.Status.Applications[0].Notes, []string{"also in yesterday", "1.0.0 from yesterday"})
			e.emptyStorage()
			e.restart()
			e.equal("revision of a rebuild", e.good().cs.Status.Artifact.Revision, now.cs.Status.Artifact.Revision)
		})
	}
}
