// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// specEdit is an edit of a spec.
type specEdit = func(*v1alpha1.CatalogSelectionSpec)

// change is a publication, and what comes after it: an edit of its spec, and other files of its sources, by name.
type change struct {
	before, edit specEdit
	then, now    map[string]fstest.MapFS
}

// decision is what is held of a change, whether new revisions cause all of it alone, and whether the change makes another
// artifact.
type decision struct {
	reasons           []v1alpha1.HeldReason
	byRevision, isNew bool
}

func decide(t *testing.T, c change) decision {
	t.Helper()
	before := edit(from("catalog"))
	c.before(&before.Spec)
	after := before.DeepCopy()
	c.edit(&after.Spec)
	then, now := sourcesIn(t, before, c.then), sourcesIn(t, after, c.now)
	next := guard.Next{Selection: after, Sources: now, Result: rendered(t, after, now...)}
	held := guard.Decide(t.Context(), recorded(t, before, then...), next).Held
	return decision{
		reasons:    guard.Reasons(held, next.Result.Selection),
		byRevision: !slices.ContainsFunc(held, func(c safeguard.Change) bool { return !c.ByRevision }),
		isNew:      next.Result.Revision != rendered(t, before, then...).Revision,
	}
}

// holds expects what is held as "<reason> <application> <versions>".
func holds(t *testing.T, got decision, want []string) {
	t.Helper()
	var held []string
	for _, reason := range got.reasons {
		held = append(held, strings.Join(append([]string{reason.Reason, reason.Application}, reason.Versions...), " "))
	}
	if !slices.Equal(held, want) {
		t.Errorf("held:\n%s\nwant:\n%s", strings.Join(held, "\n"), strings.Join(want, "\n"))
	}
}

func publishes(t *testing.T, got decision) {
	t.Helper()
	if len(got.reasons) > 0 || !got.isNew {
		t.Errorf("held is %v, and the artifact is another one: %t", got.reasons, got.isNew)
	}
}

// sourcesIn returns the sources of a selection, with their files by name.
func sourcesIn(t *testing.T, cs *v1alpha1.CatalogSelection, files map[string]fstest.MapFS) (all []guard.Source) {
	t.Helper()
	for _, ref := range cs.Spec.Sources {
		loaded, err := render.LoadFS(t.Context(), ref.Name, files[ref.Name], render.LocationOf(ref))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, guard.SourceOf(cs, ref, selection.Source{Catalog: loaded}))
	}
	return all
}

// catalogs returns the files of sources: names and "name:tier:version,version" words alternate. The last words of a name
// count.
func catalogs(pairs ...string) map[string]fstest.MapFS {
	all := map[string]fstest.MapFS{}
	for pair := range slices.Chunk(pairs, 2) {
		files := fstest.MapFS{}
		for word := range strings.FieldsSeq(pair[1]) {
			addApplication(files, "", word)
		}
		all[pair[0]] = files
	}
	return all
}

// addApplication adds the files of a "name:tier:version,version" word, by default with the version 1.0.0.
func addApplication(files fstest.MapFS, dir, word string) {
	part := strings.Split(word+"::", ":")
	dir += "applications/" + part[0]
	document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + part[0] + "}\nspec:\n  versions:\n"
	for version := range strings.SplitSeq(cmp.Or(part[2], "1.0.0"), ",") {
		document += fmt.Sprintf("  - version: %q\n", version)
	}
	files[dir+"/application.yaml"] = &fstest.MapFile{Data: []byte(document)}
	if part[1] != "" {
		files[dir+"/metadata.yaml"] = &fstest.MapFile{Data: []byte("tier: " + part[1] + "\n")}
	}
}

func noEdit(*v1alpha1.CatalogSelectionSpec) {}

func onlyGold(s *v1alpha1.CatalogSelectionSpec) {
	limit := tiers("gold")
	s.Limit = &limit
}

func holdMajors(s *v1alpha1.CatalogSelectionSpec) {
	s.Safeguards.OnMajorUpgrade = v1alpha1.SafeguardHold
}

func exclude(names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = names }
}

func constrain(constraint string, names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Versions = []v1alpha1.VersionRule{{Names: names, Constraint: constraint}}
	}
}

func patchOf(name, patch string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{Patch: patch, Target: &kustomize.Selector{Name: name}}}
	}
}

