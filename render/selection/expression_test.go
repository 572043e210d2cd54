// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

func TestExpressionsSeeAllOfAnApplication(t *testing.T) {
	for _, test := range []struct {
		name, expression, want string
	}{
		{"name", `app.name == "argocd" || app.name.startsWith("vel")`, "argocd velero"},
		{"kind", `app.kind == "ApplicationDefinition"`, "argocd falco nginx velero"},
		{"group", `app.group == "cozystack.io"`, ""},
		{"tier", `app.tier in ["gold", "tin"]`, "argocd nginx"},
		{"no tier", `!has(app.tier)`, "velero"},
		{"labels", `has(app.labels.stage) && app.labels.stage == "ga"`, "argocd"},
		{"labels by key", `"team" in app.labels && app.labels["team"] != "network"`, "argocd falco"},
		{"no labels", `app.labels == {}`, "velero"},
		{"annotations", `app.annotations.exists(key, app.annotations[key].endsWith("/argocd"))`, "argocd"},
		{"metadata", `has(app.metadata.owner) && app.metadata.owner.name == "ada" && app.metadata.owner.since < 2025`, "argocd"},
		{"versions", `app.versions.exists(v, v == "2.14.0")`, "argocd"},
		{"every version", `app.versions.all(v, semver(v) < semver("2.0.0"))`, "nginx"},
		{"a version with a leading v", `app.versions.exists(v, semver(v) == semver("7.1.0"))`, "velero"},
		{"latestVersion", `app.latestVersion == "3.0.0" || app.latestVersion == "v7.1.0"`, "argocd velero"},
		{"latestVersion counts pre-releases", `app.latestVersion == "4.1.0-rc.1"`, "falco"},
		{"deprecated", `app.deprecated == ""`, "argocd falco velero"},
		{"has() of deprecated", `has(app.deprecated)`, "nginx"},
		{"source", `app.source == "kkp" && app.name == "nginx"`, "nginx"},
		{"spec", `app.spec.method == "helm" && size(app.spec.versions) == 3`, "argocd"},
		{"spec, deep", `app.spec.versions.exists(v, v.version == "1.0.0" && v.template.source.helm.chartName == "x")`, "nginx"},
		{"has() of spec", `has(app.spec) && !has(app.spec.dashboard)`, "argocd falco nginx velero"},
		{"semver comparisons", `semver("1.0.0") < semver("v1.0.1") && semver("1.0.0") <= semver("1.0.0+x") && semver("2.0.0") > semver("2.0.0-rc.1") && semver("2") >= semver("2.0.0") && semver("1.0.0") != semver("1.0.1")`, "argocd falco nginx velero"},
		{"isSemver", `isSemver("v1.2") && !isSemver("main") && app.versions.all(v, isSemver(v))`, "argocd falco nginx velero"},
		{"functions on strings", `app.name.upperAscii().substring(0, 3) == "ARG" && " x ".trim() == "x" && "a,b".split(",")[1] == "b"`, "argocd"},
		{"the whole application", `app == app && type(app) == type(app) && [app][0].tier == "silver"`, "falco"},
		{"regular expressions", `app.name.matches("^n.*x$")`, "nginx"},
		{"an error that does not matter", `app.name != "argocd" || app.labels.nothing == "" || true`, "argocd falco nginx velero"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := choose(t, []selection.Source{sample(t)}, selection.Criteria{Expression: compile(t, test.expression)})
			if got := names(result); got != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
		})
	}
}

func TestAFalseExpressionIsAReason(t *testing.T) {
	expression := compile(t, `app.tier == "gold"`)
	result := choose(t, []selection.Source{sample(t)}, selection.Criteria{Expression: expression})
	if got, want := decided(t, result, "falco"), "limit.expression: limit.expression is false for it"; got != want {
		t.Errorf("decision on falco: %s, want %s", got, want)
	}
	if got, want := decided(t, result, "nginx"), "selected: it meets limit.expression"; got != want {
		t.Errorf("decision on nginx: %s, want %s", got, want)
	}
}

func TestEvaluationFailsForAnApplication(t *testing.T) {
	many := strings.TrimSpace(strings.Repeat("1.0.0 ", 100))
	for i := range 100 {
		many = strings.Replace(many, "1.0.0 ", fmt.Sprintf("1.0.%d ", i+1), 1)
	}
	const exhausted = "it is too expensive: the limit is 100000 steps"
	for _, test := range []struct {
		name, expression string
		want             string
	}{
		{
			"a key that is missing", "true &&\n app.metadata.owner == 'ada'",
			"expression, line 2, column 14: for application big: no such key: owner (has() guards keys that not every application has)",
		},
		{"what is no version", `semver(app.name) > semver("1.0.0")`, `expression, line 1, column 7: for application big: "big" is not a semantic version`},
		{"an index out of range", `app.versions[100] == ""`, "expression, line 1, column 13: for application big: index out of bounds: 100"},
		{"three nested loops", `app.versions.all(a, app.versions.all(b, app.versions.all(c, a + b + c != "")))`, "expression: for application big: " + exhausted},
		{
			"strings that double",
			`app.versions.map(v, "` + strings.Repeat("x", 3000) + `" + v).map(v, v + v + v + v).exists(v, v.contains("y"))`,
			"expression: for application big: " + exhausted,
		},
		{"lists of characters", `[` + strings.Repeat(`app.spec.text.split(""), `, 30) + `[]].size() == 0`, "expression: for application big: " + exhausted},
	} {
		t.Run(test.name, func(t *testing.T) {
			big := &catalog.Application{
				Name: "big", Versions: strings.Fields(many),
				Document: []byte("spec: {text: " + strings.Repeat("z", 10_000) + "}\n"),
			}
			sources := []selection.Source{{Name: "kkp", Catalog: &catalog.Catalog{Applications: []*catalog.Application{big}}}}
			_, err := selection.Select(context.Background(), sources, selection.Criteria{Expression: compile(t, test.expression)})
			var failed *expression.Error
			if !errors.As(err, &failed) || err.Error() != test.want {
				t.Errorf("Select() = %v, want %s", err, test.want)
			}
		})
	}
	t.Run("but not for two nested loops over 100 versions", func(t *testing.T) {
		expression := compile(t, `app.versions.all(a, app.versions.exists(b, a == b))`)
		if result := choose(t, versioned(many), selection.Criteria{Expression: expression}); result.Selected != 1 {
			t.Errorf("%s", lines(result))
		}
	})
}

