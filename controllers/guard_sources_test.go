package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
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

// catalogs sets the catalog of each source: names and words alternate.
func (e *environment) catalogs(pairs ...string) map[string]*meta.Artifact {
	e.Helper()
	artifacts := map[string]*meta.Artifact{}
	for pair := range slices.Chunk(pairs, 2) {
		artifacts[pair[0]] = e.sourceOf("OCIRepository", e.key(pair[0]), applications(e.T, pair[1]))
	}
	return artifacts
}

func publishSources(t *testing.T, edit specEdit, pairs ...string) (*environment, lastGood) {
	t.Helper()
	e := newEnvironment(t)
	e.catalogs(pairs...)
	e.selection("kkp", guarded, edit)
	return e, e.good()
}

// Nobody has seen what one of them takes away without the others.
func TestSeveralNewRevisionsAreApprovedByTheRender(t *testing.T) {
	e, good := publishSources(t, from("a", "b", "c"), "a", "argocd argo", "b", "nginx angie", "c", "falco")
	changed := e.catalogs("a", "argocd", "b", "nginx argo")

	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal angie 1.0.0"})
	e.equal("revision", cs.Status.Held.Revision, fmt.Sprintf("OCIRepository/%[1]s/a=%[2]s,OCIRepository/%[1]s/b=%[3]s,OCIRepository/%[1]s/c=%[4]s",
		e.namespace, changed["a"].Revision, changed["b"].Revision, good.cs.Status.Sources[2].Revision))
	approve := cs.Status.Held.Approve
	e.approve(changed["a"].Digest+"#copied", changed["b"].Digest, good.cs.Status.Sources[2].Digest)
	e.equal("approve", e.hold(good, "Removal").Status.Held.Approve, approve)

	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = approve })
	e.catalogs("b", "nginx angie") // not fetched yet
	cs = e.hold(good, "Removal")
	e.equal("lost by the first alone", lost(cs), []string{"Removal argo 1.0.0"})
	e.equal("approve of the first alone", cs.Status.Held.Approve, []string{changed["a"].Digest})
	e.catalogs("b", "nginx argo")
	e.good()
}

// The content changes at the same revision, as with another layerSelector or ignore.
func TestAChangeAtTheSameRevisionHasToBeApproved(t *testing.T) {
	e, good := publishSources(t, from("a", "b"), "a", "argocd argo", "b", "nginx angie")
	other := e.catalogs("a", "argocd", "b", "nginx")
	other["b"].Revision = good.cs.Status.Sources[1].Revision
	e.setArtifact("OCIRepository", e.key("b"), other["b"])
	e.approve(other["a"].Digest, good.cs.Status.Sources[1].Digest)
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal angie 1.0.0", "Removal argo 1.0.0"})
	if render := cs.Status.Held.Approve; len(render) != 1 || slices.Contains(cs.Spec.Safeguards.Approve, render[0]) {
		t.Errorf("approve is %q", render)
	}
	e.approve(cs.Status.Held.Approve...)
	e.good()
}

