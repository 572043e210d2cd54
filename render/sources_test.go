// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// catalogOf returns a source of KKP's definitions, "name:tier=version,version" each.
func catalogOf(t *testing.T, name, applications string) selection.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for word := range strings.FieldsSeq(applications) {
		head, versions, _ := strings.Cut(word, "=")
		application, tier, _ := strings.Cut(head, ":")
		text := object + "metadata:\n  name: " + application + "\nspec:\n  method: helm\n  versions:\n"
		for v := range strings.SplitSeq(versions, ",") {
			text += "  - version: " + v + " # of " + name + "\n"
		}
		fsys["applications/"+application+"/application.yaml"] = &fstest.MapFile{Data: []byte(text)}
		fsys["applications/"+application+"/metadata.yaml"] = &fstest.MapFile{Data: []byte("tier: " + tier + "\n")}
	}
	loaded, err := render.LoadFS(t.Context(), name, fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return selection.Source{Name: name, Digest: "sha256:" + name, Catalog: loaded}
}

// twoSources is a selection of the sources a and b, of which the second is merged.
func twoSources(edit func(*v1alpha1.CatalogSelection)) *v1alpha1.CatalogSelection {
	return selectionOf(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "a"}, {Name: "b", Merge: v1alpha1.MergeVersions}}
		if edit != nil {
			edit(cs)
		}
	})
}

func renderSources(ctx context.Context, cs *v1alpha1.CatalogSelection, sources ...selection.Source) (*render.Result, error) {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	return render.Render(ctx, sources, opts)
}

func TestMergedVersionsAreInTheArtifact(t *testing.T) {
	a, b := catalogOf(t, "a", "argocd:gold=v3,v2 nginx:gold=v1"), catalogOf(t, "b", "argocd:gold=v2,v1 nginx:gold=v1")
	result, err := renderSources(t.Context(), twoSources(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Provenance = v1alpha1.ProvenanceObject }), a, b)
	if err != nil {
		t.Fatal(err)
	}
	const want = object + "metadata:\n  name: argocd\n  annotations:\n    catalog.winnow.dev/source-digest: sha256:a\nspec:\n  method: helm\n" +
		"  versions:\n  - version: v3 # of a\n  - version: v2 # of a\n  - version: v1 # of b\n"
	if content, _ := result.Tree.Content("applicationdefinitions/argocd.yaml"); string(content) != want {
		t.Errorf("argocd is\n%s\nwant\n%s", content, want)
	}
	plain, err := renderSources(t.Context(), twoSources(nil), a, b)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := renderSources(t.Context(), selectionOf(sources(v1alpha1.SourceReference{Name: "a"})), a)
	if err != nil {
		t.Fatal(err)
	}
	nginx, _ := plain.Tree.Content("applicationdefinitions/nginx.yaml")
	if before, _ := alone.Tree.Content("applicationdefinitions/nginx.yaml"); &nginx[0] != &before[0] {
		t.Error("a merge that finds nothing copies the document")
	}
}

func TestWhatSourcesCannotDoIsAnInvalidSpec(t *testing.T) {
	a, b := catalogOf(t, "a", "argocd:gold=v2"), catalogOf(t, "b", "argocd:gold=v1")
	b.Catalog.Applications[0].Method = "git"
	limited := func(limit v1alpha1.Limit) func(*v1alpha1.CatalogSelection) {
		return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[1].Limit = &limit }
	}
	for _, test := range []struct {
		name string
		edit func(*v1alpha1.CatalogSelection)
		want string
	}{
		{"versions of another method", nil, `spec.sources[1].merge: versions of application argocd of the source "b" cannot be added to the versions of "a": ` +
			`its spec.method is "helm" there, and "git" here; leave it out with spec.sources[1].limit`},
		{"an unknown list", limited(v1alpha1.Limit{CatalogRefs: []string{"x"}}), "spec.sources[1].limit.catalogRefs: unknown list x: the sources have no lists, which belong beside applications, in the same layer"},
		{"an expression that fails", limited(v1alpha1.Limit{Expression: `app.labels.x == ""`}),
			"spec.sources[1].limit.expression: expression, line 1, column 11: for application argocd: no such key: x (has() guards keys that not every application has)"},
		{"the first source merged", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Merge = v1alpha1.MergeVersions },
			"spec.sources[0].merge: Forbidden: the first source cannot be merged: no source is listed before it"},
		{"another word", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[1].Merge = "All" },
			`spec.sources[1].merge: Unsupported value: "All": supported values: "Versions"`},
		{"a list that is empty", limited(v1alpha1.Limit{NameSelector: []string{}}),
			"spec.sources[1].limit.nameSelector: Required value: leave it out, or list at least one"},
		{"an invalid expression", limited(v1alpha1.Limit{Expression: "app.x"}),
			`spec.sources[1].limit.expression: Invalid value: "app.x": expression, line 1, column 4: undefined field 'x'`},
		{"one source twice", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Sources[1] = v1alpha1.SourceReference{Name: "a", Merge: v1alpha1.MergeVersions, Limit: &v1alpha1.Limit{}}
		}, `spec.sources[1]: Duplicate value: "a"`},
		{"nothing left", func(cs *v1alpha1.CatalogSelection) {
			gold := v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"silver"}}}
			cs.Spec.Sources[0].Limit, cs.Spec.Sources[1].Limit = &gold, &gold
		}, "nothing is selected; left out of 2 applications: 2 by sources[].limit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := renderSources(t.Context(), twoSources(test.edit), a, b)
			if reason := reasonOf(err); err == nil || err.Error() != test.want || reason != v1alpha1.InvalidSpecReason && reason != v1alpha1.EmptyResultReason {
				t.Errorf("Render() = %s %v, want %s", reason, err, test.want)
			}
		})
	}
}

func TestNamesInTheLimitOfASourceAreThoseOfTheSource(t *testing.T) {
	a, b := catalogOf(t, "a", "argocd:gold=v2 nginx:silver=v1"), catalogOf(t, "b", "falco:bronze=v1")
	result, err := renderSources(t.Context(), twoSources(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources[0].Limit = &v1alpha1.Limit{NameSelector: []string{"argocd", "falco"}}
		cs.Spec.Sources[1].Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"bronze", "gold"}}}
		cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd", "nginx", "falco"}}
	}), a, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range result.Unmatched {
		got = append(got, u.String())
	}
	want := `spec.limit.nameSelector[1] "nginx"` + "\n" + `spec.sources[0].limit.nameSelector[1] "falco"` + "\n" +
		`spec.sources[1].limit.metadataSelector.tierRefs[1] "gold"`
	if strings.Join(got, "\n") != want {
		t.Errorf("unmatched:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
}
