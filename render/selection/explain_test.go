// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
)

func explained() []selection.Source {
	return []selection.Source{
		{Name: "base", Catalog: &catalog.Catalog{
			Applications: []*catalog.Application{{
				Name: "app", Versions: []string{"1.0.0", "2.0.0"},
				Metadata: metadata.Metadata{Tier: "gold"},
			}},
			Lists: map[string][]string{"default": {"app"}},
		}},
		{Name: "extra", Catalog: &catalog.Catalog{Applications: []*catalog.Application{{Name: "app"}, {Name: "other"}}}},
	}
}

func TestExplain(t *testing.T) {
	latest, err := selection.NewVersionRule(v1alpha1.VersionRule{Latest: 1})
	if err != nil {
		t.Fatal(err)
	}
	system := selection.Verdict{
		Rule: selection.RuleSystem, Outcome: selection.OutcomePass, Reason: "it is not one that KKP's operator reconciles",
	}
	unset := func(rule string) selection.Verdict {
		return selection.Verdict{Rule: rule, Outcome: selection.OutcomeUnset}
	}
	tests := []struct {
		name     string
		criteria selection.Criteria
		selected bool
		dropped  []string
		want     []selection.Verdict
	}{
		{
			name:     "nothing is set",
			selected: true,
			want: []selection.Verdict{
				unset("exclude"), system, unset("limit.nameSelector"), unset("limit.metadataSelector.tierRefs"),
				unset("limit.metadataSelector.matchLabels"), unset("limit.metadataSelector.matchExpressions"),
				unset("limit.catalogRefs"), unset("limit.expression"), unset("platform"), unset("versions"),
			},
		},
		{
			name: "rules after the one that decides are asked as well",
			criteria: selection.Criteria{
				Exclude: []string{"other"}, Names: []string{"other"}, Tiers: []string{"gold"}, Lists: []string{"default"},
				Versions: []selection.VersionRule{latest},
			},
			want: []selection.Verdict{
				{Rule: "exclude", Outcome: "pass", Reason: "exclude does not name it"},
				system,
				{Rule: "limit.nameSelector", Outcome: "fail", Reason: "limit.nameSelector does not name it"},
				{Rule: "limit.metadataSelector.tierRefs", Outcome: "pass", Reason: `its tier is "gold"`},
				unset("limit.metadataSelector.matchLabels"), unset("limit.metadataSelector.matchExpressions"),
				{Rule: "limit.catalogRefs", Outcome: "pass", Reason: "one of the lists has it"},
				unset("limit.expression"), unset("platform"),
				{Rule: "versions", Outcome: "pass", Reason: "1 of its 2 versions stay"},
			},
		},
		{
			name:     "versions that do not stay are dropped",
			criteria: selection.Criteria{Versions: []selection.VersionRule{latest}},
			selected: true,
			dropped:  []string{"1.0.0"},
			want: []selection.Verdict{
				unset("exclude"), system, unset("limit.nameSelector"), unset("limit.metadataSelector.tierRefs"),
				unset("limit.metadataSelector.matchLabels"), unset("limit.metadataSelector.matchExpressions"),
				unset("limit.catalogRefs"), unset("limit.expression"), unset("platform"),
				{Rule: "versions", Outcome: "pass", Reason: "1 of its 2 versions stay"},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := selection.Explain(t.Context(), explained(), test.criteria, "app")
			if err != nil {
				t.Fatal(err)
			}
			if got.Decision.Source != "base" || got.Decision.Selected != test.selected {
				t.Errorf("decision = %+v", got.Decision)
			}
			if len(got.Shadowed) != 1 || got.Shadowed[0].Source != "extra" {
				t.Errorf("shadowed = %+v", got.Shadowed)
			}
			if dropped := got.Decision.Dropped(); !reflect.DeepEqual(dropped, test.dropped) {
				t.Errorf("dropped = %v, want %v", dropped, test.dropped)
			}
			if !reflect.DeepEqual(got.Verdicts, test.want) {
				t.Errorf("verdicts:\n%v\nwant\n%v", got.Verdicts, test.want)
			}
		})
	}
}

func TestExplainWhatNoSourceHas(t *testing.T) {
	got, err := selection.Explain(t.Context(), explained(), selection.Criteria{}, "nothing")
	if got != nil || err != nil {
		t.Errorf("Explain() = %v, %v, want nothing", got, err)
	}
}