func TestEditsOfSources(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after []string
		// catalogs has the words of a and b before the change, changed those after it.
		catalogs, changed []string
		want              []string
	}{
		{"a source is dropped", []string{"a", "b"}, []string{"a"}, []string{"a", "argocd", "b", "nginx"}, nil, nil},
		{"a source is replaced by another", []string{"a"}, []string{"b"}, []string{"a", "argocd argo", "b", "argocd"}, nil, []string{"Removal argo 1.0.0"}},
		{"a source gets another name, with fewer versions", []string{"a"}, []string{"b"}, []string{"a", "argocd::1.0.0,2.0.0", "b", "argocd::2.0.0"}, nil, []string{"VersionRemoval argocd 1.0.0"}},
		{"sources are reordered", []string{"a", "b"}, []string{"b", "a"}, []string{"a", "argocd::1.0.0,2.0.0", "b", "argocd::2.0.0"}, nil, nil},
		{"an added source hides versions of another", []string{"a"}, []string{"b", "a"}, []string{"a", "argocd::1.0.0,2.0.0", "b", "argocd::2.0.0"}, nil, []string{"VersionRemoval argocd 1.0.0"}},
		{"a source is dropped and the other loses an application", []string{"a", "b"}, []string{"a"},
			[]string{"a", "argocd argo", "b", "nginx"}, []string{"a", "argocd"}, []string{"Removal argo 1.0.0"}},
		{"a source is dropped and the other has a part of the removals by the catalog", []string{"a", "b"}, []string{"b"},
			[]string{"a", "argocd::1.0.0,2.0.0", "b", "argocd::2.0.0 nginx nginx2"}, []string{"b", "argocd::2.0.0 nginx2"}, []string{"Removal nginx 1.0.0"}},
		{"a source is added and the first loses an application", []string{"a"}, []string{"a", "b"},
			[]string{"a", "argocd argo", "b", "nginx"}, []string{"a", "argocd"}, []string{"Removal argo 1.0.0"}},
		{"a source is added with a part of the losses of the first", []string{"a"}, []string{"a", "b"},
			[]string{"a", "argocd::1.0.0,2.0.0 argo", "b", "argocd::2.0.0"}, []string{"a", "argo"}, []string{"VersionRemoval argocd 1.0.0"}},
		{"a source is added with all losses of the first", []string{"a"}, []string{"a", "b"},
			[]string{"a", "argocd::1.0.0,2.0.0 argo", "b", "argocd::1.0.0,2.0.0"}, []string{"a", "argo"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishSources(t, from(test.before...), test.catalogs...)
			e.edit(from(test.after...))
			e.catalogs(test.changed...)
			if test.want == nil {
				e.good()
				return
			}
			reason, _, _ := strings.Cut(test.want[0], " ")
			cs := e.hold(good, reason)
			e.equal("lost", lost(cs), test.want)
			e.approve(cs.Status.Held.Approve...)
			e.good()
		})
	}
}

func TestEditsOfTheDirectoryOfASource(t *testing.T) {
	at := func(t *testing.T, words ...string) []byte {
		var files []string
		for _, word := range words {
			dir, name, _ := strings.Cut(word, "/")
			files = append(files, dir+"/applications/"+name+"/application.yaml", definition(name, "1.0.0"))
		}
		return catalogArchive(t, files...)
	}
	before := []string{"x/argocd", "x/nginx", "y/argocd", "y/falco"}
	for _, test := range []struct {
		name    string
		edit    specEdit
		sources []string
		after   []string
		want    []string
	}{
		{"another directory, which has less", from("catalog:y"), []string{"catalog:x"}, before, []string{"Removal nginx 1.0.0"}},
		{"another directory, which has the same", from("catalog:z"), []string{"catalog:y"}, append(before, "z/argocd", "z/falco", "z/nginx"), nil},
		{"another order of directories", from("catalog:y", "catalog:x"), []string{"catalog:x", "catalog:y"}, before, nil},
		{"one more directory", from("catalog:x", "catalog:y"), []string{"catalog:x"}, before, nil},
		{"nothing, while the catalog loses something", guarded, []string{"catalog:x", "catalog:y"}, before[:3], []string{"Removal falco 1.0.0"}},
		{"a directory less, while the catalog loses something", from("catalog:x"), []string{"catalog:x", "catalog:y"},
			[]string{"x/argocd", "y/falco"}, []string{"Removal nginx 1.0.0"}},
		{"a directory less, which the catalog does not have any more", from("catalog:x"), []string{"catalog:x", "catalog:y"},
			[]string{"x/argocd"}, []string{"Removal nginx 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(at(t, before...))
			e.selection("kkp", guarded, from(test.sources...))
			good := e.good()
			e.edit(test.edit)
			e.source(at(t, test.after...))
			if test.want == nil {
				e.good()
				return
			}
			e.equal("lost", lost(e.hold(good, "Removal")), test.want)
		})
	}
}

func TestSourcesOfOneNameAreDistinguished(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	git := e.sourceOf("GitRepository", e.key("catalog"), applications(t, "nginx angie"))
	both := []v1alpha1.SourceReference{byContent(), {Kind: "GitRepository", Name: "catalog"}}
	e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = both })
	good := e.good()
	e.sourceOf("GitRepository", e.key("catalog"), applications(t, "nginx"))
	// A commit cannot contain its own hash, so the approval has the checksum of the render.
	approve := e.hold(good, "Removal").Status.Held.Approve
	e.approve(git.Digest, good.cs.Status.Sources[0].Digest)
	e.equal("approve", e.hold(good, "Removal").Status.Held.Approve, approve)
	e.approve(approve...)
	e.good()
	e.equal("the approved checksum is the revision", consumers.RevisionOf(e.get("kkp")), "latest@"+approve[0])
}
