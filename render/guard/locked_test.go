// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// locking is a source with the application cni in two versions, with these default values and this metadata.
func locking(t *testing.T, values, metadata string) guard.Source {
	t.Helper()
	document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: cni}\nspec:\n  method: helm\n  defaultVersion: 1.0.0\n" +
		"  defaultValuesBlock: '" + values + "'\n  versions:\n"
	for _, version := range []string{"1.0.0", "1.1.0"} {
		document += "  - {version: " + version + ", template: {source: {helm: {url: 'oci://charts.example.org', chartName: cni, chartVersion: " + version + "}}}}\n"
	}
	return loaded(t, "catalog", fstest.MapFS{
		"applications/cni/application.yaml": {Data: []byte(document)},
		"applications/cni/metadata.yaml":    {Data: []byte("tier: gold\n" + metadata)},
	})
}

func TestALockedValueIsHeld(t *testing.T) {
	const (
		pods   = "pod: {cidr: 10.0.0.0/16}, mode: a"
		locked = "lockedValues: [pod.cidr]\n"
		no     = ", which its application does not allow once it is installed: keep the value"
		change = `LockedValue cni: instance cni: the locked value "pod.cidr" would change` + no
		set    = `LockedValue cni: instance cni: the locked value "pod.cidr" would be set` + no + " unset"
		unset  = `LockedValue cni: instance cni: the locked value "pod.cidr" would not be set any more` + no
		fresh  = `LockedValue cni: instance cni: the value "pod.cidr" is locked from now on, while values change, and whether it does is not known: compare it with what is installed`
		gone   = `LockedValue cni: instance cni: the value "pod.cidr" is not locked any more, while values change, and whether it does is not known: compare it with what is installed`
	)
	type side struct{ instance, values, metadata string }
	instances := func(instance string) string { return "{cni: {" + instance + "}}" }
	for _, test := range []struct {
		name         string
		before, then side // the fields of then that are empty are those of before
		want         []string
	}{
		{"another value", side{"values: {pod: {cidr: 10.1.0.0/16}}", pods, locked}, side{instance: "values: {pod: {cidr: 10.2.0.0/16}}"}, []string{change}},
		{"another value that is not locked", side{"values: {mode: b}", pods, locked}, side{instance: "values: {mode: c}"}, nil},
		{"the default value, written out", side{"", pods, locked}, side{instance: "values: {pod: {cidr: 10.0.0.0/16}, mode: b}"}, nil},
		{"a value over the default", side{"", pods, locked}, side{instance: "values: {pod: {cidr: 10.1.0.0/16}}"}, []string{change}},
		{"set, where the chart had its default", side{"", "mode: a", locked}, side{instance: "values: {pod: {cidr: 10.1.0.0/16}}"}, []string{set}},
		{"not set any more", side{"values: {pod: {cidr: 10.1.0.0/16}}", "mode: a", locked}, side{instance: "values: {mode: a}"}, []string{unset}},
		{"null, where the chart had its default", side{"", "mode: a", locked}, side{instance: "values: {pod: {cidr: null}}"}, []string{set}},
		{"null in place of the default", side{"", pods, locked}, side{instance: "values: {pod: {cidr: null}}"}, []string{change}},
		{"the object that contains it is deleted", side{"", pods, locked}, side{instance: "values: {pod: null}"}, []string{change}},
		{"the object that contains it becomes a text", side{"", pods, locked}, side{instance: "values: {pod: 10.0.0.0/16}"}, []string{change}},
		{"another member of the object", side{"", pods, locked}, side{instance: "values: {pod: {mtu: 1500}}"}, nil},
		{"a member of a locked object", side{"", pods, "lockedValues: [pod]\n"}, side{instance: "values: {pod: {mtu: 1500}}"},
			[]string{strings.Replace(change, "pod.cidr", "pod", 1)}},
		{"an element of a locked list", side{"values: {pod: {cidr: [a, b]}}", pods, locked}, side{instance: "values: {pod: {cidr: [a]}}"}, []string{change}},
		{"a name with a dot", side{"values: {a.b: 1}", pods, "lockedValues: ['a\\.b', a.b]\n"}, side{instance: "values: {a.b: 2}"},
			[]string{strings.Replace(change, "pod.cidr", `a\\.b`, 1)}},
		{"another default value", side{"", pods, locked}, side{values: "pod: {cidr: 10.9.0.0/16}, mode: a"}, []string{change}},
		{"another default value under that of the instance", side{"values: {pod: {cidr: 10.1.0.0/16}}", pods, locked}, side{values: "pod: {cidr: 10.9.0.0/16}, mode: b"}, nil},
		{"an upgrade alone", side{"version: 1.0.0", pods, locked}, side{instance: "version: 1.1.0"}, nil},
		{"a value of a version", side{"version: 1.1.0, values: {mode: b}", pods, "versions: {1.1.0: {lockedValues: [mode]}}\n"}, side{instance: "version: 1.1.0, values: {mode: c}"},
			[]string{strings.Replace(change, "pod.cidr", "mode", 1)}},
		{"a value of another version", side{"version: 1.0.0, values: {mode: b}", pods, "versions: {1.1.0: {lockedValues: [mode]}}\n"}, side{instance: "version: 1.0.0, values: {mode: c}"}, nil},
		{"a version that locks more", side{"version: 1.0.0", pods, "versions: {1.1.0: {lockedValues: [pod.cidr]}}\n"}, side{instance: "version: 1.1.0"}, nil},
		{"a version that locks more, while values change", side{"version: 1.0.0", pods, "versions: {1.1.0: {lockedValues: [pod.cidr]}}\n"}, side{instance: "version: 1.1.0, values: {mode: b}"}, []string{fresh}},
		{"a catalog that begins to lock", side{"", pods, ""}, side{metadata: locked}, nil},
		{"a catalog that begins to lock, with other values", side{"", pods, ""}, side{metadata: locked, values: "pod: {cidr: 10.9.0.0/16}"}, []string{fresh}},
		{"a catalog that does not lock any more", side{"", pods, locked}, side{metadata: "labels: {}\n"}, nil},
		{"a catalog that does not lock any more, with other values", side{"", pods, locked}, side{instance: "values: {pod: {cidr: 10.1.0.0/16}}", metadata: "labels: {}\n"}, []string{gone}},
		{"a Secret that cannot set it", side{"", pods, locked}, side{instance: "values: {pod: {cidr: 10.1.0.0/16}}, valuesFrom: [{kind: Secret, name: all}]"}, []string{change}},
		{"another instance", side{"", pods, locked}, side{instance: "}, other: {application: cni, namespace: other, values: {pod: {cidr: 10.1.0.0/16}}"}, nil},
		{"an ApplicationInstallation", side{"backend: ApplicationInstallation", pods, locked}, side{instance: "backend: ApplicationInstallation, values: {pod: {cidr: 10.1.0.0/16}}"}, []string{change}},
		{"an ApplicationInstallation with another value beside it", side{"backend: ApplicationInstallation", pods, locked}, side{instance: "backend: ApplicationInstallation, values: {mode: b}"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			then := test.then
			if then.instance == "" {
				then.instance = test.before.instance
			}
			if then.values == "" {
				then.values = test.before.values
			}
			if then.metadata == "" {
				then.metadata = test.before.metadata
			}
			before := installing(t, instances(test.before.instance))
			last := recorded(t, before, locking(t, "{"+test.before.values+"}", test.before.metadata))
			after := installing(t, instances(then.instance))
			if held := decidedOn(t, last, after, locking(t, "{"+then.values+"}", then.metadata)); !slices.Equal(held, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(held, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// What is built counts, and not what the spec says: a patch and the overrides of the platform change values as well.
func TestALockedValueIsThatOfTheObject(t *testing.T) {
	const locked = "lockedValues: [pod.cidr]\n"
	overridden := apiextensionsv1.JSON{Raw: []byte(`{"pod": {"cidr": "x"}}`)}
	for name, change := range map[string]func(*v1alpha1.CatalogSelectionSpec){
		"a patch": func(s *v1alpha1.CatalogSelectionSpec) {
			s.Patches = []kustomize.Patch{{Patch: "- {op: add, path: /spec/values, value: {pod: {cidr: x}}}", Target: &kustomize.Selector{Kind: "HelmRelease"}}}
		},
		"a patch of the default values": func(s *v1alpha1.CatalogSelectionSpec) {
			s.Patches = []kustomize.Patch{{Patch: "- {op: replace, path: /data/values.yaml, value: 'pod: {cidr: x}'}", Target: &kustomize.Selector{Kind: "ConfigMap"}}}
		},
		"overrides": func(s *v1alpha1.CatalogSelectionSpec) {
			s.Values = []v1alpha1.ValuesRule{{Names: []string{"cni"}, Overrides: &overridden}}
		},
		"overrides of instances": func(s *v1alpha1.CatalogSelectionSpec) {
			s.Values = []v1alpha1.ValuesRule{{Names: []string{"cni"}, InstanceOverrides: &overridden}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := locking(t, "pod: {cidr: 10.0.0.0/16, size: 24}", locked)
			last := recorded(t, installing(t, "{cni: {}}"), source)
			if held := decidedOn(t, last, installing(t, "{cni: {}}", change), source); len(held) != 1 || !strings.Contains(held[0], "would change") {
				t.Errorf("held: %q", held)
			}
		})
	}
}

// A record of an older release has no digests, and begins with them.
func TestARecordWithoutLockedValues(t *testing.T) {
	source := locking(t, "pod: {cidr: 10.0.0.0/16}", "lockedValues: [pod.cidr]\n")
	after := installing(t, "{cni: {values: {pod: {cidr: 10.1.0.0/16}}}}")
	last := recorded(t, installing(t, "{cni: {}}"), source)
	written, err := json.Marshal(last)
	if err != nil || strings.Contains(string(written), "10.0.0.0") {
		t.Fatalf("the record has values: %s, %v", written, err)
	}
	for i := range last {
		last[i].Locked = nil
	}
	if held := decidedOn(t, last, after, source); len(held) > 0 {
		t.Errorf("without digests, held: %q", held)
	}
}

// KKP reads spec.values of an installation where it has no valuesBlock.
func TestALockedValueInValuesOfAnApplicationInstallation(t *testing.T) {
	setting := func(cidr string) func(*v1alpha1.CatalogSelectionSpec) {
		return func(s *v1alpha1.CatalogSelectionSpec) {
			s.Patches = []kustomize.Patch{{Patch: "- {op: add, path: /spec/values, value: {pod: {cidr: " + cidr + "}}}", Target: &kustomize.Selector{Kind: "ApplicationInstallation"}}}
		}
	}
	const instances = "{cni: {backend: ApplicationInstallation}}"
	source := locking(t, "", "lockedValues: [pod.cidr]\n")
	for name, test := range map[string]struct {
		before []func(*v1alpha1.CatalogSelectionSpec)
		want   string
	}{
		"set": {nil, "would be set"}, "another value": {[]func(*v1alpha1.CatalogSelectionSpec){setting("a")}, "would change"},
	} {
		last := recorded(t, installing(t, instances, test.before...), source)
		if held := decidedOn(t, last, installing(t, instances, setting("x")), source); len(held) != 1 || !strings.Contains(held[0], test.want) {
			t.Errorf("%s: held: %q", name, held)
		}
	}
}

// Another name of an instance hides no value of the release that it passes on: an approval of one names the other.
func TestALockedValueOfAReleaseThatStays(t *testing.T) {
	const renamed = "IdentityChange cni: instance cni would be removed, and instance network would get its object or its release: what runs would be uninstalled, and installed anew; keep the name cni, or give network another releaseName"
	for name, test := range map[string]struct {
		instances string
		want      []string
	}{
		"the same value": {"{network: {application: cni, releaseName: cni}}", []string{renamed}},
		"another value": {"{network: {application: cni, releaseName: cni, values: {pod: {cidr: 10.1.0.0/16}}}}", []string{renamed,
			`LockedValue cni: instance cni: the locked value "pod.cidr" would change, which its application does not allow once it is installed: keep the value`}},
	} {
		source := locking(t, "pod: {cidr: 10.0.0.0/16}", "lockedValues: [pod.cidr]\n")
		last := recorded(t, installing(t, "{cni: {}}"), source)
		if held := decidedOn(t, last, installing(t, test.instances), source); !slices.Equal(held, test.want) {
			t.Errorf("%s: held %q, want %q", name, held, test.want)
		}
	}
}
