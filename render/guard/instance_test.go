// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// withCharts is a source of "name:version,version" words, or of "name/namespace:version" with a default namespace. The
// default version has a star behind it; a version with "@chart" behind it has another chart than the one with the name
// of the application.
func withCharts(t *testing.T, words string) guard.Source {
	t.Helper()
	files := fstest.MapFS{}
	for word := range strings.FieldsSeq(words) {
		name, versions, _ := strings.Cut(word, ":")
		name, namespace, _ := strings.Cut(name, "/")
		document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  method: helm\n"
		if namespace != "" {
			document += "  defaultNamespace: {name: " + namespace + ", create: true}\n"
		}
		list := "  versions:\n"
		for version := range strings.SplitSeq(versions, ",") {
			version, isDefault := strings.CutSuffix(version, "*")
			version, chart, another := strings.Cut(version, "@")
			if !another {
				chart = name
			}
			if isDefault {
				document += "  defaultVersion: " + version + "\n"
			}
			list += fmt.Sprintf("  - {version: %q, template: {source: {helm: {url: 'oci://charts.example.org', chartName: %s, chartVersion: 1.0.0}}}}\n", version, chart)
		}
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(document + list)}
	}
	return loaded(t, "catalog", files)
}

// installing is a selection with these instances, and without definitions.
func installing(t *testing.T, instances string, changes ...func(*v1alpha1.CatalogSelectionSpec)) *v1alpha1.CatalogSelection {
	t.Helper()
	return edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Definitions = v1alpha1.DefinitionsOmit
		if err := yaml.UnmarshalStrict([]byte(instances), &s.Instances); err != nil {
			t.Fatal(err)
		}
		for _, change := range changes {
			change(s)
		}
	})
}

// decidedOn returns the changes of a list of the verdict, as "<reason> <instance>: <message>".
func decidedOn(t *testing.T, last []safeguard.Definition, after *v1alpha1.CatalogSelection, now guard.Source) []string {
	t.Helper()
	var held []string
	_, reasons := decided(t, last, after, now)
	for _, reason := range reasons {
		held = append(held, reason.Reason+" "+reason.Application+": "+reason.Message)
		if reason.Instance == "" {
			t.Errorf("the reason has no instance: %v", reason)
		}
	}
	return held
}

