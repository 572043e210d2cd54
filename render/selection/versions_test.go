// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// versioned returns a source with one application for each list of versions: a, b, ...
func versioned(lists ...string) []selection.Source {
	content := &catalog.Catalog{}
	for i, list := range lists {
		content.Applications = append(content.Applications, &catalog.Application{Name: string(rune('a' + i)), Versions: strings.Fields(list)})
	}
	return []selection.Source{{Name: "kkp", Catalog: content}}
}

func TestVersionRulesKeep(t *testing.T) {
	for _, test := range []struct {
		name, versions, rules, want string
	}{
		{"what satisfies the constraint, in the document's order", "3.0.0 2.13.0 1.0.0 2.99.9", "|>=2.13.0 <3.0.0|", "2.13.0 2.99.9"},
		{"versions with a leading v", "v1.0.0 v2.0.0 2.1.0", "|>=2.0.0|", "v2.0.0 2.1.0"},
		{"what a constraint with a leading v wants", "v1.0.0 2.0.0", "|>=v2.0.0|", "2.0.0"},
		{"alternatives", "1.0.0 2.0.0 3.0.0", "|1.x || 3.x|", "1.0.0 3.0.0"},
		{"a tilde range", "1.2.0 1.2.9 1.3.0", "|~1.2|", "1.2.0 1.2.9"},
		{"a caret range", "1.2.0 1.9.0 2.0.0", "|^1.2|", "1.2.0 1.9.0"},
		{"versions with fewer numbers", "1 1.5 2", "|<2|", "1 1.5"},
		{"no pre-release, unless named", "1.0.0 1.1.0-rc.1 2.0.0-alpha", "|>=1.0.0|", "1.0.0"},
		{"a pre-release that is named", "1.0.0 1.1.0-rc.1 2.0.0-alpha", "|>=1.0.0-0|", "1.0.0 1.1.0-rc.1 2.0.0-alpha"},
		{"what has build metadata", "1.0.0+a 1.0.0+b 1.1.0", "|=1.0.0|", "1.0.0+a 1.0.0+b"},
		{"nothing that is no semantic version", "latest 1.0.0 main", "|*|", "1.0.0"},
		{"the latest", "1.0.0 10.0.0 9.0.0 2.0.0", "||2", "10.0.0 9.0.0"},
		{"all when there are no more", "1.0.0 2.0.0", "||5", "1.0.0 2.0.0"},
		{"equal ones are one of the latest", "1.0.0 1.1.0+2 1.1.0+1 1.2.0", "||2", "1.1.0+2 1.1.0+1 1.2.0"},
		{"equal ones are the latest", "v2.0.0 1.0.0 2.0.0+1 2.0.0", "||1", "v2.0.0 2.0.0+1 2.0.0"},
		{"what is not semantic is never equal", "main 1.0.0 next", "||2", "main 1.0.0"},
		{"the latest of what satisfies", "1.0.0 1.1.0 1.2.0 2.0.0", "|<2|2", "1.1.0 1.2.0"},
		{"a release over its pre-releases", "1.0.0-rc.2 1.0.0-rc.10 1.0.0", "||2", "1.0.0-rc.10 1.0.0"},
		{"what is no semantic version as the lowest", "main edge 1.0.0", "||2", "main 1.0.0"},
		{"one rule after the other", "1.0.0 1.1.0 2.0.0 2.1.0", "||3;|<2.1|;||1", "2.0.0"},
		{"in the order of the rules", "1.0.0 1.1.0 2.0.0 2.1.0", "|<2.1|;||3", "1.0.0 1.1.0 2.0.0"},
		{"all of what a rule does not name", "1.0.0 2.0.0", "x|>=2|", "1.0.0 2.0.0"},
		{"what both a rule for all and one by name keep", "1.0.0 2.0.0 3.0.0", "|>=2|;a|<3|", "2.0.0"},
		{"an application without versions", "", "|>=2|1", ""},
		{"an application without versions that is named", "", "a|>=2|1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var criteria selection.Criteria
			for _, text := range strings.Split(test.rules, ";") {
				criteria.Versions = append(criteria.Versions, rule(t, text))
			}
			selected := choose(t, versioned(test.versions), criteria).Applications()
			if len(selected) != 1 || strings.Join(selected[0].Versions, " ") != test.want {
				t.Errorf("%+v is selected, want the versions %q", selected, test.want)
			}
		})
	}
}

func TestAnApplicationWithoutVersionsLeftIsOut(t *testing.T) {
	many := "0.1.0 0.2.0 0.3.0 0.4.0 0.5.0 0.6.0 0.7.0 0.8.0 0.9.0 0.10.0 0.11.0 0.12.0"
	result := choose(t, versioned("1.0.0 main", "1.0.0 2.0.0 3.0.0", many, "2.0.0"), selection.Criteria{
		Versions: []selection.VersionRule{rule(t, "|>=2|"), rule(t, "b|<3|"), rule(t, "b|>2|"), rule(t, "zz|>1|")},
	})
	for name, want := range map[string]string{
		"a": `versions: none of its versions satisfies the constraint ">=2": 1.0.0, main`,
		"b": `versions: none of the versions that earlier rules leave it satisfies the constraint ">2": 2.0.0`,
		"c": `versions: none of its versions satisfies the constraint ">=2": 0.1.0, 0.2.0, 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 0.9.0, 0.10.0 and 2 more`,
		"d": "selected: nothing limits the selection",
	} {
		if got := decided(t, result, name); got != want {
			t.Errorf("decision on %s:\n%s, want\n%s", name, got, want)
		}
	}
	for _, decision := range result.Decisions {
		if !slices.Equal(decision.Versions, decision.Application.Versions) {
			t.Errorf("%s has the versions %v, want the catalog's", decision.Application.Name, decision.Versions)
		}
	}
}

func TestTheReasonCountsTheVersionsThatStay(t *testing.T) {
	sources := versioned("1.0.0 2.0.0 3.0.0")
	result := choose(t, sources, selection.Criteria{Names: []string{"a"}, Versions: []selection.VersionRule{rule(t, "||2")}})
	want := "selected: it meets limit.nameSelector; versions keeps 2 of its 3 versions"
	if got := decided(t, result, "a"); got != want {
		t.Errorf("decision: %s, want %s", got, want)
	}
	if got := sources[0].Catalog.Applications[0].Versions; len(got) != 3 {
		t.Errorf("the catalog has changed to %v", got)
	}
}

func TestNewVersionRuleRefuses(t *testing.T) {
	for _, test := range []struct {
		name, constraint string
		latest           int32
	}{
		{"neither constraint nor latest", "", 0},
		{"a negative latest", ">=1", -1},
		{"a constraint that is none", "newest", 0},
		{"a constraint that is only an operator", ">=", 0},
		{"a constraint that is too long", strings.Repeat("1 || ", 60) + "1", 0},
	} {
		if _, err := selection.NewVersionRule(v1alpha1.VersionRule{Constraint: test.constraint, Latest: test.latest}); err == nil {
			t.Errorf("NewVersionRule() accepts %s", test.name)
		}
	}
}
