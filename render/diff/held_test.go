// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func TestWhatIsHeld(t *testing.T) {
	before := files{"a": versions("1.0.0", "2.0.0"), "b": versions("1.0.0")}
	less := files{"a": versions("2.0.0")}
	const both, lines = "b Removal [1.0.0] by [b], a VersionRemoval [1.0.0] by [a/1.0.0]", "; approve [b a/1.0.0]"
	approving := func(lines ...string) func(*v1alpha1.CatalogSelectionSpec) {
		return func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = lines }
	}
	for _, test := range []struct {
		name  string
		edit  func(*v1alpha1.CatalogSelectionSpec)
		after files
		want  string
	}{
		{name: "nothing is lost", after: before, want: "nothing"},
		{name: "the catalog takes away", after: less, want: both + lines},
		{name: "the edit takes away", after: before, want: both + lines, edit: func(s *v1alpha1.CatalogSelectionSpec) {
			s.Limit, s.Versions = &v1alpha1.Limit{NameSelector: []string{"a"}}, []v1alpha1.VersionRule{{Latest: 1}}
		}},
		{name: "the edit misspells a name", after: before, want: "b Removal [1.0.0] by [b]; approve [b]", edit: func(s *v1alpha1.CatalogSelectionSpec) {
			s.Limit = &v1alpha1.Limit{NameSelector: []string{"a", "bb"}}
		}},
		{name: "exclude names it", after: before, want: "nothing", edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"b"} }},
		{name: "exclude names what the catalog takes away", after: files{"a": before["a"]}, want: "nothing", edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"b"} }},
		{name: "lines name it", after: less, edit: approving("a/1.0.0", "b"), want: both + "; approved"},
		{name: "lines with numbers name it", after: less, edit: approving("a/*#2", "b#2"), want: both + "; approved"},
		{name: "a line names a part", after: less, edit: approving("b"), want: "a VersionRemoval [1.0.0] by [a/1.0.0]; approve [a/1.0.0]"},
		{name: "lines name something else", after: less, edit: approving("a", "b/1.0.0", "a:live", sumB), want: both + lines},
		{name: "the safeguards let it pass", after: less, want: "nothing", edit: func(s *v1alpha1.CatalogSelectionSpec) {
			s.Safeguards.OnRemoval, s.Safeguards.OnVersionRemoval = v1alpha1.SafeguardPublish, v1alpha1.SafeguardPublish
		}},
		{name: "nothing is selected", after: before, edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{NameSelector: []string{"c"}} },
			want: "a Removal [1.0.0 2.0.0] by [a], b Removal [1.0.0] by [b]; approve [a b]"},
		{name: "everything is excluded", after: before, edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"a", "b"} }, want: "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := side(t, selectionWith(nil), sourceOf(t, sumA, before))
			to := side(t, selectionWith(test.edit), sourceOf(t, sumB, test.after))
			if got := holding(compare(t, from, to).Held); got != test.want {
				t.Errorf("held: %s\nwant: %s", got, test.want)
			}
		})
	}
}

func TestAnEmptyFirstPublicationIsHeld(t *testing.T) {
	empty := side(t, selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"a"} }), sourceOf(t, sumA, files{"a": versions("1.0.0")}))
	if got := holding(compare(t, nil, empty).Held); got != "EmptyResult []" {
		t.Errorf("held: %s", got)
	}
}

func holding(h *diff.Held) string {
	if h == nil {
		return "nothing"
	}
	var reasons []string
	for _, r := range h.Reasons {
		reason := strings.TrimSpace(fmt.Sprintf("%s %s %v", r.Application, r.Reason, r.Versions))
		if len(r.Approve) > 0 {
			reason += fmt.Sprintf(" by %v", r.Approve)
		}
		reasons = append(reasons, reason)
	}
	text := strings.Join(reasons, ", ")
	switch {
	case h.Approved:
		text += "; approved"
	case len(h.Approve) > 0:
		text += fmt.Sprintf("; approve %v", h.Approve)
	}
	if len(h.BaseApprovals) > 0 {
		text += fmt.Sprintf("; not %v", h.BaseApprovals)
	}
	return text
}