// removeFirstVersion is a patch.
const removeFirstVersion = "- {op: remove, path: /spec/versions/0}\n"

func TestRemovalsByTheSpecArePublished(t *testing.T) {
	const words = "argocd:gold:1.0.0,2.0.0 nginx:silver falco:gold"
	for _, test := range []struct {
		name   string
		before specEdit
		edit   specEdit
	}{
		{"by exclude", noEdit, exclude("nginx")},
		{"by names", noEdit, func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd"}} }},
		{"by tiers", noEdit, onlyGold},
		{"by an expression", noEdit, func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{Expression: `app.tier == "gold"`} }},
		{"by a constraint of versions", noEdit, constrain(">=2", "argocd")},
		{"by the latest versions", noEdit, func(s *v1alpha1.CatalogSelectionSpec) { s.Versions = []v1alpha1.VersionRule{{Latest: 1}} }},
		{"by a constraint that leaves no version", noEdit, constrain(">=3", "argocd")},
		{"by a patch of versions", noEdit, patchOf("argocd", removeFirstVersion)},
		{"by the end of a patch that added a version", func(s *v1alpha1.CatalogSelectionSpec) {
			patchOf("argocd", `[{"op": "add", "path": "/spec/versions/-", "value": {"version": "9.0.0"}}]`)(s)
		}, func(s *v1alpha1.CatalogSelectionSpec) { s.Patches = nil }},
		{"with the patch of an excluded application", patchOf("nginx", `[{"op": "add", "path": "/spec/description", "value": "x"}]`),
			func(s *v1alpha1.CatalogSelectionSpec) { s.Patches, s.Exclude = nil, []string{"nginx"} }},
		{"by a major that the spec admits", func(s *v1alpha1.CatalogSelectionSpec) { holdMajors(s); constrain("<2")(s) }, constrain(">0")},
	} {
		t.Run(test.name, func(t *testing.T) {
			of := catalogs("catalog", words)
			publishes(t, decide(t, change{test.before, test.edit, of, of}))
		})
	}
}

// The edit and the catalog arrive together: only removals by the catalog are held.
func TestSpecAndCatalogAreToldApart(t *testing.T) {
	latest := func(n int32) specEdit {
		return func(s *v1alpha1.CatalogSelectionSpec) { s.Versions = []v1alpha1.VersionRule{{Latest: n}} }
	}
	for _, test := range []struct {
		name          string
		before, after string
		edit          specEdit
		want          []string
		byEdit        bool // the revision alone does not cause all of it
	}{
		{"each removes an application", "argocd nginx falco", "argocd nginx", exclude("nginx"), []string{"Removal falco 1.0.0"}, false},
		{"each removes a version of one application", "argocd::1.0.0,2.0.0,3.0.0", "argocd::1.0.0,3.0.0", constrain(">=2"), []string{"VersionRemoval argocd 2.0.0"}, false},
		{"each removes a version, and the spec by the latest", "argocd::1.0.0,2.0.0,3.0.0", "argocd::1.0.0,2.0.0", latest(1), []string{"VersionRemoval argocd 3.0.0"}, false},
		{"each removes a version of another application", "argocd::1.0.0,2.0.0 nginx::1.0.0,2.0.0", "argocd::1.0.0,2.0.0 nginx::2.0.0",
			constrain(">=2", "argocd"), []string{"VersionRemoval nginx 1.0.0"}, false},
		{"both remove the same application", "argocd nginx", "argocd", exclude("nginx"), nil, false},
		{"the catalog removes the version that the spec kept", "argocd nginx::1.0.0,2.0.0", "argocd nginx::1.0.0", constrain(">=2", "nginx"),
			[]string{"Removal nginx 1.0.0 2.0.0"}, true},
		{"the spec removes an application of which the catalog removes a version", "argocd nginx::1.0.0,2.0.0", "argocd nginx::2.0.0", exclude("nginx"), nil, false},
		// The effect of a patch on the last catalog is not known without that catalog.
		{"the spec patches a list that the catalog shortens", "argocd::1.0.0,2.0.0,3.0.0", "argocd::1.0.0,2.0.0", patchOf("argocd", removeFirstVersion),
			[]string{"VersionRemoval argocd 3.0.0", "VersionRemoval argocd 1.0.0"}, true},
		{"the spec selects by a field that the catalog changes", "argocd:gold nginx:gold", "argocd:gold nginx:silver", onlyGold, []string{"Removal nginx 1.0.0"}, true},
		{"an edit that removes nothing is no excuse", "argocd nginx", "argocd", exclude("velero"), []string{"Removal nginx 1.0.0"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := decide(t, change{noEdit, test.edit, catalogs("catalog", test.before), catalogs("catalog", test.after)})
			holds(t, got, test.want)
			if got.byRevision == test.byEdit {
				t.Errorf("the revision causes all of it alone: %t", got.byRevision)
			}
		})
	}
}

