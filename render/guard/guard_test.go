// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// sourceOf is a source of "name:tier:key=value" words.
func sourceOf(t *testing.T, words string) guard.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for word := range strings.FieldsSeq(words) {
		part := strings.Split(word+"::", ":")
		dir := "applications/" + part[0] + "/"
		fsys[dir+"application.yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: %s}\nspec: {versions: [{version: 1.0.0}]}\n", part[0])}
		metadata := "tier: " + part[1] + "\n"
		if key, value, labelled := strings.Cut(part[2], "="); labelled {
			metadata += "labels: {" + key + ": " + value + "}\n"
		}
		fsys[dir+"metadata.yaml"] = &fstest.MapFile{Data: []byte(metadata)}
	}
	loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"}, Catalog: loaded}
}

func limited(limit v1alpha1.Limit) *v1alpha1.CatalogSelection {
	return edit(func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &limit })
}

func rendered(t *testing.T, cs *v1alpha1.CatalogSelection, sources ...guard.Source) *render.Result {
	t.Helper()
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), guard.Selections(sources), opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func tiers(list ...string) v1alpha1.Limit {
	return v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: list}}
}

func names(list ...string) v1alpha1.Limit { return v1alpha1.Limit{NameSelector: list} }

func in(key string, values ...string) v1alpha1.Limit {
	return v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values},
	}}}
}

func TestANameThatAnEditAddsAndThatMatchesNothing(t *testing.T) {
	const catalog = "argocd:gold:team=ops nginx:silver:team=web falco:gold:team=web"
	for _, test := range []struct {
		name          string
		before, after v1alpha1.Limit
		// catalogs of the last publication, if it is another one, and of now.
		then, now string
		want      []string
	}{
		{name: "a tier", before: tiers("gold", "silver"), after: tiers("gold", "sliver"),
			want: []string{`UnknownName spec.limit.metadataSelector.tierRefs[1]: the edit adds "sliver", which matches nothing, while ` +
				`applications or versions would be removed: did you mean "silver"? the catalogs have "gold", "silver"`}},
		{name: "a name", before: names("argocd", "nginx"), after: names("argocd", "ngnix"),
			want: []string{`UnknownName spec.limit.nameSelector[1]: the edit adds "ngnix", which matches nothing, while ` +
				`applications or versions would be removed: did you mean "nginx"? the catalogs have "argocd", "falco", "nginx"`}},
		{name: "the value of a label", before: in("team", "ops", "web"), after: in("team", "ops", "wbe"),
			want: []string{`UnknownName spec.limit.metadataSelector.matchExpressions[0].values[1]: the edit adds "team=wbe", which matches nothing, ` +
				`while applications or versions would be removed: did you mean "team=web"? the catalogs have "team=ops", "team=web"`}},
		{name: "a name that is like nothing", before: tiers("gold", "silver"), after: tiers("gold", "platinum"),
			want: []string{`UnknownName spec.limit.metadataSelector.tierRefs[1]: the edit adds "platinum", which matches nothing, while ` +
				`applications or versions would be removed: the catalogs have "gold", "silver"`}},
		{name: "one that was there before the edit", before: tiers("gold", "silver", "sliver"), after: tiers("sliver", "gold")},
		{name: "one that is only moved, in an edit with another", before: tiers("gold", "silver", "sliver"), after: tiers("bronze", "sliver", "gold"),
			want: []string{`UnknownName spec.limit.metadataSelector.tierRefs[0]: the edit adds "bronze", which matches nothing, while ` +
				`applications or versions would be removed: the catalogs have "gold", "silver"`}},
		{name: "one that matches", before: tiers("gold", "silver"), after: tiers("gold")},
		{name: "in an edit that removes nothing", before: tiers("gold"), after: tiers("gold", "sliver")},
		{name: "one that the catalog knew before", before: tiers("gold", "silver"), after: tiers("gold", "bronze"), then: catalog + " velero:bronze"},
		{name: "a name that was published before", before: tiers("gold", "silver", "bronze"), after: names("argocd", "velero"),
			then: catalog + " velero:bronze"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.then == "" {
				test.then = catalog
			}
			then, now := sourceOf(t, test.then), sourceOf(t, catalog)
			before, after := limited(test.before), limited(test.after)
			next := guard.Next{Selection: after, Sources: []guard.Source{now}, Result: rendered(t, after, now)}
			verdict := guard.Decide(t.Context(), recorded(t, before, then), next)
			var got []string
			for _, reason := range guard.Reasons(verdict.Held, next.Result.Selection) {
				if reason.Reason == v1alpha1.UnknownNameReason { // whose doing the removals are is another question
					got = append(got, reason.Reason+" "+reason.Message)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestTheMostSeriousReasonStandsForAll(t *testing.T) {
	order := []string{
		v1alpha1.RemovalReason, v1alpha1.UnknownNameReason, v1alpha1.IdentityChangeReason, v1alpha1.VersionRemovalReason,
		v1alpha1.AdoptionReason, v1alpha1.InstanceUpgradeReason, v1alpha1.SourceChangeReason, v1alpha1.MajorUpgradeReason,
	}
	var changes []safeguard.Change
	for _, reason := range slices.Backward(order) {
		changes = append(changes, safeguard.Change{Reason: reason})
		if got := guard.MostSerious(changes); got != reason {
			t.Errorf("of %v it is %s", changes, got)
		}
	}
}

func TestASafeguardHoldsWhatItIsFor(t *testing.T) {
	publish := v1alpha1.Safeguards{
		OnRemoval: "Publish", OnVersionRemoval: "Publish", OnMajorUpgrade: "Publish", OnIdentityChange: "Publish", OnSourceChange: "Publish",
	}
	hold := v1alpha1.Safeguards{OnRemoval: "Hold", OnVersionRemoval: "Hold", OnMajorUpgrade: "Hold", OnIdentityChange: "Hold", OnSourceChange: "Hold"}
	for _, test := range []struct {
		reason                   string
		defaults, publish, holds bool
	}{
		{v1alpha1.RemovalReason, true, false, true},
		{v1alpha1.UnknownNameReason, true, true, true},
		{v1alpha1.IdentityChangeReason, true, false, true},
		{v1alpha1.VersionRemovalReason, true, false, true},
		{v1alpha1.AdoptionReason, true, false, true},
		{v1alpha1.SourceChangeReason, false, false, true},
		{v1alpha1.MajorUpgradeReason, false, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			change := safeguard.Change{Reason: test.reason}
			got := []bool{guard.Holds(v1alpha1.Safeguards{}, change), guard.Holds(publish, change), guard.Holds(hold, change)}
			if want := []bool{test.defaults, test.publish, test.holds}; !slices.Equal(got, want) {
				t.Errorf("held by default, by Publish and by Hold: %v, want %v", got, want)
			}
		})
	}
}
