package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// merging sets the sources with these names, of which the later ones are merged.
func merging(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		from(names...)(cs)
		for i := range cs.Spec.Sources[1:] {
			cs.Spec.Sources[i+1].Merge = v1alpha1.MergeVersions
		}
	}
}

// limiting limits a source to a tier.
func limiting(edit specEdit, source int, tier string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		edit(cs)
		cs.Spec.Sources[source].Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{tier}}}
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
		{"no edit: the source that adds versions loses one", merging("a", "b"), guarded,
			[]string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, []string{"b", "argocd::0.9.0"}, []string{"VersionRemoval argocd 1.0.0"}},
		{"an added source has what the first one loses", from("a"), merging("a", "b"),
			[]string{"a", both, "b", both}, []string{"a", "argocd:gold:2.0.0 nginx:silver:1.0.0"}, nil},
		{"an added source has a part of it", from("a"), merging("a", "b"),
			[]string{"a", "argocd::1.0.0,2.0.0,3.0.0", "b", "argocd::1.0.0"}, []string{"a", "argocd::3.0.0"}, []string{"VersionRemoval argocd 2.0.0"}},
		{"a limit of the added source refuses it", merging("a", "b"), limiting(merging("a", "b"), 1, "gold"),
			[]string{"a", "argocd::2.0.0", "b", "argocd:silver:1.0.0 nginx:gold"}, nil, nil},
		{"no edit: its metadata changes, and the limit refuses it", limiting(merging("a", "b"), 1, "gold"), guarded,
			[]string{"a", "argocd::2.0.0", "b", "argocd:gold:1.0.0 nginx:gold"}, []string{"b", "argocd:silver:1.0.0 nginx:gold"},
			[]string{"VersionRemoval argocd 1.0.0"}},
		{"the limit of the first goes, which then shadows", limiting(from("a", "b"), 0, "gold"), from("a", "b"),
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"b", "argocd::1.0.0,1.1.0"}, nil},
		{"no edit: the first begins to shadow", limiting(from("a", "b"), 0, "gold"), guarded,
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"a", "argocd:gold:2.0.0 nginx:gold"},
			[]string{"VersionRemoval argocd 1.0.0"}},
		{"the first is limited, and the second takes over", from("a", "b"), limiting(from("a", "b"), 0, "gold"),
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"a", "argocd:silver:3.0.0 nginx:gold"}, nil},
		{"a limit with a typo", from("a", "b"), limiting(from("a", "b"), 0, "glod"),
			[]string{"a", "argocd:gold", "b", "nginx"}, nil, []string{"UnknownName "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishSources(t, test.before, test.catalogs...)
			e.restart() // only the status remembers
			e.edit(test.after)
			e.catalogs(test.changed...)
			if test.want == nil {
				e.good()
				return
			}
			reason := map[byte]string{'V': "VersionRemoval", 'U': "UnknownName"}[test.want[0][0]]
			e.equal("lost", lost(e.hold(good, reason)), test.want)
		})
	}
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