func TestMapsAreGoneThroughInOrder(t *testing.T) {
	labels := map[string]string{}
	for i := range 9 {
		labels[fmt.Sprintf("k%d", i)] = "x"
	}
	extra := map[string]any{"z": map[string]any{"b": int64(1), "a": int64(2), "c": 1.5}, "list": []any{map[string]any{"y": nil, "x": true}}}
	application := &catalog.Application{Name: "a", Metadata: metadata.Metadata{Labels: labels, Extra: extra}}
	sources := []selection.Source{{Name: "kkp", Catalog: &catalog.Catalog{Applications: []*catalog.Application{application}}}}
	expression := compile(t, `app.labels.map(k, k) == ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"] &&
		app.metadata.z.map(k, k) == ["a", "b", "c"] && app.metadata.list[0].map(k, k) == ["x", "y"] &&
		app.labels.exists(k, k == "k8")`)
	for range 50 {
		if result := choose(t, sources, selection.Criteria{Expression: expression}); result.Selected != 1 {
			t.Fatalf("%s", lines(result))
		}
	}
}

func TestSpecIsParsedOnlyWhenItIsLookedAt(t *testing.T) {
	broken := &catalog.Application{Name: "a", Group: "x", Path: "a/application.yaml", Document: []byte("{")}
	sources := []selection.Source{{Name: "kkp", Catalog: &catalog.Catalog{Applications: []*catalog.Application{broken}}}}
	choose(t, sources, selection.Criteria{Expression: compile(t, `app.group == "cozystack.io" && app.spec.x == 1`)})
	_, err := selection.Select(context.Background(), sources, selection.Criteria{Expression: compile(t, `app.spec.x == 1`)})
	var failed *expression.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Message, "for application a: reading spec") {
		t.Errorf("Select() = %v, want an expression.Error", err)
	}
}

func TestSelectEndsWithItsContext(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := selection.Select(cancelled, []selection.Source{sample(t)}, selection.Criteria{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Select() = %v, want %v", err, context.Canceled)
	}
	// Evaluating for all of them takes far longer.
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := selection.Select(short, generated(20_000), selection.Criteria{Expression: compile(t, `app.versions.all(a, app.versions.all(b, a != b + a))`)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Select() = %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestAnExpressionIsSafeForConcurrentUse(t *testing.T) {
	sources := []selection.Source{sample(t)}
	criteria := selection.Criteria{Expression: compile(t, `app.spec.method == "helm" && app.versions.exists(v, semver(v) >= semver("3.0.0"))`)}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				result, err := selection.Select(context.Background(), sources, criteria)
				if err != nil || names(result) != "argocd falco velero" {
					t.Errorf("selected %q, %v", names(result), err)
				}
			}
		})
	}
	all.Wait()
}

// generated returns n applications with five versions each.
func generated(n int) []selection.Source {
	content := &catalog.Catalog{}
	for i := range n {
		content.Applications = append(content.Applications, &catalog.Application{
			Name: fmt.Sprintf("application-%05d", i), Group: "apps.kubermatic.k8c.io", Kind: "ApplicationDefinition",
			Versions: []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0"},
			Metadata: metadata.Metadata{Tier: []string{"gold", "silver"}[i%2], Labels: map[string]string{"team": "a"}},
		})
	}
	return []selection.Source{{Name: "kkp", Catalog: content}}
}

func BenchmarkSelect(b *testing.B) {
	sources := generated(10_000)
	for _, test := range []struct {
		name     string
		criteria selection.Criteria
	}{
		{"no limit", selection.Criteria{}},
		{"tier", selection.Criteria{Expression: compile(b, `app.tier == "gold" && app.deprecated == ""`)}},
		{"versions", selection.Criteria{Expression: compile(b, `app.versions.exists(v, semver(v) >= semver("2.1.0"))`)}},
		{"rule", selection.Criteria{Versions: []selection.VersionRule{rule(b, "|>=1.1.0 <3.0.0|2")}}},
	} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				choose(b, sources, test.criteria)
			}
		})
	}
}

func BenchmarkCompileExpression(b *testing.B) {
	for b.Loop() {
		compile(b, `app.tier == "gold" && app.deprecated == ""`)
	}
}
