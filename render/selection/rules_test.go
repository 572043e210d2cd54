// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// The four examples of the selector in KKP's proposal for application catalogs.
func TestSelectKnowsTheExamplesOfTheProposal(t *testing.T) {
	source := load(t, "kkp", []definition{
		{name: "argocd", metadata: "tier: gold\n", versions: "1.0.0"}, {name: "falco", metadata: "tier: silver\n", versions: "1.0.0"},
		{name: "nginx", metadata: "tier: bronze\n", versions: "1.0.0"}, {name: "velero", metadata: "tier: gold\n", versions: "1.0.0"},
	})
	for _, test := range []struct {
		name     string
		criteria selection.Criteria
		want     string
	}{
		{"either tier: gold or silver", selection.Criteria{Tiers: []string{"gold", "silver"}}, "argocd falco velero"},
		{"either name: argocd or nginx", selection.Criteria{Names: []string{"argocd", "nginx"}}, "argocd nginx"},
		{"both: a gold application that is named", selection.Criteria{Tiers: []string{"gold"}, Names: []string{"argocd", "nginx"}}, "argocd"},
		{"no limit: everything", selection.Criteria{}, "argocd falco nginx velero"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := names(choose(t, []selection.Source{source}, test.criteria)); got != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
		})
	}
}

func need(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func TestLabelsMeanWhatTheyMeanInKubernetes(t *testing.T) {
	for _, test := range []struct {
		name     string
		selector labels.Selector
		want     string
		nginx    string
	}{
		{"an empty selector selects everything", selector(t, nil), "argocd falco nginx velero", "selected: nothing limits the selection"},
		{
			"every label has to match", selector(t, map[string]string{"team": "network", "stage": "ga"}), "",
			`limit.metadataSelector.matchLabels: its label "stage" is "beta", and limit.metadataSelector.matchLabels requires stage=ga`,
		},
		{
			"a label that is missing does not match", selector(t, map[string]string{"owner": "ada"}), "",
			`limit.metadataSelector.matchLabels: it has no label "owner", and limit.metadataSelector.matchLabels requires owner=ada`,
		},
		{
			"In wants one of the values", selector(t, nil, need("team", "In", "security", "delivery")), "argocd falco",
			`limit.metadataSelector.matchExpressions: its label "team" is "network", and limit.metadataSelector.matchExpressions requires team in (delivery,security)`,
		},
		{
			"NotIn holds without the label", selector(t, nil, need("team", "NotIn", "network")), "argocd falco velero",
			`limit.metadataSelector.matchExpressions: its label "team" is "network", and limit.metadataSelector.matchExpressions requires team notin (network)`,
		},
		{"Exists wants the label", selector(t, nil, need("stage", "Exists")), "argocd nginx", "selected: it meets limit.metadataSelector.matchExpressions"},
		{
			"DoesNotExist wants none", selector(t, nil, need("stage", "DoesNotExist")), "falco velero",
			`limit.metadataSelector.matchExpressions: its label "stage" is "beta", and limit.metadataSelector.matchExpressions requires !stage`,
		},
		{
			"labels and expressions have to match both", selector(t, map[string]string{"team": "network"}, need("stage", "In", "beta")), "nginx",
			"selected: it meets limit.metadataSelector.matchLabels and limit.metadataSelector.matchExpressions",
		},
		{"a selector of nothing selects nothing", labels.Nothing(), "", "limit.metadataSelector.matchLabels: limit.metadataSelector.matchLabels matches nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := choose(t, []selection.Source{sample(t)}, selection.Criteria{Labels: test.selector})
			if got := names(result); got != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
			if got := decided(t, result, "nginx"); got != test.nginx {
				t.Errorf("decision on nginx:\n%s, want\n%s", got, test.nginx)
			}
		})
	}
}

func TestListsSelectWhatOneOfThemHas(t *testing.T) {
	second := load(t, "own", []definition{{name: "loki", versions: "1.0.0"}, {name: "falco", versions: "1.0.0"}}, "default: loki", "own: falco")
	for _, test := range []struct {
		name    string
		sources []selection.Source
		lists   []string
		want    string
	}{
		{"one list", []selection.Source{sample(t)}, []string{"default"}, "argocd velero"},
		{"several lists", []selection.Source{sample(t)}, []string{"security", "default"}, "argocd falco velero"},
		{"an empty list", []selection.Source{sample(t)}, []string{"empty"}, ""},
		{"a list of the same name in two sources", []selection.Source{sample(t), second, {Name: "none"}}, []string{"default"}, "argocd loki velero"},
		{"a list of one source names an application of another", []selection.Source{sample(t), second}, []string{"own"}, "falco"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := choose(t, test.sources, selection.Criteria{Lists: test.lists})
			if got := names(result); got != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
		})
	}
	result := choose(t, []selection.Source{sample(t)}, selection.Criteria{Lists: []string{"security", "default"}})
	want := `limit.catalogRefs: limit.catalogRefs requires that one of these lists has it: "default" or "security"`
	if got := decided(t, result, "nginx"); got != want {
		t.Errorf("decision on nginx: %s, want %s", got, want)
	}
}

