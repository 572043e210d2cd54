// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

func cozystackOf(t *testing.T, checksum, spec string) guard.Source {
	t.Helper()
	loaded, err := render.LoadFS(t.Context(), "catalog", fstest.MapFS{"applications/vm/application.yaml": {Data: []byte(
		"apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata: {name: vm}\nspec: " + spec + "\n")}}, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{
		Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"}, Checksum: checksum, Catalog: loaded,
	}
}

func TestWhatAVersionOfCozystackChangesInPlaceIsTold(t *testing.T) {
	from := side(t, selectionWith(nil), cozystackOf(t, sumA,
		"{application: {kind: VM, plural: vms}, release: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm}}}"))
	to := side(t, selectionWith(nil), cozystackOf(t, sumB,
		"{application: {kind: VM, plural: machines}, release: {prefix: machine-, chartRef: {kind: ExternalArtifact, name: other}}}"))
	s := compare(t, from, to)
	want := diff.Application{
		Name: "vm", APIVersion: "cozystack.io/v1alpha1", Kind: "ApplicationDefinition", Source: "catalog", Change: diff.Updated,
		Versions: []diff.Version{}, Unmirrored: []diff.Host{}, SourceChanged: true,
		Identity: []diff.Field{
			{Path: "spec.application.plural", From: `"vms"`, To: `"machines"`}, {Path: "spec.release.prefix", From: `"vm-"`, To: `"machine-"`},
		},
		Fields: []diff.Field{{Path: "spec.release.chartRef.name", From: `"vm"`, To: `"other"`}},
	}
	if len(s.Applications) != 1 || !reflect.DeepEqual(s.Applications[0], want) {
		t.Errorf("the applications are %+v, want %+v", s.Applications, want)
	}
	if got := holding(s.Held); got != "vm IdentityChange [] by [vm:identity], vm IdentityChange [] by [vm:identity]; approve [vm:identity]" {
		t.Errorf("held: %s", got)
	}
	if got := diff.New(s).Trips([]string{"identity", "source-change"}); !slices.Equal(got, []string{"source-change: vm", "identity: vm"}) {
		t.Errorf("what is found: %q", got)
	}
}

func TestASchemaThatRefusesMoreIsReported(t *testing.T) {
	schema := func(text string) string {
		return "{application: {kind: VM, plural: vms, openAPISchema: '" + text + "'}, release: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm}}}"
	}
	older := cozystackOf(t, sumA, schema(`{"type":"object","properties":{"size":{"type":"integer"},"disk":{}}}`))
	for name, test := range map[string]struct {
		newer  string
		want   []diff.SchemaChange
		fields int
	}{
		"a key is gone": {`{"type":"object","properties":{"size":{"type":"integer"}}}`, []diff.SchemaChange{{Path: "disk", Rule: diff.SchemaKeyGone}}, 0},
		"a key is new":  {`{"type":"object","properties":{"size":{"type":"integer"},"disk":{},"cpu":{}}}`, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := compare(t, side(t, selectionWith(nil), older), side(t, selectionWith(nil), cozystackOf(t, sumB, schema(test.newer))))
			if a := s.Applications[0]; !reflect.DeepEqual(a.Schema, test.want) || len(a.Fields) != test.fields {
				t.Errorf("the schema changes by %+v, the fields by %+v", a.Schema, a.Fields)
			}
			if found := diff.New(s).Trips([]string{diff.SchemaCondition}); len(found) != len(test.want) {
				t.Errorf("what is found: %q", found)
			}
		})
	}
}

// The report has what the safeguards compare, wherever it stands in the definition.
func TestAnotherBackendIsAnotherIdentity(t *testing.T) {
	const release = "{application: {kind: VM, plural: vms}, release: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm}}}"
	for _, test := range []struct {
		name, after string
		want        []diff.Field
	}{
		{"release becomes the backend Helm", "{application: {kind: VM, plural: vms}, backend: {type: Helm, helm: {prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm}}}}", nil},
		{"release becomes Terraform", "{application: {kind: VM, plural: vms}, backend: {type: Terraform, terraform: {prefix: m-, sourceRef: {kind: Bucket, name: vm}}}}",
			[]diff.Field{{Path: "spec.backend.terraform.prefix", From: `"vm-"`, To: `"m-"`}, {Path: "spec.backend.type", From: `"Helm"`, To: `"Terraform"`}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := compare(t, side(t, selectionWith(nil), cozystackOf(t, sumA, release)), side(t, selectionWith(nil), cozystackOf(t, sumB, test.after)))
			if a := s.Applications[0]; !reflect.DeepEqual(a.Identity, test.want) || a.SourceChanged != (test.want != nil) || len(a.Fields) != 2 || (s.Held != nil) != (test.want != nil) {
				t.Errorf("the application is %+v, held %s", a, holding(s.Held))
			}
		})
	}
}

// Only where a version comes from counts as its source: credentials are another entry.
func TestAnotherEntryIsNotAnotherSource(t *testing.T) {
	const head = "  versions:\n  - version: 1.0.0\n    template: {source: {helm: {url: 'https://a.example', chartName: a, chartVersion: "
	for _, test := range []struct {
		name, after  string
		sourceChange bool
	}{
		{"another version of the chart", "'2'}}}\n", true},
		{"other credentials", "'1', credentials: {username: {name: a, key: b}}}}}\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			hold := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnSourceChange = v1alpha1.SafeguardHold })
			s := compare(t, side(t, selectionWith(nil), sourceOf(t, sumA, files{"a": head + "'1'}}}\n"})),
				side(t, hold, sourceOf(t, sumB, files{"a": head + test.after})))
			v := s.Applications[0].Versions[0]
			if v.Change != diff.Replaced || v.SourceChanged != test.sourceChange || (s.Held != nil) != test.sourceChange ||
				s.Counts.VersionsReplaced != 1 || s.Counts.SourceChanges == 1 != test.sourceChange {
				t.Errorf("the version is %+v, held %s, the counts %+v", v, holding(s.Held), s.Counts)
			}
		})
	}
}
