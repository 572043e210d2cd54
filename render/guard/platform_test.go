// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// withFacts is a source of the applications argocd and nginx. The versions of argocd are words such as
// 2.0.0=stable=>=1.34: a channel, and the Kubernetes that the version requires.
func withFacts(t *testing.T, argocd string) guard.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	add := func(name, words string) {
		document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  versions:\n"
		metadata := "tier: gold\nversions:\n  0.0.1: {}\n"
		for word := range strings.FieldsSeq(words) {
			part := strings.SplitN(word+"==", "=", 3)
			document += "  - {version: " + part[0] + "}\n"
			metadata += "  " + part[0] + ": {channels: [" + part[1] + "]"
			if requires := strings.TrimRight(part[2], "="); requires != "" {
				metadata += ", requires: {kubernetes: '" + requires + "'}"
			}
			metadata += "}\n"
		}
		fsys["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(document)}
		fsys["applications/"+name+"/metadata.yaml"] = &fstest.MapFile{Data: []byte(metadata)}
	}
	if argocd != "" {
		add("argocd", argocd)
	}
	add("nginx", "1.0.0")
	loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"}, Catalog: loaded}
}

func edit(change func(*v1alpha1.CatalogSelectionSpec)) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	change(&cs.Spec)
	return cs
}

// recorded returns the last publication as a controller reads it from the status.
func recorded(t *testing.T, cs *v1alpha1.CatalogSelection, sources ...guard.Source) guard.Published {
	t.Helper()
	spec, published := guard.RenderedSpec(cs), rendered(t, cs, sources...).Compared()
	written, err := json.Marshal(guard.Record(sources, published))
	if err != nil {
		t.Fatal(err)
	}
	last := guard.Published{Spec: &spec, Definitions: published, Filters: guard.Filters(sources)}
	if err := json.Unmarshal(written, &last.Sources); err != nil {
		t.Fatal(err)
	}
	return last
}