func TestTheEditIsTheCauseOfWhatItTakesAway(t *testing.T) {
	source := sourceOf(t, sumA, files{"a": versions("1.0.0", "2.0.0"), "b": versions("1.0.0")})
	edited := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Exclude = []string{"b"}
		s.Versions = []v1alpha1.VersionRule{{Latest: 1}}
	})
	s := compare(t, side(t, selectionWith(nil), source), side(t, edited, source))
	var got []string
	for _, a := range s.Applications {
		got = append(got, told(a))
	}
	want := []string{
		"a updated; 1.0.0 removedspec",
		"b removed; by spec: exclude names it; 1.0.0 removedspec",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSelectionsComeAndGo(t *testing.T) {
	only := side(t, selectionWith(nil), sourceOf(t, sumA, files{"a": versions("1.0.0")}))
	adoption := safeguard.Change{
		Reason: v1alpha1.AdoptionReason, Key: only.Result.Definitions[0].Key(), Versions: []string{"0.9.0"},
	}
	came := compare(t, nil, only, adoption)
	if got := holding(came.Held); came.Change != diff.Added || came.Counts.Added != 1 || got != "a Adoption [0.9.0] by [a/0.9.0:live]; approve [a/0.9.0:live]" {
		t.Errorf("a new selection: %s, %+v, held %s", came.Change, came.Counts, got)
	}
	if gone := compare(t, only, nil); gone.Change != diff.Removed || len(gone.Applications) != 0 || gone.Held != nil {
		t.Errorf("a selection that goes: %+v", gone)
	}
	if same := compare(t, only, only, adoption); same.Change != diff.Unchanged || same.Held != nil || same.Counts.Unchanged != 1 {
		t.Errorf("a selection that stays as it is: %+v", same)
	}
}

func TestOnlyWhatTheChangeAddsApproves(t *testing.T) {
	before, less := files{"a": versions("1.0.0", "2.0.0", "3.0.0")}, files{"a": versions("3.0.0")}
	const held = "a VersionRemoval [1.0.0 2.0.0] by [a/1.0.0 a/2.0.0]; "
	for _, test := range []struct {
		name       string
		base, head []string
		want       string
	}{
		{name: "the change adds the line", head: []string{"a/*"}, want: held + "approved"},
		{name: "the base has the lines", base: []string{"a/1.0.0", "a/2.0.0"}, head: []string{"a/1.0.0", "a/2.0.0"},
			want: "a VersionRemoval [1.0.0 2.0.0] by [a/1.0.0#2 a/2.0.0#2]; approve [a/1.0.0#2 a/2.0.0#2]; not [a/1.0.0 a/2.0.0]"},
		// What the change drops is a line of the base all the same: the controller may have used its body.
		{name: "the base has a line, the head has dropped it", base: []string{"a/1.0.0"},
			want: "a VersionRemoval [1.0.0 2.0.0] by [a/1.0.0#2 a/2.0.0]; approve [a/1.0.0#2 a/2.0.0]"},
		{name: "the base has a line with a number", base: []string{"a/1.0.0", "a/1.0.0#2"}, head: []string{"a/1.0.0", "a/1.0.0#2"},
			want: "a VersionRemoval [2.0.0] by [a/2.0.0], a VersionRemoval [1.0.0] by [a/1.0.0#3]; approve [a/2.0.0 a/1.0.0#3]; not [a/1.0.0 a/1.0.0#2]"},
		{name: "the base has any version", base: []string{"a/*"}, head: []string{"a/*"}, want: held + "approve [a/1.0.0 a/2.0.0]; not [a/*]"},
		{name: "the base names a part, the change the rest", base: []string{"a/1.0.0"}, head: []string{"a/1.0.0", "a/2.0.0"},
			want: "a VersionRemoval [1.0.0] by [a/1.0.0#2]; approve [a/1.0.0#2]; not [a/1.0.0]"},
		{name: "the change adds the next number", base: []string{"a/*"}, head: []string{"a/*", "a/*#2"}, want: held + "approved"},
		{name: "the base names something else", base: []string{"a", "b/*"}, head: []string{"a", "b/*"}, want: held + "approve [a/1.0.0 a/2.0.0]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			approving := func(lines []string) *v1alpha1.CatalogSelection {
				return selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = lines })
			}
			s := compare(t, side(t, approving(test.base), sourceOf(t, sumA, before)), side(t, approving(test.head), sourceOf(t, sumB, less)))
			if got := holding(s.Held); got != test.want {
				t.Errorf("held: %s\nwant: %s", got, test.want)
			}
			found := diff.New(s).Trips([]string{"base-approval"})
			if trips := len(found) > 0; trips != strings.Contains(test.want, "; not [") {
				t.Errorf("--fail-on base-approval finds %q", found)
			}
		})
	}
}
