// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// reread returns the artifact of a side as it is read from a registry.
func reread(t *testing.T, side *comparing.Side) *render.Result {
	t.Helper()
	var packed bytes.Buffer
	if err := side.Result.WriteArchive(&packed); err != nil {
		t.Fatal(err)
	}
	result, err := render.ReadResult(t.Context(), &packed)
	if err != nil {
		t.Fatal(err)
	}
	if result.Revision != side.Result.Revision {
		t.Errorf("the revision is %s, want %s", result.Revision, side.Result.Revision)
	}
	return result
}

func TestRenderedArtifactsAreCompared(t *testing.T) {
	type instances = map[string]v1alpha1.Instance
	patched := func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{Patch: "- {op: add, path: /spec/replicas, value: 2}\n", Target: &kustomize.Selector{Name: "app"}}}
	}
	installs := func(all instances) func(*v1alpha1.CatalogSelectionSpec) {
		return func(s *v1alpha1.CatalogSelectionSpec) {
			s.Instances, s.Definitions = all, v1alpha1.DefinitionsOmit
		}
	}
	deleting := func(s *v1alpha1.CatalogSelectionSpec) { s.DeletionPolicy = v1alpha1.DeletionPolicyDelete }
	for _, test := range []struct {
		name          string
		before, after files
		from, to      func(*v1alpha1.CatalogSelectionSpec)
		want, held    []string
		// lines that name all that is held.
		lines []string
	}{
		{name: "nothing", before: files{"app": versions("1.0.0")}, after: files{"app": versions("1.0.0")}},
		{
			name: "an application is removed", before: files{"app": versions("1.0.0"), "loki": versions("1.0.0")}, after: files{"app": versions("1.0.0")},
			want: []string{"loki removed; by promotion: the new artifact does not have it; 1.0.0 removedpromotion; deleted false"},
			held: []string{"Removal would be removed, because the new artifact does not have it"}, lines: []string{"loki"},
		},
		{
			name: "of an artifact whose objects Flux deletes", before: files{"app": versions("1.0.0"), "loki": versions("1.0.0")}, after: files{"app": versions("1.0.0")},
			from: deleting, to: deleting,
			want: []string{"loki removed; by promotion: the new artifact does not have it; 1.0.0 removedpromotion; deleted true"},
			held: []string{"Removal would be removed, because the new artifact does not have it"}, lines: []string{"loki"},
		},
		{
			name: "a version is removed", before: files{"app": versions("1.0.0", "2.0.0")}, after: files{"app": versions("2.0.0", "3.0.0")},
			want: []string{"app updated; 3.0.0 added; 1.0.0 removedpromotion; major 2.0.0->3.0.0"},
			held: []string{"VersionRemoval versions would be removed: 1.0.0"}, lines: []string{"app/1.0.0"},
		},
		{
			name: "a version is removed below a patch", before: files{"app": versions("1.0.0", "2.0.0")}, after: files{"app": versions("2.0.0")},
			from: patched, to: patched,
			want: []string{"app updated; 1.0.0 removedpromotion"},
			held: []string{"VersionRemoval versions would be removed: 1.0.0"}, lines: []string{"app/1.0.0"},
		},
		{
			name: "a patch", before: files{"app": versions("1.0.0")}, after: files{"app": versions("1.0.0")}, to: patched,
			want: []string{"app updated; spec.replicas ->2"},
		},
		{
			name: "a value", before: files{"app": versions("1.0.0") + "  defaultValuesBlock: |\n    a: 1\n"}, after: files{"app": versions("1.0.0") + "  defaultValuesBlock: |\n    a: 2\n"},
			want: []string{`app updated; defaultValuesBlock +1-1 "@@ -1,1 +1,1 @@\n-a: 1\n+a: 2\n"`},
		},
		{
			name: "an instance is removed", before: files{"app": charts("a: 1\n", "1.0.0")}, after: files{"app": charts("a: 1\n", "1.0.0")},
			from: installs(instances{"app": {}, "db": {Application: "app"}}), to: installs(instances{"app": {}}),
			want: []string{"db removed; because the new artifact does not have it; deleted false"},
			held: []string{"Removal instance db would be removed: the new artifact does not have it"}, lines: []string{"Instance/db"},
		},
		{
			name: "an instance rises by a major version, and gets a value", before: files{"app": charts("", "1.0.0")}, after: files{"app": charts("", "2.0.0")},
			from: installs(instances{"app": {}}), to: installs(instances{"app": {Values: asValues(`{"b": 1}`)}}),
			want: []string{`app updated; 1.0.0->2.0.0 major; values +1-0; spec.chartRef.name "app-8b2eadf1ad"->"app-20d78a984d"`},
			held: []string{"InstanceUpgrade instance app would rise from 1.0.0 to 2.0.0"}, lines: []string{"Instance/app:upgrade/2.0.0"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := side(t, selectionWith(test.from), sourceOf(t, sumA, test.before))
			to := side(t, selectionWith(test.to), sourceOf(t, sumB, test.after))
			stage := func(of *comparing.Side, lines []string) *comparing.Side {
				return &comparing.Side{Subject: comparing.Stage, Result: reread(t, of), Lines: lines}
			}
			s, err := comparing.Compare(t.Context(), stage(from, nil), stage(to, nil))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range s.Applications {
				line := told(a)
				if a.Deleted != nil {
					line += map[bool]string{true: "; deleted true", false: "; deleted false"}[*a.Deleted]
				}
				got = append(got, line)
			}
			for _, in := range s.Instances {
				got = append(got, toldOf(in))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			var held, lines []string
			if s.Held != nil {
				lines = s.Held.Approve
				for _, reason := range s.Held.Reasons {
					held = append(held, reason.Reason+" "+reason.Message)
				}
			}
			if !slices.Equal(lines, test.lines) {
				t.Errorf("named by %q, want %q", lines, test.lines)
			}
			named, err := comparing.Compare(t.Context(), stage(from, nil), stage(to, lines))
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) > 0 && !named.Held.Approved {
				t.Errorf("with its lines, it has to be named by %q", named.Held.Approve)
			}
			if !slices.Equal(held, test.held) {
				t.Errorf("held %q, want %q", held, test.held)
			}
			if s.Notes == nil {
				t.Error("the notes are null in JSON")
			}
			if unchanged := s.Change == diff.Unchanged; unchanged != (len(test.want) == 0) {
				t.Errorf("the change is %s", s.Change)
			}
		})
	}
}
