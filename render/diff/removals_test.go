// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
)

// What the older artifact states of prune is what lives in the cluster: an edit of the same change does not
// reach what leaves.
func TestARemovalSaysWhetherFluxDeletes(t *testing.T) {
	prune := func(s *v1alpha1.CatalogSelectionSpec) { s.DeletionPolicy = "Delete" }
	tests := []struct {
		name        string
		before, now func(*v1alpha1.CatalogSelectionSpec)
		deleted     bool
	}{
		{name: "without prune, Flux keeps the definition"},
		{name: "with prune, Flux deletes it", before: prune, now: prune, deleted: true},
		{name: "prune that the edit adds does not reach what leaves", now: prune},
		{name: "prune that the edit takes away neither", before: prune, deleted: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := side(t, selectionWith(test.before), sourceOf(t, sumA, files{"a": versions("1.0.0"), "b": versions("1.0.0")}))
			to := side(t, selectionWith(test.now), sourceOf(t, sumB, files{"a": versions("1.0.0")}))
			s := compare(t, from, to)
			removed := s.Applications[len(s.Applications)-1]
			if removed.Name != "b" || removed.Deleted == nil || *removed.Deleted != test.deleted || s.Counts.Deleted == 1 != test.deleted {
				t.Errorf("deleted: %v, want %v; %+v", removed.Deleted, test.deleted, s.Counts)
			}
			s.Survives("b")
			if *s.Applications[len(s.Applications)-1].Deleted || s.Counts.Deleted != 0 {
				t.Error("it does not survive")
			}
		})
	}
}

// KKP uninstalls what runs a version that its definition loses.
func TestTheInstallationsOfARemovedVersionAreNamed(t *testing.T) {
	instances := map[string]v1alpha1.Instance{
		"lost":    {Application: "app", Version: "1.0.0", Backend: backend.ApplicationInstallation},
		"staying": {Application: "app", Version: "1.0.5", Backend: backend.ApplicationInstallation},
		"release": {Application: "app", Version: "1.0.0"},
	}
	cs := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Instances = instances })
	report := compare(t, side(t, cs, sourceOf(t, sumA, files{"app": charts("a: 1\n", "1.0.0", "1.0.5")})),
		side(t, cs, sourceOf(t, sumB, files{"app": charts("a: 1\n", "1.0.5")})))
	var got []string
	for _, a := range report.Applications {
		for _, v := range a.Versions {
			got = append(got, fmt.Sprint(v.Version, " ", v.Change, " ", v.Installations))
		}
	}
	if want := []string{"1.0.0 removed [lost]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// KKP uninstalls nothing of a definition that stays in the cluster.
func TestTheInstallationsOfARemovedDefinitionAreNamedWhereItIsDeleted(t *testing.T) {
	for policy, want := range map[string]string{"": "[]", "Delete": "[lost]"} {
		cs := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
			s.DeletionPolicy = policy
			s.Instances = map[string]v1alpha1.Instance{"lost": {Application: "b", Version: "1.0.0", Backend: backend.ApplicationInstallation}}
		})
		s := compare(t, side(t, cs, sourceOf(t, sumA, files{"a": versions("1.0.0"), "b": charts("a: 1\n", "1.0.0")})),
			side(t, cs, sourceOf(t, sumB, files{"a": versions("1.0.0")})))
		removed := func() string { return fmt.Sprint(s.Applications[len(s.Applications)-1].Versions[0].Installations) }
		if got := removed(); got != want {
			t.Errorf("deletionPolicy %q: %s, want %s", policy, got, want)
		}
		s.Moved("b")
		if got := removed(); got != "[]" {
			t.Errorf("deletionPolicy %q: %s of a definition that another selection publishes", policy, got)
		}
	}
}
