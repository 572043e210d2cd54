// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// ofWeb is a patch of the definition web without a target, which names its object itself.
func ofWeb(spec string) specEdit {
	return func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{Patch: "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\n" + spec}}
	}
}

// What is built counts, not what the catalog has: the versions are one list for a strategic merge patch, which replaces it.
func TestWhatAPatchTakesAway(t *testing.T) {
	hold := func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnSourceChange = v1alpha1.SafeguardHold }
	for _, test := range []struct {
		name string
		edit specEdit
		want []string
	}{
		{"credentials of one version", ofWeb("spec: {versions: [{version: 2.0.0, template: {templateCredentials: {helmCredentials: {username: {name: s, key: u}}}}}]}\n"),
			[]string{"web/1.0.0", "web/1.1.0"}},
		{"another version", ofWeb("spec: {versions: [{version: 2.1.0}]}\n"), []string{"web/1.0.0", "web/1.1.0", "web/2.0.0"}},
		{"a version as a number", ofWeb("spec: {versions: [{version: 1.0}, {version: 2.0.0}]}\n"), []string{"web/1.0.0", "web/1.1.0"}},
		{"no list any more", ofWeb("spec: {versions: null}\n"), []string{"web/1.0.0", "web/1.1.0", "web/2.0.0"}},
		{"one version by its place", patchOf("web", "- {op: remove, path: /spec/versions/1}\n"), []string{"web/1.1.0"}},
		{"the name of one version", patchOf("web", "- {op: replace, path: /spec/versions/0/version, value: 1.0.1}\n"), []string{"web/1.0.0"}},
		{"the whole spec", patchOf("web", "- {op: remove, path: /spec}\n"), []string{"web/1.0.0", "web/1.1.0", "web/2.0.0"}},
		{"the chart of one version", all(hold, patchOf("web", "- {op: replace, path: /spec/versions/0/template/source/helm/chartName, value: other}\n")), []string{"web/1.0.0:source"}},
		{"a mirror", all(hold, func(s *v1alpha1.CatalogSelectionSpec) {
			s.Mirrors = []v1alpha1.Mirror{{From: "charts.example.org", To: "mirror.example.org"}}
		}), []string{"db/1.0.0:source", "web/1.0.0:source", "web/1.1.0:source", "web/2.0.0:source"}},
		{"nothing: values", ofWeb("spec: {defaultValuesBlock: 'a: 1'}\n"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := withCharts(t, "web:1.0.0,1.1.0,2.0.0 db:1.0.0")
			verdict, _ := decided(t, recorded(t, edit(noEdit), source), edit(test.edit), source)
			holds(t, verdict, test.want...)
		})
	}
}

