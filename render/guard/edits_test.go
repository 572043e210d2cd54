// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

func onlyTiers(tiers ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: tiers}}
	}
}

func exclude(names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = names }
}

func constrain(constraint string, names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Versions = []v1alpha1.VersionRule{{Names: names, Constraint: constraint}}
	}
}

func latest(s *v1alpha1.CatalogSelectionSpec) { s.Versions = []v1alpha1.VersionRule{{Latest: 1}} }

func patchOf(name, patch string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{Patch: patch, Target: &kustomize.Selector{Name: name}}}
	}
}

func approving(lines ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = lines }
}

func all(edits ...specEdit) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		for _, change := range edits {
			change(s)
		}
	}
}

// What the last publication has and the next one lacks needs a line, whether the spec takes it, the catalog or both.
func TestWhatTakesSomethingAway(t *testing.T) {
	const words = "argocd:gold:1.0.0,2.0.0 nginx:silver falco:gold"
	holdMajors := func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnMajorUpgrade = v1alpha1.SafeguardHold }
	publish := func(s *v1alpha1.CatalogSelectionSpec) {
		s.Safeguards.OnRemoval, s.Safeguards.OnVersionRemoval = v1alpha1.SafeguardPublish, v1alpha1.SafeguardPublish
	}
	for _, test := range []struct {
		name, then   string // words without then
		now          string // then without it
		before, edit specEdit
		want         []string
	}{
		{name: "names of the limit", edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd"}} }, want: []string{"falco", "nginx"}},
		{name: "tiers of the limit", edit: onlyTiers("gold"), want: []string{"nginx"}},
		{name: "a misspelt tier", before: onlyTiers("gold", "silver"), edit: onlyTiers("gold", "sliver"), want: []string{"nginx"}},
		{name: "an expression of the limit", edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{Expression: `app.tier == "gold"`} }, want: []string{"nginx"}},
		{name: "a constraint of versions", edit: constrain(">=2", "argocd"), want: []string{"argocd/1.0.0"}},
		{name: "the latest version", edit: latest, want: []string{"argocd/1.0.0"}},
		{name: "a constraint that leaves no version", edit: constrain(">=3", "argocd"), want: []string{"argocd"}},
		{name: "a patch", edit: patchOf("argocd", "- {op: remove, path: /spec/versions/0}\n"), want: []string{"argocd/1.0.0"}},
		{name: "the end of a patch that adds a version", before: patchOf("argocd", `[{"op": "add", "path": "/spec/versions/-", "value": {"version": "9.0.0"}}]`),
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Patches = nil }, want: []string{"argocd/9.0.0"}},
		{name: "a limit that selects nothing", edit: onlyTiers("none"), want: []string{"argocd", "falco", "nginx"}},
		{name: "a limit that selects nothing, with onRemoval Publish", edit: all(publish, onlyTiers("none")), want: []string{"argocd", "falco", "nginx"}},
		{name: "exclude alone", edit: exclude("nginx")},
		{name: "exclude of everything", edit: exclude("argocd", "nginx", "falco")},
		{name: "exclude, with the patch of what it names", before: patchOf("nginx", `[{"op": "add", "path": "/spec/description", "value": "x"}]`),
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Patches, s.Exclude = nil, []string{"nginx"} }},
		{name: "a major that the spec admits, held as configured", before: all(holdMajors, constrain("<2")), edit: constrain(">0"), want: []string{"argocd:major/2"}},
		{name: "a line for a version", edit: all(constrain(">=2"), approving("argocd/1.0.0")), want: []string{"falco", "nginx"}},
		{name: "a line for any version", edit: all(constrain(">=2", "argocd"), approving("argocd/*"))},
		{name: "a line for the application alone", edit: all(constrain(">=2", "argocd"), approving("argocd")), want: []string{"argocd/1.0.0"}},
		{name: "a line for any version of what goes as a whole", edit: all(onlyTiers("gold"), approving("nginx/*")), want: []string{"nginx"}},
		{name: "a checksum", edit: all(onlyTiers("gold"), approving("sha256:"+strings.Repeat("0", 64))), want: []string{"nginx"}},

		{name: "the catalog alone", now: "argocd:gold:2.0.0 nginx:silver", want: []string{"falco", "argocd/1.0.0"}},
		{name: "the catalog, of what exclude names already", before: exclude("falco"), now: "argocd:gold:1.0.0,2.0.0 nginx"},
		{name: "the catalog, by another tier", before: onlyTiers("gold"), now: "argocd:gold:1.0.0,2.0.0 falco:silver", want: []string{"falco"}},
		{name: "the catalog, of what is not selected", before: onlyTiers("gold"), now: "argocd:gold:1.0.0,1.1.0,2.0.0 falco:gold"},
		{name: "the catalog and exclude, something else each", now: "argocd:gold:1.0.0,2.0.0 nginx", edit: exclude("nginx"), want: []string{"falco"}},
		{name: "the catalog and exclude, the same", now: "argocd:gold:1.0.0,2.0.0 falco", edit: exclude("nginx")},
		{name: "the catalog and a constraint, a version each", then: "argocd::1.0.0,2.0.0,3.0.0", now: "argocd::1.0.0,3.0.0", edit: constrain(">=2"), want: []string{"argocd/1.0.0", "argocd/2.0.0"}},
		{name: "the catalog, of the version that the spec keeps", then: "argocd nginx::1.0.0,2.0.0", now: "argocd nginx::1.0.0", edit: constrain(">=2", "nginx"), want: []string{"nginx"}},
		{name: "the catalog, of a version of what exclude names", then: "argocd nginx::1.0.0,2.0.0", now: "argocd nginx::2.0.0", edit: exclude("nginx")},
		{name: "the catalog, below a patch of its list", then: "argocd::1.0.0,2.0.0,3.0.0", now: "argocd::1.0.0,2.0.0",
			edit: patchOf("argocd", "- {op: remove, path: /spec/versions/0}\n"), want: []string{"argocd/1.0.0", "argocd/3.0.0"}},

		{name: "nothing: an application comes", now: words + " velero"},
		{name: "nothing: a version comes", now: strings.Replace(words, "1.0.0,", "1.1.0,1.0.0,", 1)},
		{name: "nothing: a major comes", now: strings.Replace(words, "2.0.0", "2.0.0,3.0.0", 1)},
		{name: "nothing: a major is not the highest any more", before: holdMajors, then: "argocd::2.0.0,1.0.0", now: "argocd::1.0.0,2.0.0,1.1.0"},
		{name: "the catalog, as configured", before: publish, now: "argocd:gold:2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := change{before: noEdit, edit: noEdit, then: catalogs("catalog", words)}
			if test.then != "" {
				c.then = catalogs("catalog", test.then)
			}
			if c.now = c.then; test.now != "" {
				c.now = catalogs("catalog", test.now)
			}
			if test.before != nil {
				c.before = test.before
			}
			if test.edit != nil {
				c.edit = test.edit
			}
			verdict, _ := decide(t, c)
			holds(t, verdict, test.want...)
		})
	}
}

