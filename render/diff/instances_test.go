// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// charts is a definition whose versions are charts of a registry; 1.0.0=b is chart version b.
func charts(values string, list ...string) string {
	var spec strings.Builder
	fmt.Fprintf(&spec, "  method: helm\n  defaultVersion: %q\n  defaultValuesBlock: %q\n  versions:\n", strings.Split(list[0], "=")[0], values)
	for _, v := range list {
		version, chart, other := strings.Cut(v, "=")
		if !other {
			chart = version
		}
		fmt.Fprintf(&spec, "  - version: %q\n    template: {source: {helm: {url: 'oci://charts.example.com/x', chartName: app, chartVersion: %q}}}\n", version, chart)
	}
	return spec.String()
}

// installing is a selection with instances, which has no definitions.
func installing(edit func(*v1alpha1.CatalogSelectionSpec), instances map[string]v1alpha1.Instance) *v1alpha1.CatalogSelection {
	return selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Definitions, s.Instances = v1alpha1.DefinitionsOmit, instances
		if edit != nil {
			edit(s)
		}
	})
}

// toldOf is what a report states of an instance.
func toldOf(in diff.Instance) string {
	parts := []string{in.Name + " " + string(in.Change)}
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if u := in.Upgrade; u != nil {
		say("%s->%s %s", u.From, u.To, u.Kind)
	}
	if in.Reason != "" {
		say("because %s", in.Reason)
	}
	if in.VersionGone {
		say("version gone")
	}
	if in.Deleted != nil {
		say("deleted %t", *in.Deleted)
	}
	if in.SourceChanged {
		say("another source")
	}
	for _, f := range in.Identity {
		say("IDENTITY %s %s->%s", f.Path, f.From, f.To)
	}
	if f := in.Requested; f != nil {
		say("requested %s->%s", f.From, f.To)
	}
	if v := in.Values; v != nil {
		say("values +%d-%d", v.Added, v.Removed)
	}
	for _, f := range in.Fields {
		say("%s %s->%s", f.Path, f.From, f.To)
	}
	return strings.Join(parts, "; ")
}

func asValues(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }

