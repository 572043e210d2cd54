// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// definition is an application as its two files have it.
type definition struct {
	name, labels, versions, metadata string
}

// load makes a source of definitions, with the lists given as "name: a b".
func load(t testing.TB, name string, definitions []definition, lists ...string) selection.Source {
	t.Helper()
	files := fstest.MapFS{}
	write := func(path, content string) { files[path] = &fstest.MapFile{Data: []byte(content)} }
	for _, one := range definitions {
		var text strings.Builder
		fmt.Fprintf(&text, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\n", one.name)
		if one.labels != "" {
			fmt.Fprintf(&text, "  labels: %s\n", one.labels)
		}
		text.WriteString("spec:\n  method: helm\n  versions:\n")
		for _, version := range strings.Fields(one.versions) {
			fmt.Fprintf(&text, "  - version: %q\n    template: {source: {helm: {chartName: x, chartVersion: x, url: \"https://example.com\"}}}\n", version)
		}
		write("applications/"+one.name+"/application.yaml", text.String())
		if one.metadata != "" {
			write("applications/"+one.name+"/metadata.yaml", one.metadata)
		}
	}
	for _, list := range lists {
		key, members, _ := strings.Cut(list, ":")
		write("catalogs/"+key+"/metadata.yaml", "applications: ["+strings.Join(strings.Fields(members), ", ")+"]\n")
	}
	loaded, err := catalog.Load(context.Background(), files)
	if err != nil {
		t.Fatal(err)
	}
	return selection.Source{Name: name, Catalog: loaded}
}

// sample is a small catalog with something for every rule.
func sample(t testing.TB) selection.Source {
	t.Helper()
	return load(t, "kkp", []definition{
		{"argocd", "", "2.13.4 2.14.0 3.0.0", "tier: gold\nlabels: {team: delivery, stage: ga}\nannotations: {docs: https://example.com/argocd}\nowner: {name: ada, since: 2024}\n"},
		{"cilium", "{apps.kubermatic.k8c.io/managed-by: kkp}", "1.18.0", "tier: gold\nlabels: {team: network}\n"},
		{"falco", "{team: security}", "4.0.0 4.1.0-rc.1", "tier: silver\nlabels: {team: security}\n"},
		{"nginx", "", "1.0.0", "tier: gold\nlabels: {team: network, stage: beta}\ndeprecated: use a gateway\n"},
		{"velero", "", "v7.1.0", ""},
	}, "default: argocd velero", "security: falco", "empty:")
}

// names lists the selected applications, with their versions where those are not the catalog's.
func names(result selection.Result) string {
	var selected []string
	for _, decision := range result.Applications() {
		name := decision.Application.Name
		if len(decision.Versions) != len(decision.Application.Versions) {
			name += "@" + strings.Join(decision.Versions, ",")
		}
		selected = append(selected, name)
	}
	return strings.Join(selected, " ")
}

// decided returns rule and reason of the decision on an application.
func decided(t *testing.T, result selection.Result, name string) string {
	t.Helper()
	for _, decision := range result.Decisions {
		if decision.Application.Name == name && decision.Rule != selection.RuleShadowed {
			return decision.Rule + ": " + decision.Reason
		}
	}
	t.Fatalf("no decision on %s", name)
	return ""
}

func selector(t testing.TB, matchLabels map[string]string, expressions ...metav1.LabelSelectorRequirement) labels.Selector {
	t.Helper()
	made, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: matchLabels, MatchExpressions: expressions})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func compile(t testing.TB, source string) *expression.Expression {
	t.Helper()
	compiled, err := expression.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// rule makes a VersionRule of "names|constraint|latest".
func rule(t testing.TB, text string) selection.VersionRule {
	t.Helper()
	parts := strings.Split(text, "|")
	var latest int32
	if parts[len(parts)-1] != "" {
		if _, err := fmt.Sscan(parts[len(parts)-1], &latest); err != nil {
			t.Fatal(err)
		}
	}
	made, err := selection.NewVersionRule(v1alpha1.VersionRule{
		Names: strings.Fields(parts[0]), Constraint: strings.Join(parts[1:len(parts)-1], "|"), Latest: latest,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