// merging sets the sources with these names; the later ones are merged.
func merging(names ...string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		from(names...)(s)
		for i := range s.Sources[1:] {
			s.Sources[i+1].Merge = v1alpha1.MergeVersions
		}
	}
}

// limiting limits a source to a tier.
func limiting(edit specEdit, source int, tier string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		edit(s)
		s.Sources[source].Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{tier}}}
	}
}

func TestWhatSourcesTakeAway(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after specEdit
		// catalogs has the words of sources, changed those that change with the edit.
		catalogs, changed []string
		want              []string
	}{
		{"a source is dropped", from("a", "b"), from("a"), []string{"a", "argocd", "b", "nginx"}, nil, []string{"nginx"}},
		{"a source is replaced by another", from("a"), from("b"), []string{"a", "argocd argo", "b", "argocd"}, nil, []string{"argo"}},
		{"sources are reordered", from("a", "b"), from("b", "a"), []string{"a", "argocd::1.0.0,2.0.0", "b", "argocd::2.0.0"}, nil, []string{"argocd/1.0.0"}},
		{"an added source hides versions", from("a"), from("b", "a"), []string{"a", "argocd::1.0.0,2.0.0", "b", "argocd::2.0.0"}, nil, []string{"argocd/1.0.0"}},
		{"an added source has what the first loses", from("a"), from("a", "b"), []string{"a", "argocd::1.0.0,2.0.0 argo", "b", "argocd::1.0.0,2.0.0"}, []string{"a", "argo"}, nil},
		{"an added source has a part of it", from("a"), merging("a", "b"), []string{"a", "argocd::1.0.0,2.0.0,3.0.0", "b", "argocd::1.0.0"}, []string{"a", "argocd::3.0.0"}, []string{"argocd/2.0.0"}},
		{"merge ends", merging("a", "b"), from("a", "b"), []string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, nil, []string{"argocd/1.0.0"}},
		{"a merged source loses a version", merging("a", "b"), noEdit, []string{"a", "argocd::2.0.0", "b", "argocd::1.0.0"}, []string{"b", "argocd::0.9.0"}, []string{"argocd/1.0.0"}},
		{"a source is limited", merging("a", "b"), limiting(merging("a", "b"), 1, "gold"), []string{"a", "argocd::2.0.0", "b", "argocd:silver:1.0.0 nginx:gold"}, nil, []string{"argocd/1.0.0"}},
		{"a source begins to shadow another", limiting(from("a", "b"), 0, "gold"), noEdit,
			[]string{"a", "argocd:silver:2.0.0 nginx:gold", "b", "argocd::1.0.0"}, []string{"a", "argocd:gold:2.0.0 nginx:gold"}, []string{"argocd/1.0.0"}},
		{"another directory", from("d:x"), from("d:y"), []string{"d", "x/argocd x/nginx y/argocd"}, nil, []string{"nginx"}},
		{"another order of directories", from("d:x", "d:y"), from("d:y", "d:x"), []string{"d", "x/argocd x/nginx y/argocd"}, nil, nil},
		{"another format", from("catalog"), func(s *v1alpha1.CatalogSelectionSpec) { s.Sources[0].Format = v1alpha1.FormatDefinitions },
			[]string{"catalog", "argocd"}, nil, nil},
		{"include", from("catalog"), func(s *v1alpha1.CatalogSelectionSpec) { s.Sources[0].Include = []string{"applications/nginx/*"} },
			[]string{"catalog", "argocd nginx"}, nil, []string{"argocd"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := func(pairs ...string) map[string]fstest.MapFS {
				all := catalogs(pairs...)
				for i := 0; i < len(pairs); i += 2 {
					if pairs[i] == "d" {
						all["d"] = fstest.MapFS{}
						for word := range strings.FieldsSeq(pairs[i+1]) {
							dir, name, _ := strings.Cut(word, "/")
							addApplication(all["d"], dir+"/", name)
						}
					}
				}
				return all
			}
			verdict, _ := decide(t, change{test.before, test.after, files(test.catalogs...), files(append(test.catalogs, test.changed...)...)})
			holds(t, verdict, test.want...)
		})
	}
}

