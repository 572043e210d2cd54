// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// definedIn returns a catalog of KKP's definitions, "name=version,version", each a word.
func definedIn(name, applications string) selection.Source {
	content := &catalog.Catalog{}
	for word := range strings.FieldsSeq(applications) {
		application, versions, _ := strings.Cut(word, "=")
		a := &catalog.Application{
			Name: application, APIVersion: "apps.kubermatic.k8c.io/v1", Group: "apps.kubermatic.k8c.io", Kind: "ApplicationDefinition",
			Method: "helm",
		}
		if versions != "" {
			a.Versions = strings.Split(versions, ",")
		}
		content.Applications = append(content.Applications, a)
	}
	return selection.Source{Name: name, Catalog: content}
}

// decisions renders the decisions with their versions, without reasons.
func decisions(result selection.Result) string {
	var all []string
	for _, d := range result.Decisions {
		text := fmt.Sprintf("%s of %s: %s", d.Application.Name, d.Source, d.Rule)
		if d.Selected {
			text += fmt.Sprint(" ", d.Versions)
		}
		for _, added := range d.Added() {
			text += fmt.Sprint(", of ", added.Source, " ", added.Versions)
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func onlyNames(list ...string) selection.SourceRules {
	return selection.SourceRules{Limit: &selection.Criteria{Names: list}}
}

var merge = selection.SourceRules{MergeVersions: true}

func TestSourcesAreLimitedAndMerged(t *testing.T) {
	first, second, third := definedIn("a", "argocd=2,1 nginx=1"), definedIn("b", "argocd=2,0 falco=1"), definedIn("c", "argocd=0,3 falco=1,0")
	all := []selection.Source{first, second, third}
	rule := func(constraint string) []selection.VersionRule {
		r, err := selection.NewVersionRule(v1alpha1.VersionRule{Constraint: constraint})
		if err != nil {
			t.Fatal(err)
		}
		return []selection.VersionRule{r}
	}
	for _, test := range []struct {
		name     string
		criteria selection.Criteria
		want     string
	}{
		{"the first source wins", selection.Criteria{}, `
argocd of a: selected [2 1]
argocd of b: shadowed
argocd of c: shadowed
falco of b: selected [1]
falco of c: shadowed
nginx of a: selected [1]`},
		{"an application that the limit of its source refuses does not exist there",
			selection.Criteria{Sources: []selection.SourceRules{onlyNames("nginx")}}, `
argocd of b: selected [2 0]
argocd of c: shadowed
argocd of a: sources[].limit
falco of b: selected [1]
falco of c: shadowed
nginx of a: selected [1]`},
		{"nor anywhere, if all sources refuse it", selection.Criteria{Sources: []selection.SourceRules{onlyNames("nginx"), onlyNames("falco"), onlyNames("falco")}}, `
argocd of a: sources[].limit
argocd of b: sources[].limit
argocd of c: sources[].limit
falco of b: selected [1]
falco of c: shadowed
nginx of a: selected [1]`},
		{"versions that the earlier sources lack are added", selection.Criteria{Sources: []selection.SourceRules{{}, merge, merge}}, `
argocd of a: selected [2 1 0 3], of b [0], of c [3]
argocd of b: shadowed
argocd of c: shadowed
falco of b: selected [1 0], of c [0]
falco of c: shadowed
nginx of a: selected [1]`},
		{"a source between that does not merge adds nothing, and keeps nothing away", selection.Criteria{Sources: []selection.SourceRules{{}, {}, merge}}, `
argocd of a: selected [2 1 0 3], of c [0 3]
argocd of b: shadowed
argocd of c: shadowed
falco of b: selected [1 0], of c [0]
falco of c: shadowed
nginx of a: selected [1]`},
		{"what the limit of a source refuses is not merged", selection.Criteria{Sources: []selection.SourceRules{
			{}, merge, {MergeVersions: true, Limit: &selection.Criteria{Names: []string{"falco"}}},
		}}, `
argocd of a: selected [2 1 0], of b [0]
argocd of b: shadowed
argocd of c: sources[].limit
falco of b: selected [1 0], of c [0]
falco of c: shadowed
nginx of a: selected [1]`},
		{"versions narrow what was merged", selection.Criteria{Sources: []selection.SourceRules{{}, merge, merge}, Versions: rule("0 || 1")}, `
argocd of a: selected [1 0], of b [0]
argocd of b: shadowed
argocd of c: shadowed
falco of b: selected [1 0], of c [0]
falco of c: shadowed
nginx of a: selected [1]`},
		{"expressions see merged versions", selection.Criteria{
			Sources: []selection.SourceRules{{}, merge, merge}, Expression: compile(t, `app.latestVersion == "3"`),
		}, `
argocd of a: selected [2 1 0 3], of b [0], of c [3]
argocd of b: shadowed
argocd of c: shadowed
falco of b: limit.expression, of c [0]
falco of c: shadowed
nginx of a: limit.expression`},
		{"but those of a source only its own", selection.Criteria{Sources: []selection.SourceRules{
			{}, merge, {MergeVersions: true, Limit: &selection.Criteria{Expression: compile(t, `app.source == "c" && app.versions == ["0", "3"]`)}},
		}}, `
argocd of a: selected [2 1 0 3], of b [0], of c [3]
argocd of b: shadowed
argocd of c: shadowed
falco of b: selected [1]
falco of c: sources[].limit
nginx of a: selected [1]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := choose(t, all, test.criteria)
			if got := decisions(result); got != test.want[1:] {
				t.Errorf("got:\n%s\nwant:%s", got, test.want)
			}
			for _, s := range all {
				for _, a := range s.Catalog.Applications {
					if a.Merged != nil || len(a.Versions) > 2 {
						t.Errorf("%s of the catalog %s was changed", a.Name, s.Name)
					}
				}
			}
		})
	}
}

func TestReasonsNameTheSourceAndItsLimit(t *testing.T) {
	sources := []selection.Source{source("a", "argocd:gold"), source("b", "argocd:silver")}
	sources[1].Catalog.Lists = map[string][]string{"all": {"argocd"}, "none": {}}
	sources[0].Catalog.Lists = map[string][]string{"first": {"argocd"}}
	for _, test := range []struct {
		limit selection.Criteria
		want  string
	}{
		{selection.Criteria{Names: []string{"x"}}, "sources[1].limit.nameSelector does not name it"},
		{selection.Criteria{Tiers: []string{"gold"}}, `its tier is "silver", and sources[1].limit.metadataSelector.tierRefs requires "gold"`},
		{selection.Criteria{Lists: []string{"none"}}, `sources[1].limit.catalogRefs requires that one of these lists has it: "none"`},
		{selection.Criteria{Expression: compile(t, `app.tier == "gold"`)}, "sources[1].limit.expression is false for it"},
	} {
		result := choose(t, sources, selection.Criteria{Sources: []selection.SourceRules{{}, {Limit: &test.limit}}})
		if got := result.Decisions[1]; got.Rule != selection.RuleSourceLimit || got.Reason != test.want {
			t.Errorf("%s: %s, want %s", got.Rule, got.Reason, test.want)
		}
		if result.Available != 1 || result.Shadowed != 0 {
			t.Errorf("%d available, %d shadowed", result.Available, result.Shadowed)
		}
	}
	for _, test := range []struct {
		limit selection.Criteria
		want  string
	}{
		{selection.Criteria{Lists: []string{"first"}}, `unknown list first: the sources have all, none`},
		{selection.Criteria{Expression: compile(t, `app.labels.x == "1"`)}, "expression, line 1, column 11: for application argocd: no such key: x (has() guards keys that not every application has)"},
	} {
		_, err := selection.Select(context.Background(), sources, selection.Criteria{Sources: []selection.SourceRules{{}, {Limit: &test.limit}}})
		var failed *selection.SourceError
		if !errors.As(err, &failed) || failed.Index != 1 || err.Error() != test.want {
			t.Errorf("Select() = %v, want %s", err, test.want)
		}
	}
	empty := []selection.Source{sources[0], {Name: "b", Catalog: &catalog.Catalog{}}}
	limit := selection.Criteria{Lists: []string{"later"}}
	choose(t, empty, selection.Criteria{Sources: []selection.SourceRules{{}, {Limit: &limit}}})
}

func TestVersionsThatCannotBeMerged(t *testing.T) {
	many := func(first, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint(first+i))
		}
		return strings.Join(all, ",")
	}
	for _, test := range []struct {
		name         string
		first, later string
		edit         func(first, later *catalog.Application)
		want         string
	}{
		{"another API", "argocd=1", "argocd=2", func(_, later *catalog.Application) { later.APIVersion = "apps.kubermatic.k8c.io/v2" },
			`its apiVersion is "apps.kubermatic.k8c.io/v1" there, and "apps.kubermatic.k8c.io/v2" here`},
		{"another method", "argocd=1", "argocd=2", func(_, later *catalog.Application) { later.Method = "git" },
			`its spec.method is "helm" there, and "git" here`},
		{"no definition of KKP", "argocd=1", "argocd=2", func(first, later *catalog.Application) {
			first.APIVersion, first.Group, later.APIVersion, later.Group = "x.io/v1", "x.io", "x.io/v1", "x.io"
		}, `its group is "x.io", and only versions of apps.kubermatic.k8c.io can be merged`},
		{"too many", "argocd=" + many(0, 600), "argocd=" + many(300, 701), nil, "it would have 1001 versions, more than 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sources := []selection.Source{definedIn("a", test.first), definedIn("b", test.later+" falco")}
			if test.edit != nil {
				test.edit(sources[0].Catalog.Applications[0], sources[1].Catalog.Applications[0])
			}
			criteria := selection.Criteria{Sources: []selection.SourceRules{{}, merge}}
			_, err := selection.Select(context.Background(), sources, criteria)
			want := `versions of application argocd of the source "b" cannot be added to the versions of "a": ` +
				test.want + "; leave it out with spec.sources[1].limit"
			var refused *selection.MergeError
			if !errors.As(err, &refused) || err.Error() != want {
				t.Errorf("Select() = %v, want %s", err, want)
			}
			criteria.Exclude = []string{"argocd"}
			choose(t, sources, criteria) // what is not selected is not merged
			criteria.Exclude, criteria.Sources[1].Limit = nil, &selection.Criteria{Names: []string{"falco"}}
			choose(t, sources, criteria)
		})
	}
	t.Run("nothing to merge", func(t *testing.T) {
		sources := []selection.Source{definedIn("a", "argocd=1,2"), definedIn("b", "argocd=1")}
		sources[1].Catalog.Applications[0].Method = "git"
		choose(t, sources, selection.Criteria{Sources: []selection.SourceRules{{}, merge}})
	})
}

func TestExplainTellsSourcesApart(t *testing.T) {
	sources := []selection.Source{definedIn("a", "argocd=2"), definedIn("b", "argocd=1"), definedIn("c", "argocd=0"), definedIn("d", "argocd=9")}
	criteria := selection.Criteria{Sources: []selection.SourceRules{onlyNames("falco"), onlyNames("argocd"), merge}}
	explained, err := selection.Explain(context.Background(), sources, criteria, "argocd")
	if err != nil {
		t.Fatal(err)
	}
	if d := explained.Decision; d.Source != "b" || d.Index != 1 || !slices.Equal(d.Versions, []string{"1", "0"}) {
		t.Errorf("decided on %+v", d)
	}
	of := func(decisions []selection.Decision) (sources string) {
		for _, d := range decisions {
			sources += d.Source
		}
		return sources
	}
	if of(explained.Shadowed) != "cd" || of(explained.Limited) != "a" {
		t.Errorf("shadowed in %s, limited in %s", of(explained.Shadowed), of(explained.Limited))
	}
	if v := explained.Verdicts[0]; v.Rule != "sources[1].limit.nameSelector" || v.Outcome != selection.OutcomePass || v.Reason != "sources[1].limit.nameSelector names it" {
		t.Errorf("the first verdict is %+v", v)
	}
	criteria.Sources = []selection.SourceRules{onlyNames("x"), onlyNames("x"), onlyNames("x"), onlyNames("x")}
	if explained, err = selection.Explain(context.Background(), sources, criteria, "argocd"); err != nil {
		t.Fatal(err)
	}
	if explained.Decision.Source != "a" || explained.Verdicts[0].Outcome != selection.OutcomeFail || of(explained.Limited) != "bcd" {
		t.Errorf("explained %+v", explained)
	}
}

func TestExpressionsSeeTheDefinitionsOwnMetadata(t *testing.T) {
	known := definedIn("a", "argocd falco")
	argocd := known.Catalog.Applications[0]
	argocd.Labels, argocd.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	for expression, want := range map[string]string{
		`has(app.objectLabels.a) && app.objectLabels.a == "b"`:           "argocd",
		`has(app.objectAnnotations.c) && app.objectAnnotations.c == "d"`: "argocd",
		`!has(app.objectAnnotations) && app.objectLabels == {}`:          "falco",
	} {
		if got := names(choose(t, []selection.Source{known}, selection.Criteria{Expression: compile(t, expression)})); got != want {
			t.Errorf("%s selects %q, want %q", expression, got, want)
		}
	}
}
