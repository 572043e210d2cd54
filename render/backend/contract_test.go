// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

// What every backend promises, with each instance of testdata.
func TestEveryBackendKeepsTheContract(t *testing.T) {
	tested := map[string]bool{}
	for _, g := range goldens(t) {
		tested[g.backend.Type] = true
		t.Run(g.name, func(t *testing.T) {
			before := copied(t, g.instance)
			objects, err := g.backend.Build(g.instance)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range []struct {
				name string
				keep func(testing.TB, golden, []backend.Object)
			}{
				{"the same instance makes the same bytes", sameBytes},
				{"objects are sorted by their key, and each is there once", sorted},
				{"one object is the main one", oneMain},
				{"kinds are among the targets", targeted},
				{"names are within the limits of Kubernetes and Helm", named},
				{"objects share nothing with the instance", unshared},
				{"nothing is set that is set outside of backends", bare},
			} {
				t.Run(rule.name, func(t *testing.T) { rule.keep(t, g, objects) })
			}
			if !reflect.DeepEqual(g.instance, before) {
				t.Error("the instance has changed")
			}
		})
	}
	for _, b := range backends.All() {
		if !tested[b.Type] {
			t.Errorf("testdata has no instance for the backend %s", b.Type)
		}
		if got := backends.Named(b.Type); got == nil || got.Type != b.Type {
			t.Errorf("Named(%q) = %v", b.Type, got)
		}
	}
}

func copied(t testing.TB, instance backend.Instance) backend.Instance {
	t.Helper()
	if instance.Definition != nil {
		instance.Definition = backend.MergeValues(instance.Definition, nil)
	}
	instance.Channels = slices.Clone(instance.Channels)
	instance.Values = backend.MergeValues(instance.Values, nil)
	instance.ValuesFrom = slices.Clone(instance.ValuesFrom)
	instance.DependsOn = slices.Clone(instance.DependsOn)
	application := *instance.Application
	instance.Application = &application
	return instance
}

func sameBytes(t testing.TB, g golden, objects []backend.Object) {
	again := build(t, g.backend.Type, copied(t, g.instance))
	if a, b := printed(t, objects), printed(t, again); !bytes.Equal(a, b) {
		t.Errorf("built again:\n%s\nwant:\n%s", b, a)
	}
}

func key(o backend.Object) string {
	kind := o.GroupVersionKind()
	return strings.Join([]string{kind.Group, kind.Kind, o.GetNamespace(), o.GetName()}, "\x00")
}

func sorted(t testing.TB, _ golden, objects []backend.Object) {
	for i := 1; i < len(objects); i++ {
		if key(objects[i-1]) >= key(objects[i]) {
			t.Errorf("%q comes before %q", key(objects[i-1]), key(objects[i]))
		}
	}
}

func oneMain(t testing.TB, _ golden, objects []backend.Object) {
	roles := map[backend.Role]int{}
	for _, o := range objects {
		roles[o.Role]++
	}
	if roles[backend.Main] != 1 || roles[backend.Definition] != 0 || roles[""] != 0 {
		t.Errorf("roles: %v", roles)
	}
}

func targeted(t testing.TB, g golden, objects []backend.Object) {
	targets := g.backend.Targets
	for _, o := range objects {
		kind := o.GroupVersionKind()
		any := schema.GroupVersionKind{Group: kind.Group, Version: kind.Version}
		if kind.Group != "" && !slices.Contains(targets, kind) && !slices.Contains(targets, any) {
			t.Errorf("%s is not in %v", kind, targets)
		}
	}
}

func named(t testing.TB, _ golden, objects []backend.Object) {
	for _, o := range objects {
		for _, problem := range validation.IsDNS1123Subdomain(o.GetName()) {
			t.Errorf("%s %q: %s", o.GetKind(), o.GetName(), problem)
		}
		if release := backend.IdentityOf(o).Release; o.Role == backend.Main && len(release.Name) > 53 {
			t.Errorf("the release %s is too long for Helm", release.Name)
		}
	}
}

// unshared changes everything in the objects.
func unshared(t testing.TB, g golden, objects []backend.Object) {
	want := printed(t, objects)
	for _, o := range build(t, g.backend.Type, g.instance) {
		scramble(o.Object)
	}
	if got := printed(t, build(t, g.backend.Type, g.instance)); !bytes.Equal(got, want) {
		t.Errorf("built after a change of the objects:\n%s", got)
	}
}

func scramble(value any) {
	switch typed := value.(type) {
	case map[string]any:
		for name, member := range typed {
			scramble(member)
			typed[name] = "changed"
		}
	case []any:
		for i, element := range typed {
			scramble(element)
			typed[i] = "changed"
		}
	}
}

func bare(t testing.TB, _ golden, objects []backend.Object) {
	for _, o := range objects {
		for name := range o.GetAnnotations() {
			if strings.Contains(name, "toolkit.fluxcd.io") || strings.Contains(name, "winnow") {
				t.Errorf("%s %s has the annotation %s", o.GetKind(), o.GetName(), name)
			}
		}
		if o.Object["status"] != nil {
			t.Errorf("%s %s has a status", o.GetKind(), o.GetName())
		}
	}
}

func TestDefaultsOfGroups(t *testing.T) {
	for group, want := range map[string]string{
		"apps.kubermatic.k8c.io": backend.Helm, "cozystack.io": backend.CozystackApplication, "apps.cozystack.io": backend.CozystackApplication, "example.com": "",
	} {
		spec := "  versions: []\n"
		if want == backend.CozystackApplication {
			spec = cozystackSpec
		}
		got := backends.Default(instanceOf(t, group+"/v1", "", nil, spec).Application)
		if got != want || got != "" && backends.Named(got) == nil {
			t.Errorf("Default(%s) = %q, want %q", group, got, want)
		}
	}
	if backends.Named("helm") != nil {
		t.Error("names of backends have no case")
	}
}
