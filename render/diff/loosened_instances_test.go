// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff/protection"
)

func TestWhatHoldsInstancesLess(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	upgrade := func(to string) func(*spec) { return func(s *spec) { s.Safeguards.OnInstanceUpgrade = to } }
	overrides := func(names []string, values string) func(*spec) {
		return func(s *spec) { s.Values = []v1alpha1.ValuesRule{{Names: names, InstanceOverrides: asValues(values)}} }
	}
	account := func(name string, destroys bool) func(*spec) {
		return func(s *spec) {
			s.Instances = map[string]v1alpha1.Instance{"app": {ServiceAccountName: name, DestroyResources: destroys}}
		}
	}
	for _, tt := range []struct {
		name     string
		from, to func(*spec)
		want     []string
	}{
		{"the default, written out", upgrade(""), upgrade("HoldMajor"), nil},
		{"more", upgrade("HoldMajor"), upgrade("Hold"), nil},
		{"less than the default", upgrade(""), upgrade("Publish"), []string{"spec.safeguards.onInstanceUpgrade HoldMajor->Publish"}},
		{"less than all", upgrade("Hold"), upgrade(""), []string{"spec.safeguards.onInstanceUpgrade Hold->HoldMajor"}},
		{"other overrides", overrides([]string{"a", "b"}, `{"x": {"y": 1, "z": 1}}`), overrides([]string{"a"}, `{"x": {"y": 2}}`),
			[]string{"spec.values[a].instanceOverrides x.z->none", "spec.values[b].instanceOverrides x.y, x.z->none"}},
		{"more overrides", overrides([]string{"a"}, `{"x": 1}`), overrides([]string{"a"}, `{"x": 2, "y": 1}`), nil},
		{"an account", account("sa", false), account("", true),
			[]string{"spec.instances[app].serviceAccountName sa->none", "spec.instances[app].destroyResources false->true"}},
		{"another account", account("sa", true), account("other", true), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range protection.Loosen(selectionWith(tt.from), selectionWith(tt.to), false) {
				got = append(got, fmt.Sprintf("%s %s->%s", l.Field, l.From, l.To))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
