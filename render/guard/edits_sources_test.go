// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

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

// merging sets the sources with these names, of which the later ones are merged.
func merging(names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		from(names...)(s)
		for i := range s.Sources[1:] {
			s.Sources[i+1].Merge = v1alpha1.MergeVersions
		}
	}
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
			then, now := catalogs(test.catalogs...), catalogs(slices.Concat(test.catalogs, test.changed)...)
			holds(t, decide(t, change{from(test.before...), from(test.after...), then, now}), test.want)
		})
	}
}

func TestEditsOfTheDirectoryOfASource(t *testing.T) {
	at := func(words []string) map[string]fstest.MapFS {
		files := fstest.MapFS{}
		for _, word := range words {
			dir, name, _ := strings.Cut(word, "/")
			addApplication(files, dir+"/", name)
		}
		return map[string]fstest.MapFS{"catalog": files}
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
		{"nothing, while the catalog loses something", noEdit, []string{"catalog:x", "catalog:y"}, before[:3], []string{"Removal falco 1.0.0"}},
		{"a directory less, while the catalog loses something", from("catalog:x"), []string{"catalog:x", "catalog:y"},
			[]string{"x/argocd", "y/falco"}, []string{"Removal nginx 1.0.0"}},
		{"a directory less, which the catalog does not have any more", from("catalog:x"), []string{"catalog:x", "catalog:y"},
			[]string{"x/argocd"}, []string{"Removal nginx 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			holds(t, decide(t, change{from(test.sources...), test.edit, at(before), at(test.after)}), test.want)
		})
	}
}

// limiting limits a source to a tier.
func limiting(edit specEdit, source int, tier string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		edit(s)
		s.Sources[source].Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{tier}}}
	}
}

func TestWhoLosesWhatSourcesAdd(t *testing.T) {
	const both = "argocd:gold:1.0.0,2.0.0 nginx:silver:1.0.0"
	for _, test := range []struct {
		name          string
		before, after specEdit
		// catalogs and what changes in them with the edit.
		catalogs, changed []string
		want              []string
	}{
		{"the source that adds versions is removed", merging("a", "b"), from("a"),
			[]string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, nil, nil},
		{"while the first loses some as well", merging("a", "b"), from("a"),
			[]string{"a", "argocd::2.0.0,3.0.0", "b", "argocd::1.0.0"}, []string{"a", "argocd::3.0.0"}, []string{"VersionRemoval argocd 2.0.0"}},
		{"merge is removed", merging("a", "b"), from("a", "b"),
			[]string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, nil, nil},
		{"merge is removed, while the first changes", merging("a", "b"), from("a", "b"),
			[]string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, []string{"a", "argocd::2.0.0,3.0.0"}, nil},
		{"the sources change places", merging("a", "b"), merging("b", "a"),
			[]string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, []string{"a", "argocd::2.0.0,3.0.0"}, nil},
		{"no edit: the source that adds versions loses one", merging("a", "b"), noEdit,
			[]string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, []string{"b", "argocd::0.9.0"}, []string{"VersionRemoval argocd 1.0.0"}},
		{"an added source has what the first one loses", from("a"), merging("a", "b"),
			[]string{"a", both, "b", both}, []string{"a", "argocd:gold:2.0.0 nginx:silver:1.0.0"}, nil},
		{"an added source has a part of it", from("a"), merging("a", "b"),
			[]string{"a", "argocd::1.0.0,2.0.0,3.0.0", "b", "argocd::1.0.0"}, []string{"a", "argocd::3.0.0"}, []string{"VersionRemoval argocd 2.0.0"}},
		{"a limit of the added source refuses it", merging("a", "b"), limiting(merging("a", "b"), 1, "gold"),
			[]string{"a", "argocd::2.0.0", "b", "argocd:silver:1.0.0 nginx:gold"}, nil, nil},
		{"no edit: its metadata changes, and the limit refuses it", limiting(merging("a", "b"), 1, "gold"), noEdit,
			[]string{"a", "argocd::2.0.0", "b", "argocd:gold:1.0.0 nginx:gold"}, []string{"b", "argocd:silver:1.0.0 nginx:gold"},
			[]string{"VersionRemoval argocd 1.0.0"}},
		{"the limit of the first goes, which then shadows", limiting(from("a", "b"), 0, "gold"), from("a", "b"),
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"b", "argocd::1.0.0,1.1.0"}, nil},
		{"no edit: the first begins to shadow", limiting(from("a", "b"), 0, "gold"), noEdit,
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"a", "argocd:gold:2.0.0 nginx:gold"},
			[]string{"VersionRemoval argocd 1.0.0"}},
		{"the first is limited, and the second takes over", from("a", "b"), limiting(from("a", "b"), 0, "gold"),
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"a", "argocd:silver:3.0.0 nginx:gold"}, nil},
		{"a limit with a typo", from("a", "b"), limiting(from("a", "b"), 0, "glod"),
			[]string{"a", "argocd:gold", "b", "nginx"}, nil, []string{"UnknownName "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			then, now := catalogs(test.catalogs...), catalogs(slices.Concat(test.catalogs, test.changed)...)
			holds(t, decide(t, change{test.before, test.after, then, now}), test.want)
		})
	}
}