func TestInstances(t *testing.T) {
	type instances = map[string]v1alpha1.Instance
	type edit = func(*v1alpha1.CatalogSelectionSpec)
	old := files{"app": charts("a: 1\n", "1.0.0", "1.0.5")}
	tests := []struct {
		name          string
		before, after files
		from, to      instances
		edit          edit // of the newer spec
		patched       edit // of both
		want          []string
		held, trips   []string
	}{
		{name: "nothing changes", from: instances{"app": {}}, to: instances{"app": {}}},
		{
			name: "a patch, within the range, with another default value", after: files{"app": charts("a: 1\nb: 1\n", "1.0.0", "1.0.9")},
			from: instances{"app": {Version: "~1.0"}},
			want: []string{"app updated; 1.0.5->1.0.9 patch; values +1-0"},
		},
		{
			name: "a major of the default version", after: files{"app": charts("a: 1\n", "2.0.0", "1.0.0")}, from: instances{"app": {}},
			want: []string{"app updated; 1.0.0->2.0.0 major"}, held: []string{"InstanceUpgrade"}, trips: []string{"held", "major"},
		},
		{
			name: "a major that the edit names", after: files{"app": charts("a: 1\n", "2.0.0", "1.0.0")}, from: instances{"app": {}}, to: instances{"app": {Version: "2.0.0"}},
			want: []string{`app updated; 1.0.0->2.0.0 major; requested ->"2.0.0"`}, trips: []string{"major"},
		},
		{
			name: "a minor", after: files{"app": charts("a: 1\n", "1.1.0", "1.0.0")}, from: instances{"app": {}},
			want: []string{"app updated; 1.0.0->1.1.0 minor"},
		},
		{
			name: "no semantic version", after: files{"app": charts("a: 1\n", "nightly=1.0.7", "1.0.0")}, from: instances{"app": {}},
			want: []string{"app updated; 1.0.0->nightly other"}, held: []string{"InstanceUpgrade"}, trips: []string{"held", "major"},
		},
		{
			name: "a fall, because the higher version is gone", after: files{"app": charts("a: 1\n", "1.0.0")}, from: instances{"app": {Version: "~1.0"}},
			want: []string{"app updated; 1.0.5->1.0.0 downgrade"}, held: []string{"VersionRemoval"}, trips: []string{"held", "version-removal"},
		},
		{
			name: "a version that is gone", after: files{"app": charts("a: 1\n", "1.0.0")},
			from: instances{"app": {Version: "1.0.5"}, "keep": {Application: "app"}},
			want: []string{"app removed; because the application app has no version 1.0.5, only 1.0.0; version gone; deleted false"},
			held: []string{"VersionRemoval"}, trips: []string{"held", "removal", "version-removal"},
		},
		{
			name: "an application that is gone", before: files{"app": old["app"], "other": charts("a: 1\n", "1.0.0")},
			after: files{"app": old["app"]}, from: instances{"app": {}, "x": {Application: "other"}},
			want: []string{`x removed; because no source has an application "other"; deleted false`},
			held: []string{"Removal"}, trips: []string{"held", "removal"},
		},
		{
			name: "an instance that leaves the spec, and another one that enters", from: instances{"app": {}, "x": {Application: "app"}},
			to:   instances{"app": {}, "y": {Application: "app"}},
			want: []string{"x removed; because spec.instances does not have it; deleted false", "y added"}, held: []string{"Removal"}, trips: []string{"held", "removal"},
		},
		{
			name: "Flux deletes what leaves", from: instances{"app": {}, "x": {Application: "app"}}, to: instances{"app": {}},
			patched: func(s *v1alpha1.CatalogSelectionSpec) { s.DeletionPolicy = v1alpha1.DeletionPolicyDelete },
			want:    []string{"x removed; because spec.instances does not have it; deleted true"}, held: []string{"Removal"}, trips: []string{"held", "removal"},
		},
		{
			name: "a backend that the platform leaves out", from: instances{"app": {}, "x": {Application: "app", Backend: "ApplicationInstallation"}},
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Platform = &v1alpha1.Platform{Backends: []string{"Helm"}} },
			want: []string{"x removed; because its backend ApplicationInstallation is not in spec.platform.backends; deleted false"}, held: []string{"Removal"}, trips: []string{"held", "removal"},
		},
		{
			name: "an instance that nothing can install", from: instances{"app": {}}, to: instances{"app": {}, "x": {Application: "nope"}},
			want: []string{`x unresolved; because no source has an application "nope"`},
		},
		{
			name: "the same version of another chart", after: files{"app": charts("a: 1\n", "1.0.0=1.0.1", "1.0.5")}, from: instances{"app": {}},
			want: []string{`app updated; another source; source.spec.ref.tag "1.0.0"->"1.0.1"`}, trips: []string{"source-change"},
		},
		{
			name: "another identity", from: instances{"app": {Namespace: "a"}}, to: instances{"app": {Namespace: "b", ReleaseName: "r"}},
			want: []string{`app updated; IDENTITY releaseName "app"->"r"; IDENTITY targetNamespace "a"->"b"`},
			held: []string{"IdentityChange", "IdentityChange"}, trips: []string{"held", "identity"},
		},
		{
			name: "values of the instance, a deletion, and what no instance can change", from: instances{"app": {Values: asValues(`{"b": 1}`)}},
			to: instances{"app": {Values: asValues(`{"a": null, "c": 1}`)}},
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Values = []v1alpha1.ValuesRule{{Names: []string{"app"}, InstanceOverrides: asValues(`{"d": 1}`)}}
			},
			want: []string{"app updated; values +3-2"},
		},
		{
			name: "other fields", from: instances{"app": {}}, to: instances{"app": {Suspend: true, ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s"}}}},
			want: []string{`app updated; spec.suspend ->true; spec.valuesFrom ->[{"kind":"Secret","name":"s"}]`},
		},
		{
			name: "a range that resolves to the same version", from: instances{"app": {Version: "~1.0"}}, to: instances{"app": {Version: "^1.0"}},
		},
		{
			name: "a patch of the spec", from: instances{"app": {}},
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Patches = []kustomize.Patch{{
					Target: &kustomize.Selector{Kind: "HelmRelease"}, Patch: "- op: add\n  path: /spec/driftDetection\n  value: {mode: enabled}\n",
				}}
			},
			want: []string{`app updated; spec.driftDetection ->{"mode":"enabled"}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.before == nil {
				tt.before = old
			}
			if tt.after == nil {
				tt.after = tt.before
			}
			if tt.to == nil {
				tt.to = tt.from
			}
			both := func(s *v1alpha1.CatalogSelectionSpec) {
				if tt.patched != nil {
					tt.patched(s)
				}
			}
			report := compare(t, side(t, installing(both, tt.from), sourceOf(t, sumA, tt.before)),
				side(t, installing(func(s *v1alpha1.CatalogSelectionSpec) {
					both(s)
					if tt.edit != nil {
						tt.edit(s)
					}
				}, tt.to), sourceOf(t, sumB, tt.after)))
			var got, held []string
			for _, in := range report.Instances {
				got = append(got, toldOf(in))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if report.Held != nil {
				for _, reason := range report.Held.Reasons {
					held = append(held, reason.Reason)
				}
			}
			if !slices.Equal(held, tt.held) {
				t.Errorf("held %q, want %q", held, tt.held)
			}
			var trips []string
			for _, message := range diff.New(report).Trips([]string{"removal", "version-removal", "source-change", "identity", "major", "held"}) {
				trips = append(trips, strings.Split(message, ":")[0])
			}
			slices.Sort(trips)
			if !slices.Equal(trips, tt.trips) {
				t.Errorf("--fail-on finds %q, want %q", trips, tt.trips)
			}
			diff.New(report).Shorten()
			for _, in := range report.Instances {
				if len(in.Fields) > 0 || in.Values != nil && in.Values.Diff != "" {
					t.Errorf("%s still has details", in.Name)
				}
			}
		})
	}
}

// Instances and definitions are compared beside each other, also where both have one name.
func TestInstancesBesideDefinitions(t *testing.T) {
	cs := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Instances = map[string]v1alpha1.Instance{"app": {Version: "~1.0"}}
	})
	report := compare(t, side(t, cs, sourceOf(t, sumA, files{"app": charts("a: 1\n", "1.0.0")})),
		side(t, cs, sourceOf(t, sumB, files{"app": charts("a: 1\n", "1.0.1", "1.0.0")})))
	if len(report.Applications) != 1 || len(report.Instances) != 1 || toldOf(report.Instances[0]) != "app updated; 1.0.0->1.0.1 patch" {
		t.Errorf("got %+v and %+v", report.Applications, report.Instances)
	}
}

func TestTheSecondSourceKeepsTheVersionOfAnInstance(t *testing.T) {
	cs := installing(nil, map[string]v1alpha1.Instance{"x": {Application: "app", Version: "~1.0"}})
	report := compare(t, side(t, cs, sourceOf(t, sumA, files{"app": charts("a: 1\n", "1.0.0", "1.0.5")})),
		side(t, cs, sourceOf(t, sumB, files{"app": charts("a: 1\n", "1.0.0")})))
	if report.Held == nil || len(report.Held.SecondSources) != 1 || !slices.Equal(report.Held.SecondSources[0].Applications, []string{"app"}) {
		t.Errorf("got %+v", report.Held)
	}
}

func TestTheAPIServerRefusesAnEditOfDefinitions(t *testing.T) {
	with := func(definitions string) *v1alpha1.CatalogSelection {
		return selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Definitions = definitions })
	}
	for _, tt := range []struct {
		from, to string
		refused  bool
	}{{"", "Publish", false}, {"Omit", "Omit", false}, {"", "Omit", true}, {"Omit", "", true}} {
		err := comparing.EditError(with(tt.from), with(tt.to))
		var invalid *render.Error
		if errors.As(err, &invalid) != tt.refused {
			t.Errorf("from %q to %q: %v", tt.from, tt.to, err)
		}
	}
}
