// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// specEdit is an edit of a spec.
type specEdit = func(*v1alpha1.CatalogSelectionSpec)

func noEdit(*v1alpha1.CatalogSelectionSpec) {}

// edit is a selection of the source catalog, as changed.
func edit(change specEdit) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	change(&cs.Spec)
	return cs
}

// from sets sources with these names; name:path for one with a directory.
func from(names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Sources = nil
		for _, word := range names {
			name, path, _ := strings.Cut(word, ":")
			s.Sources = append(s.Sources, v1alpha1.SourceReference{Name: name, Path: path, Format: v1alpha1.FormatApplications})
		}
	}
}

// change is a publication, and what comes after it: an edit of its spec, and other files of its sources, by name.
type change struct {
	before, edit specEdit
	then, now    map[string]fstest.MapFS
}

// decide returns what is decided about a change, with the reasons for what is held.
func decide(t *testing.T, c change) (guard.Verdict, []v1alpha1.HeldReason) {
	t.Helper()
	before := edit(from("catalog"))
	c.before(&before.Spec)
	after := before.DeepCopy()
	c.edit(&after.Spec)
	return decided(t, recorded(t, before, sourcesIn(t, before, c.then)...), after, sourcesIn(t, after, c.now)...)
}

// decided decides about a selection after a publication, with the lines of its spec.
func decided(t *testing.T, last []safeguard.Definition, cs *v1alpha1.CatalogSelection, sources ...guard.Source) (guard.Verdict, []v1alpha1.HeldReason) {
	t.Helper()
	result := rendered(t, cs, sources...)
	named := guard.NamedBy(cs, result.Instances)
	named.Lines = approval.ParseAll(cs.Spec.Safeguards.Approve)
	verdict := guard.Decide(last, guard.Next{Definitions: result.Compared(), Unresolved: result.Unresolved}, named)
	return verdict, guard.Reasons(verdict.Held, result.Selection, guard.Fresh(nil))
}

// holds expects the lines that name what is held.
func holds(t *testing.T, verdict guard.Verdict, want ...string) {
	t.Helper()
	if got := guard.LinesOf(verdict.Held, guard.Fresh(nil)); !slices.Equal(got, want) {
		t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// messages returns what is said about what is held.
func messages(reasons []v1alpha1.HeldReason) (all []string) {
	for _, reason := range reasons {
		all = append(all, reason.Message)
	}
	return all
}

// recorded returns the last publication as a controller reads it from the status.
func recorded(t *testing.T, cs *v1alpha1.CatalogSelection, sources ...guard.Source) []safeguard.Definition {
	t.Helper()
	written, err := json.Marshal(rendered(t, cs, sources...).Compared())
	if err != nil {
		t.Fatal(err)
	}
	var last []safeguard.Definition
	if err := json.Unmarshal(written, &last); err != nil {
		t.Fatal(err)
	}
	return last
}

// rendered renders a selection as after its first publication: it may be empty.
func rendered(t *testing.T, cs *v1alpha1.CatalogSelection, sources ...guard.Source) *render.Result {
	t.Helper()
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	opts.AllowEmpty = true
	result, err := render.Render(t.Context(), guard.Selections(sources), opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// loaded is a source with these files.
func loaded(t *testing.T, name string, files fstest.MapFS) guard.Source {
	t.Helper()
	catalog, err := render.LoadFS(t.Context(), name, files, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: name}, Catalog: catalog}
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