// What takes an object away, or gives it another name, is refused: a definition leaves by exclude or limit alone.
func TestAPatchThatTakesAnObjectAwayIsRefused(t *testing.T) {
	replacing := func(path, value string) specEdit {
		return patchOf("web", "- {op: replace, path: "+path+", value: "+value+"}\n")
	}
	for name, change := range map[string]specEdit{
		"another name":        replacing("/metadata/name", "other"),
		"the name of another": replacing("/metadata/name", "db"),
		"a namespace":         patchOf("web", "- {op: add, path: /metadata/namespace, value: other}\n"),
		"another kind":        replacing("/kind", "Other"),
		"another group":       replacing("/apiVersion", "cozystack.io/v1alpha1"),
		"a deletion":          ofWeb("$patch: delete\n"),
		"a list":              patchOf("web", "- {op: add, path: /items, value: []}\n"),
		"omitted versions":    func(s *v1alpha1.CatalogSelectionSpec) { s.OmitFields = []string{"versions"} },
	} {
		t.Run(name, func(t *testing.T) {
			opts, err := render.FromSpec(edit(change))
			if err == nil {
				_, err = render.Render(t.Context(), guard.Selections([]guard.Source{withCharts(t, "web:1.0.0 db:1.0.0")}), opts)
			}
			if refused, ok := errors.AsType[*render.Error](err); !ok || refused.Reason() != v1alpha1.InvalidSpecReason {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// The record has what is built, so a patch that goes gives back what it took, and one that stays takes nothing more.
func TestAPatchThatStaysTakesNothingMore(t *testing.T) {
	patched := patchOf("web", "- {op: remove, path: /spec/versions/0}\n")
	then, now := catalogs("catalog", "web::1.0.0,2.0.0,3.0.0"), catalogs("catalog", "web::0.9.0,2.0.0,3.0.0")
	for _, test := range []struct {
		name         string
		before, edit specEdit
		now          map[string]fstest.MapFS
		want         string
	}{
		{"it stays", patched, noEdit, then, ""},
		{"it goes", patched, func(s *v1alpha1.CatalogSelectionSpec) { s.Patches = nil }, then, ""},
		{"the catalog replaces what it removes", patched, noEdit, now, ""},
		{"the catalog puts another version in its place", patched, noEdit, catalogs("catalog", "web::2.0.0,3.0.0"), "web/2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			verdict, _ := decide(t, change{test.before, test.edit, then, test.now})
			holds(t, verdict, strings.Fields(test.want)...)
		})
	}
}

// spec.instances says which version of which application is installed: a patch of it would be seen by nobody, as the name and the
// version of an instance are those of the spec.
func TestAPatchThatInstallsSomethingElseIsRefused(t *testing.T) {
	const installation = "{a: {application: app, version: ^1, backend: ApplicationInstallation}}"
	for _, test := range []struct{ name, instances, kind, patch, refused string }{
		{"a lower version", installation, "ApplicationInstallation", "- {op: replace, path: /spec/applicationRef/version, value: 1.0.0}", "spec.applicationRef"},
		{"another major", installation, "ApplicationInstallation", "- {op: replace, path: /spec/applicationRef/version, value: 2.0.0}", "spec.applicationRef"},
		{"another application", installation, "ApplicationInstallation", "- {op: replace, path: /spec/applicationRef/name, value: other}", "spec.applicationRef"},
		{"a lower version than the exact one", "{a: {application: app, version: 1.1.0, backend: ApplicationInstallation}}", "ApplicationInstallation",
			"- {op: replace, path: /spec/applicationRef/version, value: 1.0.0}", "spec.applicationRef"},
		{"another tag of the chart", "{a: {application: app, version: ^1}}", "OCIRepository", "- {op: replace, path: /spec/ref, value: {tag: 0.1.0}}", "spec.ref"},
		{"another source of the chart", "{a: {application: app, version: ^1}}", "HelmRelease", "- {op: replace, path: /spec/chartRef, value: {kind: HelmChart, name: b}}", "spec.chartRef"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := withCharts(t, "app:1.0.0,1.1.0,2.0.0 other:1.0.0,1.1.0")
			opts, err := render.FromSpec(installing(t, test.instances, func(s *v1alpha1.CatalogSelectionSpec) {
				s.Patches = []kustomize.Patch{{Target: &kustomize.Selector{Kind: test.kind}, Patch: test.patch}}
			}))
			if err == nil {
				_, err = render.Render(t.Context(), guard.Selections([]guard.Source{source}), opts)
			}
			refused, ok := errors.AsType[*render.Error](err)
			if !ok || refused.Reason() != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), "a patch must not change "+test.refused+" of "+test.kind) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// Where an instance goes is not known once a patch has taken it out of its object.
func TestAPatchThatTakesAnIdentityAway(t *testing.T) {
	const instances = "{a: {application: app, version: ^1, backend: ApplicationInstallation}}"
	source := withCharts(t, "app:1.0.0")
	last := recorded(t, installing(t, instances), source)
	verdict, _ := decided(t, last, installing(t, instances, patchOf("a", "- {op: remove, path: /spec/namespace}")), source)
	holds(t, verdict, "Instance/a:identity")
}

// The chart of an instance comes from where its source says, after patches: also one that no definition has.
func TestAPatchOfTheSourceOfAnInstance(t *testing.T) {
	const instances = "{a: {application: app, version: ^1}}"
	source := withCharts(t, "app:1.0.0")
	hold := func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnSourceChange = v1alpha1.SafeguardHold }
	elsewhere := func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{Target: &kustomize.Selector{Kind: "OCIRepository"}, Patch: "- {op: replace, path: /spec/url, value: 'oci://other.example.org/app'}"}}
	}
	last := recorded(t, installing(t, instances, hold), source)
	verdict, _ := decided(t, last, installing(t, instances, hold, elsewhere), source)
	holds(t, verdict, "Instance/a:source")
	last = recorded(t, installing(t, instances, hold, elsewhere), source)
	verdict, _ = decided(t, last, installing(t, instances, hold, elsewhere), source)
	holds(t, verdict)
}
