// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Whoever adds what the report says to the spec keeps what lives.
func TestWhatIsToBeAddedKeepsWhatLives(t *testing.T) {
	source := sourceOf(t, sumA, files{
		"a": versions("1.0.0", "2.0.0") + "  defaultVersion: 2.0.0\n  defaultValuesBlock: |\n    x: {y: 1, z: 2} # one\n    list: [1]\n",
		"b": versions("1.0.0") + "  defaultVersion: 1.0.0\n  defaultValuesBlock: |\n    x: 1\n",
	})
	live := map[string]guard.Settings{}
	for name, spec := range map[string]map[string]any{
		"a": {"defaultVersion": "1.0.0", "defaultValuesBlock": "x: {y: 5, z: 2}\nlist: [1, 2]\n"},
		"b": {"defaultVersion": "0.9.0", "defaultValuesBlock": "{{ if x }}"},
	} {
		live[name] = guard.SettingsOf(map[string]any{"spec": spec})
	}
	replaced := func(spec *v1alpha1.CatalogSelection) (*comparing.Side, map[safeguard.Key]guard.Replaced) {
		s, all := side(t, spec, source), map[safeguard.Key]guard.Replaced{}
		objects, err := s.Result.Objects(t.Context(), []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Result.Definitions {
			all[d.Key()] = guard.SettingsOf(objects[d.Key()]).Replaces(live[d.Name])
		}
		return s, all
	}
	before, lost := replaced(selectionWith(nil))
	report := diff.NewSelection(before.Selection.Namespace, before.Selection.Name)
	if err := report.Take(before.Result.Definitions, lost); err != nil {
		t.Fatal(err)
	}
	want := []diff.Settings{ // KKP reads the key y as true
		{Application: "a", DefaultVersion: &diff.Field{Path: "spec.defaultVersion", From: `"1.0.0"`, To: `"2.0.0"`},
			DefaultValues: true, ValuesPaths: []string{"list", "x.true"}},
		{Application: "b", DefaultVersion: &diff.Field{Path: "spec.defaultVersion", From: `"0.9.0"`, To: `"1.0.0"`},
			DefaultValues: true, ValuesPaths: []string{}, OmitFields: []string{"defaultValuesBlock", "defaultVersion"}},
	}
	if !reflect.DeepEqual(report.Replaced, want) {
		t.Errorf("replaced is %+v, want %+v", report.Replaced, want)
	}
	_, kept := replaced(selectionWith(func(spec *v1alpha1.CatalogSelectionSpec) {
		if err := yaml.UnmarshalStrict([]byte(report.Keep), spec); err != nil {
			t.Fatal(err)
		}
	}))
	for key, r := range kept {
		if key.Name == "a" && !r.Nothing() {
			t.Errorf("of %s is still replaced: %s", key.Name, r)
		}
	}
	_, omitted := replaced(selectionWith(func(spec *v1alpha1.CatalogSelectionSpec) { spec.OmitFields = want[1].OmitFields }))
	for key, r := range omitted {
		if !r.Nothing() {
			t.Errorf("with omitFields, of %s is still replaced: %s", key.Name, r)
		}
	}
}
