// SPDX-License-Identifier: Apache-2.0

package chartrules_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/lint/chartrules"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

func TestKubernetes(t *testing.T) {
	for _, test := range []struct {
		name, requires string
		platform, want []string
	}{
		{"nothing", "", nil, []string{"1.36.0"}},
		{"a range", ">=1.28 <1.31", nil, []string{"1.30.0"}},
		{"a range that begins at a patch version", ">=1.31.4 <1.32", nil, []string{"1.31.99"}},
		{"a range of the future", ">=1.99", nil, []string{"1.36.0"}},
		{"a platform", "", []string{"v1.31.4", "1.30.9", "1.31.2"}, []string{"1.30.9", "v1.31.4"}},
		{"numbers, not texts", "", []string{"1.31.4", "1.9.0"}, []string{"1.9.0", "1.31.4"}},
		{"a platform with a range", ">=1.31.3", []string{"1.31.2", "1.31.4", "1.30.9"}, []string{"1.31.4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			requires := []metadata.Requirement{{Component: "kkp", Constraint: "<1"}}
			if test.requires != "" {
				requires = append(requires, metadata.Requirement{Component: "kubernetes", Constraint: test.requires})
			}
			if got := chartrules.Kubernetes(requires, test.platform); !slices.Equal(got, test.want) {
				t.Errorf("Kubernetes() = %q, want %q", got, test.want)
			}
		})
	}
}

// chart is one with a render for each use, whose name is an instance and may begin with ~ for one with values of the cluster.
func chart(version, kubernetes string, renders map[string]rendering.Render) chartrules.Render {
	r := chartrules.Render{Kubernetes: kubernetes}
	r.Chart.Application, r.Chart.Version, r.Chart.Mirrored = "web", version, fetching.Reference{Name: "web", Version: version}
	for _, name := range slices.Sorted(maps.Keys(renders)) {
		r.Chart.Uses = append(r.Chart.Uses, charts.Use{Instance: strings.TrimPrefix(name, "~"), IsOpen: strings.HasPrefix(name, "~")})
		r.Chart.Rendered = append(r.Chart.Rendered, charts.Pair{Mirrored: renders[name]})
	}
	return r
}

// chartsOf returns the renders by charts: of a chart, they follow each other, each for another Kubernetes.
func chartsOf(renders []chartrules.Render) (all [][]chartrules.Render) {
	for i, r := range renders {
		if i > 0 && r.Chart.Version == renders[i-1].Chart.Version && r.Kubernetes != renders[i-1].Kubernetes {
			all[len(all)-1] = append(all[len(all)-1], r)
		} else {
			all = append(all, []chartrules.Render{r})
		}
	}
	return all
}

// use is a chart with the same render for one use.
func use(instance string, render rendering.Render) chartrules.Render {
	return chart("1.0.0", "1.36.0", map[string]rendering.Render{instance: render})
}

func keys(names ...string) (r rendering.Render) {
	for _, name := range names {
		r.Unread = append(r.Unread, unread.Key{Name: name})
	}
	return r
}

func failing(err error) chartrules.Render {
	r := use("", rendering.Render{})
	r.Chart.Failure, r.Chart.Rendered = err, nil
	return r
}