// An approval is an edit, and so are the changes with it, but they do not excuse the removal of an application.
func TestAnApprovalIsNoExcuse(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after string
		edit          specEdit
		want          []string
	}{
		{"for a removal", "argocd:gold nginx:gold", "argocd:gold", noEdit, []string{"Removal nginx 1.0.0"}},
		{"for a tier", "argocd:gold nginx:gold", "argocd:gold nginx:silver", noEdit, []string{"Removal nginx 1.0.0"}},
		{"for a version", "argocd:gold:1.0.0,2.0.0", "argocd:gold:2.0.0", noEdit, []string{"VersionRemoval argocd 1.0.0"}},
		{"together with another edit", "argocd:gold nginx:gold falco:gold", "argocd:gold nginx:silver falco:gold", exclude("falco"), []string{"Removal nginx 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			approving := func(s *v1alpha1.CatalogSelectionSpec) {
				test.edit(s)
				s.Safeguards.Approve = []string{"sha256:" + strings.Repeat("0", 64)}
			}
			holds(t, decide(t, change{onlyGold, approving, catalogs("catalog", test.before), catalogs("catalog", test.after)}), test.want)
		})
	}
}

func TestChangesWithoutALossArePublished(t *testing.T) {
	publish := func(s *v1alpha1.CatalogSelectionSpec) {
		s.Safeguards.OnRemoval, s.Safeguards.OnVersionRemoval = "Publish", "Publish"
	}
	for _, test := range []struct {
		name          string
		edit          specEdit
		before, after string
	}{
		{"a new application", noEdit, "argocd", "argocd nginx"},
		{"a new version", noEdit, "argocd::1.0.0", "argocd::1.1.0,1.0.0"},
		{"a major, by default", noEdit, "argocd::1.0.0", "argocd::1.0.0,2.0.0"},
		{"a major downwards", holdMajors, "argocd::2.0.0,1.0.0", "argocd::1.0.0,2.0.0,1.1.0"},
		{"a removal of an unselected application", onlyGold, "argocd:gold nginx:silver", "argocd:gold:1.0.0,1.1.0"},
		{"a removal, as configured", publish, "argocd nginx", "argocd"},
		{"a version, as configured", publish, "argocd::1.0.0,2.0.0", "argocd::2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			publishes(t, decide(t, change{test.edit, noEdit, catalogs("catalog", test.before), catalogs("catalog", test.after)}))
		})
	}
}

func TestEachSafeguardHoldsItsOwn(t *testing.T) {
	const before, after = "argocd nginx falco::1.0.0,1.1.0", "argocd::1.0.0,3.0.0 falco::1.1.0"
	for _, test := range []struct {
		name                                       string
		onRemoval, onVersionRemoval, onMajorUpgrad string
		want                                       []string
	}{
		{"removals only", "Hold", "Publish", "Publish", []string{"Removal nginx 1.0.0"}},
		{"versions only", "Publish", "Hold", "Publish", []string{"VersionRemoval falco 1.0.0"}},
		{"majors only", "Publish", "Publish", "Hold", []string{"MajorUpgrade argocd"}},
		{"nothing", "Publish", "Publish", "Publish", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			configured := func(s *v1alpha1.CatalogSelectionSpec) {
				s.Safeguards = v1alpha1.Safeguards{
					OnRemoval: test.onRemoval, OnVersionRemoval: test.onVersionRemoval, OnMajorUpgrade: test.onMajorUpgrad,
				}
			}
			holds(t, decide(t, change{configured, noEdit, catalogs("catalog", before), catalogs("catalog", after)}), test.want)
		})
	}
}