func TestSelectRefusesListsThatNoSourceHas(t *testing.T) {
	for _, test := range []struct {
		sources []selection.Source
		lists   []string
		want    selection.UnknownListError
		text    string
	}{
		{
			[]selection.Source{sample(t)}, []string{"y", "default", "x"},
			selection.UnknownListError{Unknown: []string{"x", "y"}, Known: []string{"default", "empty", "security"}},
			"unknown lists x, y: the sources have default, empty, security",
		},
		{
			[]selection.Source{sample(t)}, []string{"secuity", "defaults"},
			selection.UnknownListError{Unknown: []string{"defaults", "secuity"}, Known: []string{"default", "empty", "security"}},
			"unknown lists defaults, secuity: did you mean default and security? the sources have default, empty, security",
		},
		{nil, []string{"x"}, selection.UnknownListError{Unknown: []string{"x"}}, "unknown list x: the sources have no lists, which belong beside applications, in the same layer"},
	} {
		_, err := selection.Select(context.Background(), test.sources, selection.Criteria{Lists: test.lists})
		var unknown *selection.UnknownListError
		if !errors.As(err, &unknown) || !reflect.DeepEqual(*unknown, test.want) || err.Error() != test.text {
			t.Errorf("Select() = %v, want %s", err, test.text)
		}
	}
}

func TestSystemApplicationsAreInOnlyWhenNamed(t *testing.T) {
	sources := []selection.Source{sample(t)}
	result := choose(t, sources, selection.Criteria{Tiers: []string{"gold"}})
	want := "system: KKP's operator reconciles it (label apps.kubermatic.k8c.io/managed-by: kkp); to include it on purpose, name it in limit.nameSelector"
	if got := decided(t, result, "cilium"); got != want || names(result) != "argocd nginx" {
		t.Errorf("selected %q, decision on cilium: %s, want %s", names(result), got, want)
	}
	for _, test := range []struct {
		name     string
		criteria selection.Criteria
		want     string
	}{
		{"named", selection.Criteria{Names: []string{"cilium"}}, selection.RuleSelected},
		{"named and excluded", selection.Criteria{Names: []string{"cilium"}, Exclude: []string{"cilium"}}, selection.RuleExclude},
		{"named, and of another tier", selection.Criteria{Names: []string{"cilium"}, Tiers: []string{"tin"}}, selection.RuleTiers},
		{"another one is named", selection.Criteria{Names: []string{"nginx"}}, selection.RuleSystem},
	} {
		result := choose(t, sources, test.criteria)
		index := slices.IndexFunc(result.Decisions, func(decision selection.Decision) bool { return decision.Application.Name == "cilium" })
		if got := result.Decisions[index].Rule; got != test.want {
			t.Errorf("%s: decided by %s, want %s", test.name, got, test.want)
		}
	}
}