// What does not change the objects of an artifact is no edit of them.
func TestTheRenderedPartOfTheSpec(t *testing.T) {
	type selection = v1alpha1.CatalogSelection
	base := func() *selection { return edit(from("a", "b")) }
	for _, test := range []struct {
		name   string
		edit   func(*selection)
		counts bool
	}{
		{"the interval", func(cs *selection) { cs.Spec.Interval.Duration = time.Hour }, false},
		{"suspend", func(cs *selection) { cs.Spec.Suspend = true }, false},
		{"where it is pushed to", func(cs *selection) { cs.Spec.Push = &v1alpha1.Push{URL: "oci://registry.example/x"} }, false},
		{"the catalog of what is pushed", func(cs *selection) {
			cs.Spec.Push = &v1alpha1.Push{URL: "oci://registry.example/x", Catalog: &v1alpha1.PushCatalog{Kind: "ClusterCatalog"}}
		}, true},
		{"the safeguards", func(cs *selection) {
			cs.Spec.Safeguards = v1alpha1.Safeguards{OnRemoval: "Publish", OnMajorUpgrade: "Hold", Approve: []string{"argocd"}}
		}, false},
		{"the cluster", func(cs *selection) { cs.Spec.Cluster = v1alpha1.Cluster{Bypass: "Ignore", Unmanaged: "Label"} }, false},
		{"the account", func(cs *selection) { cs.Spec.ServiceAccountName = "tenant" }, false},
		{"a demand for a verification", func(cs *selection) { cs.Spec.Sources[1].RequireVerified = true }, false},
		{"the metadata", func(cs *selection) { cs.Generation, cs.Labels = 7, map[string]string{"a": "b"} }, false},
		{"the sources", func(cs *selection) { cs.Spec.Sources[0].Name = "other" }, true},
		{"the limit", func(cs *selection) { cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"a"}} }, true},
		{"exclude", func(cs *selection) { cs.Spec.Exclude = []string{"a"} }, true},
		{"the versions", func(cs *selection) { cs.Spec.Versions = []v1alpha1.VersionRule{{Constraint: ">1"}} }, true},
		{"the patches", func(cs *selection) { cs.Spec.Patches = []kustomize.Patch{{Patch: "x"}} }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := base()
			test.edit(cs)
			before := cs.DeepCopy()
			if counts := !reflect.DeepEqual(guard.RenderedSpec(cs), guard.RenderedSpec(base())); counts != test.counts {
				t.Errorf("counts as an edit: %v", counts)
			}
			if !reflect.DeepEqual(before, cs) {
				t.Error("the selection was changed")
			}
		})
	}
}