func TestWhatTheCatalogDoesToAnInstance(t *testing.T) {
	const app = "{a: {application: app, version: ^1}, z: {application: other}}"
	const others = " other:1.0.0*"
	for _, test := range []struct {
		name, instances, then, now string
		safeguards                 v1alpha1.Safeguards
		want                       []string
	}{
		{name: "an upgrade within the major", instances: app, then: "app:1.0.0", now: "app:1.0.0,1.1.0"},
		{name: "an upgrade, with Hold", instances: app, then: "app:1.0.0", now: "app:1.0.0,1.1.0", safeguards: v1alpha1.Safeguards{OnInstanceUpgrade: "Hold"},
			want: []string{"InstanceUpgrade app: instance a would rise from 1.0.0 to 1.1.0"}},
		{name: "a major of the default version", instances: "{a: {application: app}, z: {application: other}}", then: "app:1.0.0*,2.0.0", now: "app:1.0.0,2.0.0*",
			want: []string{"InstanceUpgrade app: instance a would rise from 1.0.0 to 2.0.0"}},
		{name: "a major of a range", instances: "{a: {application: app, version: '>=1'}, z: {application: other}}", then: "app:1.0.0", now: "app:1.0.0,2.0.0",
			want: []string{"InstanceUpgrade app: instance a would rise from 1.0.0 to 2.0.0"}},
		{name: "a major, with Publish", instances: "{a: {application: app, version: '>=1'}, z: {application: other}}", then: "app:1.0.0", now: "app:1.0.0,2.0.0",
			safeguards: v1alpha1.Safeguards{OnInstanceUpgrade: "Publish"}},
		{name: "a default version that is not semantic", instances: "{a: {application: app}, z: {application: other}}", then: "app:stable*,edge", now: "app:stable,edge*",
			want: []string{"InstanceUpgrade app: instance a would rise from stable to edge"}},
		{name: "the version is gone, and a lower one is in the range", instances: app, then: "app:1.0.0,1.1.0", now: "app:1.0.0",
			want: []string{"VersionRemoval app: instance a would fall from 1.1.0 to 1.0.0"}},
		{name: "the version is gone, with Publish", instances: app, then: "app:1.0.0,1.1.0", now: "app:1.0.0", safeguards: v1alpha1.Safeguards{OnVersionRemoval: "Publish"}},
		{name: "every version of the range is gone", instances: app, then: "app:1.0.0", now: "app:2.0.0",
			want: []string{`VersionRemoval app: instance a would be removed, because no version of the application app is in the range "^1"; it has 2.0.0; ` +
				"name another version in spec.instances, or remove the instance from it"}},
		{name: "the exact version is gone", instances: "{a: {application: app, version: 1.0.0}, z: {application: other}}", then: "app:1.0.0,1.0.1", now: "app:1.0.1",
			want: []string{"VersionRemoval app: instance a would be removed, because the application app has no version 1.0.0, only 1.0.1; " +
				"name another version in spec.instances, or remove the instance from it"}},
		{name: "the application is gone", instances: app, then: "app:1.0.0", now: "",
			want: []string{`Removal app: instance a would be removed, because no source has an application "app"; name another version in spec.instances, or remove the instance from it`}},
		{name: "the instance that it depends on is gone", instances: "{a: {application: app, dependsOn: [z]}, b: {application: app}, z: {application: third}}", then: "app:1.0.0* third:1.0.0*", now: "app:1.0.0*",
			want: []string{
				"Removal app: instance a would be removed, because the instance z cannot be installed; name another version in spec.instances, or remove the instance from it",
				`Removal third: instance z would be removed, because no source has an application "third"; name another version in spec.instances, or remove the instance from it`,
			}},
		{name: "another chart with the same version", instances: app, then: "app:1.0.0", now: "app:1.0.0@chart",
			want: []string{`IdentityChange app: instance a: chart would change from "app" to "chart": what runs would be upgraded in place, and Helm would delete the objects that the other chart lacks`}},
		{name: "another default namespace", instances: app, then: "app:1.0.0", now: "app/elsewhere:1.0.0",
			want: []string{`IdentityChange app: instance a: targetNamespace would change from "app" to "elsewhere": what runs would be uninstalled, and installed anew`}},
		{name: "another default namespace, and the instance names its own", instances: "{a: {application: app, version: ^1, namespace: app}, z: {application: other}}",
			then: "app:1.0.0", now: "app/elsewhere:1.0.0"},
		{name: "another definition only gains a version", instances: app, then: "app:1.0.0", now: "app:1.0.0 third:1.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := installing(t, test.instances, func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards = test.safeguards })
			last := recorded(t, cs, withCharts(t, test.then+others))
			if held := decidedOn(t, last, cs, withCharts(t, test.now+others)); !slices.Equal(held, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(held, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestWhatAnEditDoesToAnInstance(t *testing.T) {
	const before = "{a: {application: app, version: ^1}, z: {application: other}}"
	const catalog = "app:1.0.0,1.1.0,2.0.0 other:1.0.0*"
	const renamed = "what runs would be uninstalled, and installed anew"
	const gone = "Removal app: instance a would be removed: spec.instances does not have it"
	const fall = "VersionRemoval app: instance a would fall from 1.1.0 to 1.0.0"
	patched := func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{
			Target: &kustomize.Selector{Kind: "HelmRelease", Name: "a"},
			Patch:  "- {op: replace, path: /spec/storageNamespace, value: elsewhere}",
		}}
	}
	for _, test := range []struct {
		name, after string
		changes     []func(*v1alpha1.CatalogSelectionSpec)
		now         string // the catalog, if it changes with the edit
		want        []string
	}{
		{name: "removes it", after: "{z: {application: other}}", want: []string{gone}},
		{name: "excludes its application, and leaves it there", after: before,
			changes: []func(*v1alpha1.CatalogSelectionSpec){func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"app"} }},
			want: []string{"Removal app: instance a would be removed, because the application app is not selected: exclude names it; " +
				"name another version in spec.instances, or remove the instance from it"}},
		{name: "leaves its backend out of the platform", after: "{a: {application: app, version: ^1, backend: ApplicationInstallation}, z: {application: other}}",
			changes: []func(*v1alpha1.CatalogSelectionSpec){func(s *v1alpha1.CatalogSelectionSpec) {
				s.Platform = &v1alpha1.Platform{Backends: []string{"Helm"}}
			}},
			want: []string{"Removal app: instance a would be removed, because its backend ApplicationInstallation is not in spec.platform.backends; " +
				"add it there, or remove the instance from spec.instances"}},
		{name: "names a major", after: "{a: {application: app, version: 2.0.0}, z: {application: other}}"},
		{name: "names a major while the catalog changes", after: "{a: {application: app, version: 2.0.0}, z: {application: other}}", now: catalog + " third:1.0.0"},
		{name: "names a lower version", after: "{a: {application: app, version: v1.0.0}, z: {application: other}}"},
		{name: "widens the range", after: "{a: {application: app, version: '>=1'}, z: {application: other}}",
			want: []string{"InstanceUpgrade app: instance a would rise from 1.1.0 to 2.0.0"}},
		{name: "narrows the range", after: "{a: {application: app, version: ~1.0}, z: {application: other}}", want: []string{fall}},
		{name: "narrows the range to what the catalog loses", after: "{a: {application: app, version: ~1.1}, z: {application: other}}", now: "app:1.0.0 other:1.0.0*",
			want: []string{`VersionRemoval app: instance a would be removed, because no version of the application app is in the range "~1.1"; it has 1.0.0; ` +
				"name another version in spec.instances, or remove the instance from it"}},
		{name: "names a version that is not there", after: "{a: {application: app, version: 1.2.0}, z: {application: other}}",
			want: []string{"VersionRemoval app: instance a would be removed, because the application app has no version 1.2.0, only 1.0.0, 1.1.0, 2.0.0; " +
				"name another version in spec.instances, or remove the instance from it"}},
		{name: "names another application", after: "{a: {application: other}, z: {application: other}}",
			want: []string{
				`IdentityChange app: instance a: application would change from "app" to "other": ` + renamed,
				`IdentityChange app: instance a: chart would change from "app" to "other": what runs would be upgraded in place, and Helm would delete the objects that the other chart lacks`,
				`IdentityChange app: instance a: targetNamespace would change from "app" to "other": ` + renamed, fall,
			}},
		{name: "names another release", after: "{a: {application: app, version: ^1, releaseName: b}, z: {application: other}}",
			want: []string{`IdentityChange app: instance a: releaseName would change from "a" to "b": ` + renamed}},
		{name: "names another namespace", after: "{a: {application: app, version: ^1, namespace: b}, z: {application: other}}",
			want: []string{`IdentityChange app: instance a: targetNamespace would change from "app" to "b": ` + renamed}},
		{name: "names another storage namespace", after: "{a: {application: app, version: ^1, storageNamespace: b}, z: {application: other}}",
			want: []string{`IdentityChange app: instance a: storageNamespace would change from "flux-system" to "b": ` + renamed}},
		{name: "patches its storage namespace", after: before, changes: []func(*v1alpha1.CatalogSelectionSpec){patched},
			want: []string{`IdentityChange app: instance a: storageNamespace would change from "flux-system" to "elsewhere": ` + renamed}},
		{name: "writes what was the default", after: "{a: {application: app, version: ^1, namespace: app, releaseName: a, storageNamespace: flux-system}, z: {application: other}}"},
		{name: "changes values", after: "{a: {application: app, version: ^1, values: {x: 1}}, z: {application: other}}"},
		{name: "renames it", after: "{b: {application: app, version: ^1}, z: {application: other}}", want: []string{gone}},
		{name: "renames it and keeps its release", after: "{b: {application: app, version: ^1, releaseName: a}, z: {application: other}}",
			want: []string{"IdentityChange app: instance a would be removed, and instance b would get its object or its release: " + renamed +
				"; keep the name a, or give b another releaseName"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.now == "" {
				test.now = catalog
			}
			last := recorded(t, installing(t, before), withCharts(t, catalog))
			if held := decidedOn(t, last, installing(t, test.after, test.changes...), withCharts(t, test.now)); !slices.Equal(held, test.want) {
				t.Errorf("held:\n%s\nwant:\n%s", strings.Join(held, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestASafeguardHoldsUpgradesOfInstances(t *testing.T) {
	for _, test := range []struct {
		safeguard  string
		minor, all bool
	}{{"", false, true}, {"HoldMajor", false, true}, {"Hold", true, true}, {"Publish", false, false}} {
		s := v1alpha1.Safeguards{OnInstanceUpgrade: test.safeguard}
		change := safeguard.Change{Reason: v1alpha1.InstanceUpgradeReason, Instance: "a", From: "1.0.0", To: "1.1.0"}
		if got := guard.Holds(s, change); got != test.minor {
			t.Errorf("%q holds a minor: %v", test.safeguard, got)
		}
		for _, to := range []string{"2.0.0", "stable", ""} {
			change.To = to
			if got := guard.Holds(s, change); got != test.all {
				t.Errorf("%q holds 1.0.0 -> %q: %v", test.safeguard, to, got)
			}
		}
	}
}