// A metadata.yaml that Flux has dropped is told from a tier that is not stated.
func TestAMissingMetadataFileIsTheReason(t *testing.T) {
	definition := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec: {}\n")}
	}
	loaded, err := catalog.Load(t.Context(), fstest.MapFS{
		"applications/a/application.yaml": definition("a"), "applications/b/application.yaml": definition("b"),
		"applications/b/metadata.yaml": {Data: []byte("labels: {team: b}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	result := choose(t, []selection.Source{{Name: "catalog", Catalog: loaded}}, selection.Criteria{Tiers: []string{"gold"}})
	const none = `limit.metadataSelector.tierRefs: it has no tier, and limit.metadataSelector.tierRefs requires "gold"`
	if got, want := decided(t, result, "a"), none+"; its metadata.yaml is missing or empty: Flux drops symbolic links"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := decided(t, result, "b"); got != none {
		t.Errorf("%s, want %s", got, none)
	}
}

func TestWhoseAnApplicationIs(t *testing.T) {
	for _, test := range []struct{ name, metadata, want string }{
		{"KKP's operator's", "labels: {apps.kubermatic.k8c.io/managed-by: kkp}",
			"system: KKP's operator reconciles it (label apps.kubermatic.k8c.io/managed-by: kkp); to include it on purpose, name it in limit.nameSelector"},
		{"KKP's operator's, in capitals", "labels: {apps.kubermatic.k8c.io/managed-by: KKP}",
			"system: KKP's operator reconciles it (label apps.kubermatic.k8c.io/managed-by: KKP); to include it on purpose, name it in limit.nameSelector"},
		{"somebody else's", "labels: {apps.kubermatic.k8c.io/managed-by: me}", "selected: nothing limits the selection"},
		{"the catalog manager's", "labels: {applicationcatalog.k8c.io/managed-by: application-catalog-manager}",
			"system: KKP's application-catalog-manager reconciles it (label applicationcatalog.k8c.io/managed-by: application-catalog-manager); " +
				"to include it on purpose, name it in limit.nameSelector"},
		{"nobody's", "labels: {applicationcatalog.k8c.io/managed-by: ''}", "selected: nothing limits the selection"},
		{"the catalog manager's of KKP 2.29", "annotations: {apps.k8c.io/managed-by-external-manager: 'true'}",
			"system: KKP's application-catalog-manager reconciles it (annotation apps.k8c.io/managed-by-external-manager: true); " +
				"to include it on purpose, name it in limit.nameSelector"},
		{"that of a manager that is switched off", "annotations: {apps.k8c.io/managed-by-external-manager: 'false'}", "selected: nothing limits the selection"},
	} {
		t.Run(test.name, func(t *testing.T) {
			loaded, err := catalog.Load(t.Context(), fstest.MapFS{"applications/a/application.yaml": {Data: []byte(
				"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: a, " + test.metadata + "}\nspec: {}\n")}})
			if err != nil {
				t.Fatal(err)
			}
			result := choose(t, []selection.Source{{Name: "catalog", Catalog: loaded}}, selection.Criteria{})
			if got := decided(t, result, "a"); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestSelectCountsDeprecatedApplications(t *testing.T) {
	if got := choose(t, []selection.Source{sample(t)}, selection.Criteria{}).Deprecated; got != 1 {
		t.Errorf("%d are deprecated, want 1", got)
	}
	if got := choose(t, []selection.Source{sample(t)}, selection.Criteria{Exclude: []string{"nginx"}}).Deprecated; got != 0 {
		t.Errorf("%d are deprecated although it is excluded, want 0", got)
	}
}

// every is the criteria that an application passes until the rule that refuses it.
func every(t testing.TB) selection.Criteria {
	return selection.Criteria{
		Exclude: []string{"a"}, Names: []string{"a", "c", "d", "e", "f", "g", "h", "i", "j"}, Tiers: []string{"gold"},
		Labels: selector(t, map[string]string{"team": "x"}, need("stage", "Exists")), Lists: []string{"default"},
		Expression: compile(t, `app.deprecated == ""`), Versions: []selection.VersionRule{rule(t, "|>=2|"), rule(t, "j|>=2|1")},
	}
}

func everything(t testing.TB) selection.Source {
	t.Helper()
	const both = "labels: {team: x, stage: ga}\n"
	return load(t, "kkp", []definition{
		{"a", "", "1.0.0", ""},
		{"b", "{apps.kubermatic.k8c.io/managed-by: kkp}", "1.0.0", ""},
		{"bb", "", "1.0.0", ""},
		{"c", "", "1.0.0", "tier: silver\n"},
		{"d", "", "1.0.0", "tier: gold\n"},
		{"e", "", "1.0.0", "tier: gold\nlabels: {team: x}\n"},
		{"f", "", "1.0.0", "tier: gold\n" + both},
		{"g", "", "1.0.0", "tier: gold\ndeprecated: yes it is\n" + both},
		{"h", "", "1.0.0", "tier: gold\n" + both},
		{"i", "", "2.0.0", "tier: gold\n" + both},
		{"j", "", "1.0.0 2.0.0 3.0.0", "tier: gold\n" + both},
	}, "default: g h i j")
}

func TestRulesDecideInTheirOrder(t *testing.T) {
	for name, want := range map[string]string{
		"a": selection.RuleExclude, "b": selection.RuleSystem, "bb": selection.RuleNames, "c": selection.RuleTiers,
		"d": selection.RuleMatchLabels, "e": selection.RuleMatchExpressions, "f": selection.RuleLists,
		"g": selection.RuleExpression, "h": selection.RuleVersions, "i": selection.RuleSelected, "j": selection.RuleSelected,
	} {
		// What an earlier source refuses, a later one's twin does not bring in.
		twin := everything(t)
		result := choose(t, []selection.Source{everything(t), {Name: "later", Catalog: twin.Catalog}}, every(t))
		if result.Shadowed != 11 || result.Selected != 2 || result.Available != 11 {
			t.Fatalf("%s", lines(result))
		}
		for _, decision := range result.Decisions {
			if decision.Application.Name == name && decision.Source == "kkp" && decision.Rule != want {
				t.Errorf("%s is decided by %s, want %s", name, decision.Rule, want)
			}
			if decision.Source == "later" && decision.Rule != selection.RuleShadowed {
				t.Errorf("%s of the later source is decided by %s", decision.Application.Name, decision.Rule)
			}
		}
	}
}

func TestSelectWithEveryRuleDependsOnNoOrder(t *testing.T) {
	source, criteria := everything(t), every(t)
	want := choose(t, []selection.Source{source}, criteria)
	for range 50 {
		mixed := criteria
		mixed.Exclude, mixed.Names, mixed.Tiers, mixed.Lists = shuffle(criteria.Exclude), shuffle(criteria.Names), shuffle(criteria.Tiers), shuffle(criteria.Lists)
		shuffled := &catalog.Catalog{Applications: shuffle(source.Catalog.Applications), Lists: source.Catalog.Lists}
		got := choose(t, []selection.Source{{Name: source.Name, Catalog: shuffled}}, mixed)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Select() =\n%swant\n%s", lines(got), lines(want))
		}
	}
}