func TestCheck(t *testing.T) {
	const refused = "it lacks a value"
	cronJob := rendering.Render{Manifests: []rendering.Manifest{{Path: "a", Text: "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: \"x\\e[2J\"}\n"}}}
	many := rendering.Render{Manifests: []rendering.Manifest{{Path: "a", Text: strings.Repeat("apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: x}\n---\n", 30)}, {Path: "b", Text: cronJob.Manifests[0].Text}}}
	git := use("", rendering.Render{})
	git.Chart.Missing, git.Chart.Uses, git.Chart.Rendered = "it is in Git", nil, nil
	for _, test := range []struct {
		name    string
		renders []chartrules.Render
		own     map[string]map[string]bool
		has     bool
		want    []string
	}{
		{"nothing", []chartrules.Render{use("", rendering.Render{})}, nil, false, nil},
		{"values that may be missing", []chartrules.Render{use("", rendering.Render{Refused: refused})}, nil, true, []string{"info charts/render 1.0.0 it does not render: it lacks a value"}},
		{"those of an instance", []chartrules.Render{use("a", rendering.Render{Refused: refused})}, nil, false, []string{"error charts/render 1.0.0 a it does not render: it lacks a value"}},
		{"those of an instance that the cluster completes", []chartrules.Render{use("~a", rendering.Render{Refused: refused, By: rendering.BySchema})}, nil, true, []string{
			"info charts/unchecked 1.0.0 a values that only the cluster has are not read", "info charts/schema 1.0.0 a it lacks a value"}},
		{"a schema", []chartrules.Render{use("a", rendering.Render{Refused: refused, By: rendering.BySchema})}, nil, false, []string{"error charts/schema 1.0.0 a it lacks a value"}},
		{"a chart that is never installed", []chartrules.Render{use("", rendering.Render{Refused: "a library", By: rendering.ByChart})}, nil, false, []string{"error charts/render 1.0.0 it does not render: a library"}},
		{"a chart without one in it, which Flux installs", []chartrules.Render{use("", rendering.Render{Refused: "it lacks db", By: rendering.ByDependencies})}, nil, false, []string{
			"warning charts/render 1.0.0 it does not render: it lacks db"}},
		{"values of an instance, of a chart that looks into a cluster", []chartrules.Render{use("a", rendering.Render{Refused: refused, By: rendering.ByCluster})}, nil, false, []string{"warning charts/render 1.0.0 a it does not render: it lacks a value"}},
		{"default values, of a chart that looks into a cluster", []chartrules.Render{use("", rendering.Render{Refused: refused, By: rendering.ByCluster})}, nil, false, []string{
			"info charts/render 1.0.0 it does not render: it lacks a value"}},
		{"another Kubernetes", []chartrules.Render{use("a", rendering.Render{Refused: "too new", By: rendering.ByKubernetes})}, nil, false, []string{"info charts/render 1.0.0 a it does not render: too new"}},
		{"another Kubernetes than that of the platform", []chartrules.Render{use("", rendering.Render{Refused: "too new", By: rendering.ByKubernetes})}, nil, true, []string{"error charts/render 1.0.0 it does not render: too new"}},
		{"a note", []chartrules.Render{use("", rendering.Render{Notes: []string{"a schema"}})}, nil, false, []string{"info charts/unchecked 1.0.0 a schema"}},
		{"a removed API, whose name is hostile", []chartrules.Render{use("", cronJob)}, nil, false, []string{
			"warning charts/removed-api 1.0.0 a has the CronJob x [2J of batch/v1beta1, which Kubernetes 1.25 has removed: use batch/v1"}},
		{"a removed API of one Kubernetes", []chartrules.Render{
			chart("1.0.0", "1.24.0", map[string]rendering.Render{"a": cronJob}), chart("1.0.0", "1.25.0", map[string]rendering.Render{"a": cronJob}),
		}, nil, true, []string{"error charts/removed-api 1.0.0 a a has the CronJob x [2J of batch/v1beta1, which Kubernetes 1.25 has removed: use batch/v1 (with Kubernetes 1.25)"}},
		{"many of them", []chartrules.Render{use("", many)}, nil, false, []string{"warning charts/removed-api 1.0.0 a has the CronJob x of batch/v1beta1, which Kubernetes 1.25 has removed: use batch/v1"}},
		{"a manifest that is none", []chartrules.Render{use("", rendering.Render{Manifests: []rendering.Manifest{{Path: "a", Text: "[\x1b"}}})}, nil, false, []string{
			"info charts/unchecked 1.0.0 a cannot be searched: yaml: control characters are not allowed"}},
		{"no chart at the address", []chartrules.Render{failing(&charts.FetchError{Err: errors.New("no such host")})}, nil, false, []string{"error charts/not-found 1.0.0 no such host"}},
		{"another chart", []chartrules.Render{failing(fmt.Errorf("x: %w %q", charts.ErrOtherChart, "db"))}, nil, false, []string{`error charts/name 1.0.0 x: its archive has the chart "db"`}},
		{"no chart", []chartrules.Render{failing(fmt.Errorf("x: %w", charts.ErrNoChart))}, nil, false, []string{"error charts/format 1.0.0 x: its archive is no chart that Helm can read"}},
		{"a limit", []chartrules.Render{failing(errors.New("rendering it takes more than 30s"))}, nil, false, []string{"error charts/render 1.0.0 rendering it takes more than 30s"}},
		{"a chart in Git", []chartrules.Render{git}, nil, false, []string{"info charts/unchecked 1.0.0 it is in Git"}},

		{"a version that a patch gives a second time, with another chart", []chartrules.Render{use("", rendering.Render{Notes: []string{"a schema"}}), git}, nil, false, []string{
			"info charts/unchecked 1.0.0 a schema", "info charts/unchecked 1.0.0 it is in Git"}},
		{"a default value that no version reads", []chartrules.Render{
			chart("1.0.0", "1.36.0", map[string]rendering.Render{"": keys("both", "first")}), chart("2.0.0", "1.36.0", map[string]rendering.Render{"": keys("both", "second")}),
		}, nil, false, []string{`warning charts/unread-value  no chart of the application reads the default value "both"`}},
		{"one that a version may read", []chartrules.Render{use("", keys("both")), failing(errors.New("no"))}, nil, false, []string{"error charts/render 1.0.0 no"}},
		{"one that a version in Git may read", []chartrules.Render{git, chart("2.0.0", "1.36.0", map[string]rendering.Render{"": keys("both")})}, nil, false, []string{"info charts/unchecked 1.0.0 it is in Git"}},
		{"a value of an instance, beside default values", []chartrules.Render{
			chart("1.0.0", "1.36.0", map[string]rendering.Render{"a": keys("own", "shared"), "b": keys("own", "shared")}), chart("2.0.0", "1.36.0", map[string]rendering.Render{"": {}}),
		}, map[string]map[string]bool{"a": {"own": true}}, false, []string{`warning charts/unread-value 1.0.0 a the chart web 1.0.0 does not read the value "own"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range chartrules.Check(chartrules.Input{Charts: chartsOf(test.renders), SetBy: test.own, HasPlatform: test.has}) {
				place := strings.TrimSpace(p.Version + " " + p.Instance)
				got = append(got, fmt.Sprintf("%s %s %s %s", p.Severity, p.Rule, place, p.Message))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("Check() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