func TestWhatThePlatformDropsIsHeld(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	everything := func(*spec) {}
	on := func(versions ...string) func(*spec) {
		return func(s *spec) { s.Platform = &v1alpha1.Platform{Kubernetes: versions} }
	}
	with := func(changes ...func(*spec)) func(*spec) {
		return func(s *spec) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	rule := func(rule v1alpha1.VersionRule) func(*spec) {
		return func(s *spec) { s.Versions = append(s.Versions, rule) }
	}
	without := func(s *spec) { s.Exclude = []string{"argocd"} }
	const requiring = "2.0.0=fast=>=1.34 1.0.0=stable=>=1.31"
	const removed = "Removal argocd 2.0.0 1.0.0: would be removed, because none of its versions runs on the platform (kubernetes 1.30.1): " +
		"2.0.0 requires kubernetes >=1.34, 1.0.0 requires kubernetes >=1.31"
	const dropped = "VersionRemoval argocd 2.0.0: versions would be removed: 2.0.0; by spec.platform: 2.0.0 requires kubernetes >=1.34"
	for _, test := range []struct {
		name          string
		before, after func(*spec)
		then, now     string // now is then without it
		older         bool
		want          []string
	}{
		{name: "when an edit adds the platform", before: everything, after: on("1.33.2"), then: requiring, want: []string{dropped}},
		{name: "when an edit lists another version", before: on("1.34.0", "1.33.2"), after: on("1.33.2"), then: requiring, want: []string{dropped}},
		{name: "when an edit drops every version", before: everything, after: on("1.30.1"), then: requiring, want: []string{removed}},
		{name: "when the record is of an older release", before: everything, after: on("1.33.2"), then: requiring, older: true, want: []string{dropped}},
		{name: "when the catalog begins to require something", before: on("1.33.2"), after: on("1.33.2"), then: "2.0.0 1.0.0", now: requiring, want: []string{dropped}},
		{name: "when the catalog begins to require it with the edit", before: everything, after: on("1.33.2"), then: "2.0.0 1.0.0", now: requiring, want: []string{dropped}},
		{name: "when the catalog changes with the edit", before: everything, after: on("1.33.2"), then: requiring, now: requiring + " 0.9.0", want: []string{dropped}},
		{name: "when the catalog loses it with the edit", before: everything, after: on("1.33.2"), then: requiring, now: "1.0.0=stable=>=1.31",
			want: []string{"VersionRemoval argocd 2.0.0: versions would be removed: 2.0.0"}},
		{name: "when another edit is made at once", before: everything, after: with(on("1.33.2"), rule(v1alpha1.VersionRule{Constraint: ">=1"})), then: requiring, want: []string{dropped}},
		{name: "but not what the edit excludes as well", before: everything, after: with(on("1.30.1"), without), then: requiring},
		{name: "but not the version that a rule of the edit drops as well", before: everything,
			after: with(on("1.33.2"), rule(v1alpha1.VersionRule{Constraint: "<2"})), then: requiring},
		{name: "and only that version of several", before: everything, after: with(on("1.33.2"), rule(v1alpha1.VersionRule{Constraint: ">=1"})),
			then: requiring + " 0.9.0", want: []string{dropped}},
		{name: "but not what latest drops, because a newer version runs now", before: with(on("1.33.2"), rule(v1alpha1.VersionRule{Latest: 1})),
			after: with(on("1.34.0"), rule(v1alpha1.VersionRule{Latest: 1})), then: requiring},
		{name: "and what the catalog loses, although latest would drop it without the platform", after: with(on("1.33.2"), rule(v1alpha1.VersionRule{Latest: 1}), func(s *spec) { s.DeletionPolicy = "Delete" }),
			before: with(on("1.33.2"), rule(v1alpha1.VersionRule{Latest: 1})), then: requiring + " 0.9.0", now: "2.0.0=fast=>=1.34 0.9.0",
			want: []string{"VersionRemoval argocd 1.0.0: versions would be removed: 1.0.0"}},
		{name: "but not what an edit of the channels drops", before: everything, after: rule(v1alpha1.VersionRule{Channels: []string{"stable"}, Names: []string{"argocd"}}), then: requiring, now: requiring + " 0.9.0"},
		{name: "and the catalog's loss of a channel", before: rule(v1alpha1.VersionRule{Channels: []string{"stable", "fast"}, Names: []string{"argocd"}}),
			after: rule(v1alpha1.VersionRule{Channels: []string{"stable", "fast"}, Names: []string{"argocd"}}), then: requiring, now: "2.0.0 1.0.0=stable",
			want: []string{"VersionRemoval argocd 2.0.0: versions would be removed: 2.0.0"}},
		{name: "and the catalog's loss of a channel, with another edit at once", before: rule(v1alpha1.VersionRule{Channels: []string{"stable", "fast"}, Names: []string{"argocd"}}),
			after: with(rule(v1alpha1.VersionRule{Channels: []string{"stable", "fast"}, Names: []string{"argocd"}}), func(s *spec) { s.DeletionPolicy = "Delete" }), then: requiring, now: "2.0.0 1.0.0=stable",
			want: []string{"VersionRemoval argocd 2.0.0: versions would be removed: 2.0.0"}},
		{name: "nothing when the platform is removed again", before: on("1.33.2"), after: everything, then: requiring},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.now == "" {
				test.now = test.then
			}
			then, now := withFacts(t, test.then), withFacts(t, test.now)
			before, after := edit(test.before), edit(test.after)
			last := recorded(t, before, then)
			if test.older {
				last.Older, last.Sources = true, nil
			}
			result := rendered(t, after, now)
			verdict := guard.Decide(t.Context(), last, guard.Next{Selection: after, Sources: []guard.Source{now}, Result: result})
			var got []string
			for _, reason := range guard.Reasons(verdict.Held, result.Selection) {
				got = append(got, strings.Join(append([]string{reason.Reason, reason.Application}, reason.Versions...), " ")+": "+reason.Message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestAMajorUpgradeThatThePlatformAllowsIsThatOfTheEdit(t *testing.T) {
	source := withFacts(t, "3.0.0==>=1.40 2.0.0==>=1.34 1.0.0")
	before := edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.33.2"}}
	})
	after := edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.34.0"}}
		s.Safeguards.OnMajorUpgrade = v1alpha1.SafeguardHold
	})
	verdict := guard.Decide(t.Context(), recorded(t, before, source), guard.Next{
		Selection: after, Sources: []guard.Source{source}, Result: rendered(t, after, source),
	})
	reasonOf := func(c safeguard.Change) string { return c.Reason }
	if len(verdict.Changes) != 1 || reasonOf(verdict.Changes[0]) != v1alpha1.MajorUpgradeReason || len(verdict.Held) != 0 {
		t.Errorf("of the changes %v, %v are held", verdict.Changes, verdict.Held)
	}
}

func TestAMisspeltChannelIsHeld(t *testing.T) {
	source := withFacts(t, "2.0.0=fast 1.0.0=stable")
	channels := func(list ...string) *v1alpha1.CatalogSelection {
		return edit(func(s *v1alpha1.CatalogSelectionSpec) {
			s.Versions = []v1alpha1.VersionRule{{Names: []string{"argocd"}, Channels: list}}
		})
	}
	const unknown = `UnknownName spec.versions[0].channels[%d]: the edit adds "stabel", which matches nothing, while applications or versions would be removed: ` +
		`did you mean "stable"? the catalogs have "fast", "stable"`
	for _, test := range []struct {
		name          string
		before, after *v1alpha1.CatalogSelection
		want          []string
	}{
		{"that leaves no version", channels("stable"), channels("stabel"), []string{fmt.Sprintf(unknown, 0)}},
		{"that takes a version away", channels("fast", "stable"), channels("fast", "stabel"), []string{fmt.Sprintf(unknown, 1)}},
		{"but not in an edit that loses nothing", channels("stable"), channels("stable", "stabel"), nil},
		{"nor one that was there before", channels("stable", "stabel"), channels("stabel"), nil},
		{"nor one that the catalog has", channels("fast", "stable"), channels("stable"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := rendered(t, test.after, source)
			verdict := guard.Decide(t.Context(), recorded(t, test.before, source), guard.Next{Selection: test.after, Sources: []guard.Source{source}, Result: result})
			var got []string
			for _, reason := range guard.Reasons(verdict.Held, result.Selection) {
				got = append(got, reason.Reason+" "+reason.Message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// remaining returns the versions of argocd that a spec selects.
func remaining(t *testing.T, cs *v1alpha1.CatalogSelection, source guard.Source) []string {
	t.Helper()
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	decided, err := render.Decide(t.Context(), guard.Selections([]guard.Source{source}), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range decided.Applications() {
		if d.Application.Name == "argocd" {
			return d.Versions
		}
	}
	return nil
}

// Whatever is edited and whatever the catalog does: a loss that is not held is made by the new spec over the last
// catalog, with its platform and without.
func TestRandomEditsExcuseWhatTheyLoseWithoutThePlatform(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := func(values ...string) string { return values[random.IntN(len(values))] }
	catalogWords := func() string {
		words := []string{"0.1.0"}
		for _, version := range []string{"1.0.0", "2.0.0", "3.0.0"} {
			if random.IntN(4) > 0 {
				words = append(words, version+"="+one("", "stable", "fast")+"="+one("", ">=1.31", ">=1.33", "<1.33", ">=1.35"))
			}
		}
		return strings.Join(words, " ")
	}
	spec := func() func(*v1alpha1.CatalogSelectionSpec) {
		kubernetes, latest, constraint, channel := one("", "1.32.1", "1.34.1"), random.IntN(4), one("", "<3", ">=1"), one("", "", "stable")
		return func(s *v1alpha1.CatalogSelectionSpec) {
			if kubernetes != "" {
				s.Platform = &v1alpha1.Platform{Kubernetes: []string{kubernetes}}
			}
			rule := v1alpha1.VersionRule{Names: []string{"argocd"}, Constraint: constraint}
			if channel != "" {
				rule.Channels = []string{channel}
			}
			if latest > 0 {
				rule.Latest = int32(latest)
			}
			if latest > 0 || constraint != "" || channel != "" {
				s.Versions = []v1alpha1.VersionRule{rule}
			}
		}
	}
	excused, held := 0, 0
	for range 1000 {
		thenWords, nowWords := catalogWords(), catalogWords()
		if random.IntN(3) == 0 {
			nowWords = thenWords
		}
		then, now, before, after := withFacts(t, thenWords), withFacts(t, nowWords), edit(spec()), edit(spec())
		published := remaining(t, before, then)
		result := rendered(t, after, now)
		verdict := guard.Decide(t.Context(), recorded(t, before, then), guard.Next{Selection: after, Sources: []guard.Source{now}, Result: result})
		var holds []string
		for _, c := range verdict.Held {
			holds = append(holds, c.Versions...)
		}
		bare := edit(func(s *v1alpha1.CatalogSelectionSpec) { after.Spec.DeepCopyInto(s); s.Platform = nil })
		kept, with, without := remaining(t, after, now), remaining(t, after, then), remaining(t, bare, then)
		for _, version := range published {
			switch {
			case slices.Contains(kept, version):
			case slices.Contains(holds, version):
				held++
			case slices.Contains(with, version) || slices.Contains(without, version):
				t.Fatalf("%s is lost from %v and not held: catalogs %q and %q, specs %+v and %+v", version, published, thenWords, nowWords, before.Spec, after.Spec)
			default:
				excused++
			}
		}
	}
	if excused < 100 || held < 100 {
		t.Errorf("%d losses were excused, and %d held", excused, held)
	}
}
