// SPDX-License-Identifier: Apache-2.0

package instance_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/selection"
)

func TestChoose(t *testing.T) {
	versions := []string{"1.0.0", "1.10.0", "1.9.0", "v2.0.0", "nightly"}
	tests := []struct {
		version, defaultVersion string
		choice                  instance.Choice
		candidates              []string
	}{
		{"", "1.9.0", instance.ChoiceDefault, []string{"1.9.0"}},
		{"", "", instance.ChoiceLatest, []string{"v2.0.0"}},
		{"1.0.0", "1.9.0", instance.ChoiceExact, []string{"1.0.0"}},
		{"2.0.0", "1.9.0", instance.ChoiceExact, []string{"v2.0.0"}},
		{"nightly", "1.9.0", instance.ChoiceExact, []string{"nightly"}},
		{"3.0.0", "1.9.0", instance.ChoiceExact, nil},
		{"~1", "1.9.0", instance.ChoiceRange, []string{"1.10.0", "1.9.0", "1.0.0"}},
		{">=9", "1.9.0", instance.ChoiceRange, nil},
	}
	for _, tt := range tests {
		t.Run(tt.version+" and "+tt.defaultVersion, func(t *testing.T) {
			specs, errs := instance.New("apps", map[string]v1alpha1.Instance{"app": {Version: tt.version}}, field.NewPath("spec", "instances"))
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			decision := selection.Decision{Application: &catalog.Application{Name: "app", Versions: versions, DefaultVersion: tt.defaultVersion}, Versions: versions}
			choice, candidates := specs[0].Choose(decision)
			if choice != tt.choice || !slices.Equal(candidates, tt.candidates) {
				t.Errorf("got %s %q, want %s %q", choice, candidates, tt.choice, tt.candidates)
			}
			// What is installed is the first candidate.
			decision.Selected = true
			resolved, unresolved := instance.Resolve(specs, selection.Result{Decisions: []selection.Decision{decision}, Selected: 1})
			if len(candidates) == 0 != (len(unresolved) > 0) || len(candidates) > 0 && resolved[0].Resolved != candidates[0] {
				t.Errorf("resolved to %v, %v", resolved, unresolved)
			}
		})
	}
	specs, _ := instance.New("apps", map[string]v1alpha1.Instance{"app": {}}, field.NewPath("spec", "instances"))
	if choice, candidates := specs[0].Choose(selection.Decision{Application: &catalog.Application{}}); choice != instance.ChoiceNone || candidates != nil {
		t.Errorf("got %s %q for a definition without versions", choice, candidates)
	}
}
