// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// files are applications by name: the spec, and after "---" the metadata.yaml.
type files map[string]string

func sourceOf(t *testing.T, checksum string, apps files) guard.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, content := range apps {
		spec, metadata, _ := strings.Cut(content, "---\n")
		fsys["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(
			"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name + "\nspec:\n" + spec)}
		if metadata != "" {
			fsys["applications/"+name+"/metadata.yaml"] = &fstest.MapFile{Data: []byte(metadata)}
		}
	}
	loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{
		Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"},
		Checksum: checksum, Catalog: loaded,
	}
}

func selectionWith(edit func(*v1alpha1.CatalogSelectionSpec)) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	if edit != nil {
		edit(&cs.Spec)
	}
	return cs
}

func side(t *testing.T, cs *v1alpha1.CatalogSelection, sources ...guard.Source) *comparing.Side {
	t.Helper()
	s, err := comparing.Render(t.Context(), cs, sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compare(t *testing.T, from, to *comparing.Side, adopted ...safeguard.Change) *diff.Selection {
	t.Helper()
	s, err := comparing.Compare(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	if len(adopted) > 0 {
		comparing.Hold(t.Context(), s, from, to, adopted)
	}
	return s
}

const sumA, sumB = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

// versions is a spec with these versions; v=chart gives one another chart.
func versions(list ...string) string {
	var spec strings.Builder
	spec.WriteString("  versions:\n")
	for _, v := range list {
		version, chart, _ := strings.Cut(v, "=")
		fmt.Fprintf(&spec, "  - version: %q\n    template: {source: {helm: {url: 'https://charts.example.com', chartVersion: %q}}}\n", version, chart)
	}
	return spec.String()
}

// told is what a report states of an application, without what every one has.
func told(a diff.Application) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	say("%s %s", a.Name, a.Change)
	if a.Cause != "" {
		say("by %s: %s", a.Cause, a.Reason)
	}
	for _, v := range a.Versions {
		say("%s %s%s", v.Version, v.Change, v.Cause)
		for _, f := range v.Fields {
			say("%s %s->%s", f.Path, f.From, f.To)
		}
	}
	if a.Highest != nil {
		say("%s %s->%s", a.Highest.Kind, a.Highest.From, a.Highest.To)
	}
	if f := a.DefaultNamespace; f != nil {
		say("namespace %s->%s", f.From, f.To)
	}
	for _, f := range a.Fields {
		say("%s %s->%s", f.Path, f.From, f.To)
	}
	if v := a.Values; v != nil {
		say("%s +%d-%d %q", v.Field, v.Added, v.Removed, v.Diff)
	}
	if a.Deprecated != "" {
		say("deprecated: %s", a.Deprecated)
	}
	for _, v := range a.DeprecatedVersions {
		say("%s deprecated: %s", v.Version, v.Message)
	}
	for _, h := range a.Unmirrored {
		say("unmirrored %s %s %s", h.Kind, h.Host, h.Path)
	}
	if a.Unsearched != "" {
		say("unsearched")
	}
	return strings.Join(parts, "; ")
}

func TestWhatHappensToAnApplication(t *testing.T) {
	tests := []struct{ name, before, after, want string }{
		{name: "nothing", before: versions("1.0.0"), after: versions("1.0.0")},
		{name: "a comment", before: versions("1.0.0"), after: "  # why\n" + versions("1.0.0")},
		{name: "it comes", after: versions("1.0.0", "2.0.0"), want: "app added; 1.0.0 added; 2.0.0 added"},
		{
			name: "it comes deprecated", after: versions("1.0.0") + "---\ndeprecated: use b\n",
			want: "app added; 1.0.0 added; deprecated: use b",
		},
		{
			name: "it goes", before: versions("1.0.0"),
			want: "app removed; by catalog: no source has it; 1.0.0 removedcatalog",
		},
		{
			name: "versions come and go", before: versions("1.0.0", "1.1.0"), after: versions("1.1.0", "1.2.0"),
			want: "app updated; 1.2.0 added; 1.0.0 removedcatalog; minor 1.1.0->1.2.0",
		},
		{
			name: "a version has another source", before: versions("1.0.0=1", "1.1.0=1"), after: versions("1.0.0=2", "1.1.0=1"),
			want: `app updated; 1.0.0 replaced; template.source.helm.chartVersion "1"->"2"`,
		},
		{
			name: "only the order of the versions differs", before: versions("1.0.0", "2.0.0"), after: versions("2.0.0", "1.0.0"),
			want: `app updated; spec.versions ["1.0.0","2.0.0"]->["2.0.0","1.0.0"]`,
		},
		{
			name: "a patch", before: versions("v1.0.0"), after: versions("v1.0.0", "v1.0.1"),
			want: "app updated; v1.0.1 added; patch v1.0.0->v1.0.1",
		},
		{
			name: "a major beside what is no version", before: versions("main", "1.0.0"), after: versions("main", "1.0.0", "2.0.0-rc.1"),
			want: "app updated; 2.0.0-rc.1 added; major 1.0.0->2.0.0-rc.1",
		},
		{
			name: "a release after its candidate", before: versions("2.0.0-rc.1"), after: versions("2.0.0"),
			want: "app updated; 2.0.0 added; 2.0.0-rc.1 removedcatalog; other 2.0.0-rc.1->2.0.0",
		},
		{
			name: "the highest version goes", before: versions("1.0.0", "2.0.0"), after: versions("1.0.0"),
			want: "app updated; 2.0.0 removedcatalog; lower 2.0.0->1.0.0",
		},
		{
			name:   "default values in a block",
			before: "  defaultValuesBlock: |\n    a: 1\n    b: 1\n", after: "  defaultValuesBlock: |\n    a: 1\n    b: 2\n",
			want: `app updated; defaultValuesBlock +1-1 "@@ -1,2 +1,2 @@\n a: 1\n-b: 1\n+b: 2\n"`,
		},
		{
			name: "default values in a mapping", before: "  defaultValues: {b: 1, a: 1}\n", after: "  defaultValues: {a: 1, b: 1, c: 1}\n",
			want: `app updated; defaultValues +1-0 "@@ -1,2 +1,3 @@\n a: 1\n b: 1\n+c: 1\n"`,
		},
		{
			name: "default values go", before: "  method: helm\n  defaultValues: {a: 1}\n", after: "  method: helm\n",
			want: `app updated; defaultValues +0-1 "@@ -1,1 +0,0 @@\n-a: 1\n"`,
		},
		{
			name: "default values beside a blank block", before: "  defaultValuesBlock: ' '\n  defaultValues: {a: 1}\n", after: "  defaultValuesBlock: ' '\n  defaultValues: {a: 2}\n",
			want: `app updated; defaultValues +1-1 "@@ -1,1 +1,1 @@\n-a: 1\n+a: 2\n"`,
		},
		{
			name: "a mapping beside a block, both of which KKP refuses", before: "  defaultValuesBlock: 'a: 1'\n  defaultValues: {b: 1}\n", after: "  defaultValuesBlock: 'a: 1'\n  defaultValues: {b: 2}\n",
			want: `app updated; spec.defaultValues.b 1->2`,
		},
		{
			name: "the same default values in the other field", before: "  defaultValues: {a: 1}\n", after: "  defaultValuesBlock: 'a: 1'\n",
			want: `app updated; defaultValuesBlock +0-0 ""`,
		},
		{
			name: "the default namespace", before: "  defaultNamespace: {name: a, create: true}\n", after: "  defaultNamespace: {name: b, create: true}\n",
			want: `app updated; namespace "a"->"b"`,
		},
		{
			name: "a default namespace where there was none", before: "  method: helm\n", after: "  method: helm\n  defaultNamespace: {name: b}\n",
			want: `app updated; namespace ->"b"; spec.defaultNamespace ->{"name":"b"}`,
		},
		{
			name:   "other fields",
			before: "  displayName: A\n  gone: true\n  defaultDeployOptions: {helm: {wait: true, 'odd key': 1}}\n",
			after:  "  displayName: <A>\n  fresh: [1, {a: b}]\n  defaultDeployOptions: {helm: {wait: true, 'odd key': 2}}\n",
			want: `app updated; spec.defaultDeployOptions.helm["odd key"] 1->2; spec.displayName "A"->"<A>"; ` +
				`spec.fresh ->[1,{"a":"b"}]; spec.gone true->`,
		},
		{
			name: "what the selection leaves out", before: "  method: helm\n  enforced: true\n", after: "  method: helm\n  enforced: false\n",
		},
		{
			name: "it is deprecated", before: versions("1.0.0") + "---\ntier: gold\n", after: versions("1.0.0") + "---\ndeprecated: use new\n",
			want: "app unchanged; deprecated: use new",
		},
		{
			name: "it stays deprecated", before: versions("1.0.0") + "---\ndeprecated: a\n", after: versions("1.0.0") + "---\ndeprecated: b\n",
		},
		{
			name:   "versions are deprecated, one of them newly",
			before: versions("2.0.0", "1.0.0") + "---\nversions: {1.0.0: {deprecated: a}}\n",
			after:  versions("2.0.0", "1.0.0") + "---\nversions: {1.0.0: {deprecated: b}, 2.0.0: {deprecated: use 3.0.0}, 9.9.9: {deprecated: c}}\n",
			want:   "app unchanged; 2.0.0 deprecated: use 3.0.0",
		},
		{
			name: "a version comes deprecated", before: versions("1.0.0"), after: versions("1.0.0", "1.1.0") + "---\nversions: {1.1.0: {deprecated: use 1.0.0}}\n",
			want: "app updated; 1.1.0 added; minor 1.0.0->1.1.0; 1.1.0 deprecated: use 1.0.0",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before, after := files{"other": versions("1.0.0")}, files{"other": versions("1.0.0")}
			if test.before != "" {
				before["app"] = test.before
			}
			if test.after != "" {
				after["app"] = test.after
			}
			cs := selectionWith(nil)
			s := compare(t, side(t, cs, sourceOf(t, sumA, before)), side(t, cs, sourceOf(t, sumB, after)))
			var got []string
			for _, a := range s.Applications {
				got = append(got, told(a))
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}

func TestHostsThatNoMirrorCovers(t *testing.T) {
	cs := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Mirrors = []v1alpha1.Mirror{{From: "charts.example.com", To: "registry.internal/charts"}}
	})
	before := files{"app": versions("1.0.0") + "  defaultValuesBlock: |\n    image: quay.io/a/b:1\n"}
	after := files{"app": versions("1.0.0") + "  defaultValuesBlock: |\n    image: quay.io/a/b:2\n    other: ghcr.io/a/b:2\n"}
	s := compare(t, side(t, cs, sourceOf(t, sumA, before)), side(t, cs, sourceOf(t, sumB, after)))
	if len(s.Applications) != 1 {
		t.Fatalf("applications: %+v", s.Applications)
	}
	want := []diff.Host{{Host: "ghcr.io", Kind: "image", Path: "spec.defaultValuesBlock.other"}}
	if got := s.Applications[0].Unmirrored; !reflect.DeepEqual(got, want) {
		t.Errorf("unmirrored %+v, want %+v", got, want)
	}
}

// What patches and metadata of the selection do is found in the built objects.
func TestAnEditOfTheSelectionReachesEveryObject(t *testing.T) {
	source := sourceOf(t, sumA, files{"a": versions("1.0.0"), "b": versions("1.0.0")})
	from := side(t, selectionWith(nil), source)
	labelled := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
		s.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"example.com/team": "x"}}
	})
	s := compare(t, from, side(t, labelled, source))
	const want = `a updated; metadata.labels["example.com/team"] ->"x"`
	if len(s.Applications) != 2 || told(s.Applications[0]) != want || !s.SpecChanged {
		t.Errorf("got %v, spec changed %v", s.Applications, s.SpecChanged)
	}
}
