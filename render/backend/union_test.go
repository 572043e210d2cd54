// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/backend"
)

// pair builds two instances of a definition, called a and b, in one namespace.
func pair(t *testing.T, specA, specB string, change func(a, b *backend.Instance)) map[string][]backend.Object {
	t.Helper()
	a, b := kkpInstance(t, nil, specA), kkpInstance(t, nil, specB)
	a.Name, b.Name = "a", "b"
	if change != nil {
		change(&a, &b)
	}
	return map[string][]backend.Object{"a": build(t, backend.Helm, a), "b": build(t, backend.Helm, b)}
}

func TestInstancesShareSourcesAndNamespaces(t *testing.T) {
	labelled := func(labels string) string {
		return "  defaultNamespace: {name: web, create: true, labels: {" + labels + "}}\n"
	}
	built := pair(t, labelled("x: '1'"), labelled("y: '2', x: '1'"), nil)
	objects, err := backend.Union(built)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for i, o := range objects {
		kinds[o.GetKind()]++
		if i > 0 && key(objects[i-1]) >= key(o) {
			t.Errorf("%s is not sorted", o.GetName())
		}
		if o.Role == backend.Namespace && (len(o.GetLabels()) != 2 || o.GetLabels()["y"] != "2") {
			t.Errorf("labels: %v", o.GetLabels())
		}
	}
	if kinds["HelmRelease"] != 2 || kinds["HelmRepository"] != 1 || kinds["Namespace"] != 1 || len(objects) != 4 {
		t.Errorf("kinds: %v", kinds)
	}
	again, err := backend.Union(pair(t, labelled("x: '1'"), labelled("y: '2', x: '1'"), nil))
	if err != nil || !bytes.Equal(printed(t, objects), printed(t, again)) {
		t.Errorf("again: %v\n%s", err, printed(t, again))
	}
	if got := ofRole(t, built["a"], backend.Namespace).GetLabels(); len(got) != 1 {
		t.Errorf("the objects of an instance have changed: %v", got)
	}
}

// Flux prunes a source with the selection that has applied it last.
func TestSelectionsShareNoSources(t *testing.T) {
	named := func(selection string) string {
		return ofRole(t, pair(t, "", "", func(a, _ *backend.Instance) { a.Selection = selection })["a"], backend.Source).GetName()
	}
	if one, two := named("one"), named("two"); one == two {
		t.Errorf("both have %s", one)
	}
}

func TestInstancesInEachOthersWay(t *testing.T) {
	for _, test := range []struct {
		name, specA, specB string
		change             func(a, b *backend.Instance)
		want               problem
	}{
		{"one object twice", "", "", func(a, _ *backend.Instance) { a.Name, a.ReleaseName = "b", "other" }, problem{"", `HelmRelease "b"`}},
		{"labels of a namespace", "  defaultNamespace: {name: web, create: true, labels: {x: '1'}}\n", "  defaultNamespace: {name: web, create: true, labels: {x: '2'}}\n", nil, problem{"createNamespace", `"x"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backend.Union(pair(t, test.specA, test.specB, test.change))
			checkProblems(t, err, test.want)
			if !strings.HasPrefix(err.Error(), "instance b: ") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// Cozystack puts the prefix of the definition before the name of the application.
func TestApplicationsThatAreOneReleaseInCozystack(t *testing.T) {
	of := func(name, kind, prefix, namespace, with string) []backend.Object {
		spec := strings.ReplaceAll(cozystackSpec, "kind: Web", "kind: "+kind) + "  release: {prefix: " + prefix + ", chartRef: {kind: ExternalArtifact, name: web, namespace: cozy-system}}\n"
		return build(t, with, instanceOf(t, "cozystack.io/v1alpha1", "", func(i *backend.Instance) { i.Name, i.Namespace, i.TargetNamespace = name, namespace, namespace }, spec))
	}
	const app = backend.CozystackApplication
	for _, test := range []struct {
		name  string
		b     []backend.Object
		taken bool
	}{
		{"another name and prefix", of("a", "Disk", "vm-disk-", "tenant", app), true},
		{"the same name of another kind with the same prefix", of("disk-a", "Other", "vm-", "tenant", app), true},
		{"the HelmRelease itself", of("a", "Disk", "vm-disk-", "tenant", backend.Helm), true},
		{"in another namespace", of("a", "Disk", "vm-disk-", "other", app), false},
		{"another release", of("b", "Disk", "vm-disk-", "tenant", app), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backend.Union(map[string][]backend.Object{"1": of("disk-a", "Web", "vm-", "tenant", app), "2": test.b})
			if !test.taken {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkProblems(t, err, problem{"name", `"HelmRelease vm-disk-a" in the namespace "tenant", as the instance "1" is`})
		})
	}
}
