// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func TestWhatIsHeld(t *testing.T) {
	before := files{"a": versions("1.0.0", "2.0.0"), "b": versions("1.0.0")}
	less := files{"a": versions("2.0.0")}
	tiered := files{"a": versions("2.0.0"), "b": versions("1.0.0") + "---\ndeprecated: use a\n"}
	approving := func(sums ...string) func(*v1alpha1.CatalogSelectionSpec) {
		return func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = sums }
	}
	tests := []struct {
		name     string
		edit     func(*v1alpha1.CatalogSelectionSpec)
		checksum string
		after    files
		filter   string
		second   bool // the edit adds a source
		want     string
	}{
		{name: "nothing is lost", after: before, checksum: sumB, want: "nothing"},
		{
			name: "the catalog takes away", after: less, checksum: sumB,
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [" + sumB + "]",
		},
		{
			name: "it is approved", after: less, checksum: sumB, edit: approving(sumB),
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approved",
		},
		{
			name: "another revision is approved", after: less, checksum: sumB, edit: approving(sumA),
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [" + sumB + "]",
		},
		{
			name: "the checksum is unknown", after: less, edit: approving(sumA),
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [the render]",
		},
		{
			name: "the safeguards let it pass", after: less, checksum: sumB, want: "nothing",
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Safeguards.OnRemoval, s.Safeguards.OnVersionRemoval = v1alpha1.SafeguardPublish, v1alpha1.SafeguardPublish
			},
		},
		{
			name: "the edit takes away", after: before, checksum: sumB, want: "nothing",
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"b"} },
		},
		{
			name: "it is approved with a note", after: less, checksum: sumB, edit: approving(sumB + "#2"),
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approved",
		},
		{
			name: "both take away the same", after: less, checksum: sumB, want: "nothing",
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Exclude, s.Safeguards.OnVersionRemoval = []string{"b"}, v1alpha1.SafeguardPublish
			},
		},
		{
			name: "the edit misspells a name besides", after: less, checksum: sumB,
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Limit = &v1alpha1.Limit{NameSelector: []string{"a", "bb"}}
			},
			want: "a VersionRemoval [1.0.0] by [" + sumB + "], UnknownName []; approve [the render]",
		},
		{
			name: "the revision is approved, and the edit misspells a name", after: less, checksum: sumB,
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Limit, s.Safeguards.Approve = &v1alpha1.Limit{NameSelector: []string{"a", "bb"}}, []string{sumB}
			},
			want: "a VersionRemoval [1.0.0] by [" + sumB + "], UnknownName []; approve [the render]",
		},
		{
			name: "the revision is approved, of which the edit takes less", after: tiered, checksum: sumB,
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Limit, s.Safeguards.Approve = &v1alpha1.Limit{Expression: "app.deprecated == ''"}, []string{sumB}
			},
			want: "a VersionRemoval [1.0.0] by [" + sumB + "], b Removal [1.0.0]; approve [the render]",
		},
		{
			name: "the revision is approved, and the edit is of something else", after: less, checksum: sumB,
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.CommonMetadata, s.Safeguards.Approve = &v1alpha1.CommonMetadata{Labels: map[string]string{"a": "b"}}, []string{sumB}
			},
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approved",
		},
		{
			name: "the revision is approved, and the edit adds a source", after: less, checksum: sumB, second: true,
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Sources = append(s.Sources, v1alpha1.SourceReference{Name: "second"})
				s.Safeguards.Approve = []string{sumB, sumA}
			},
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [the render]",
		},
		{
			name: "the revision is approved, and the edit reads it from another directory", after: less, checksum: sumB,
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Sources[0].Include, s.Safeguards.Approve = []string{"applications/**"}, []string{sumB}
			},
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [the render]",
		},
		{
			name: "the revision is approved, of which Flux takes something else", after: less, checksum: sumB, filter: "ignored",
			edit: approving(sumB),
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [the render]",
		},
		{
			name: "Flux takes something else of the same revision", after: less, checksum: sumA, filter: "ignored",
			edit: approving(sumA),
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; approve [the render]",
		},
		{
			name: "nothing is selected", after: before, checksum: sumB, want: "EmptyResult []",
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"a", "b"} },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := side(t, selectionWith(nil), sourceOf(t, sumA, before))
			sources := []guard.Source{sourceOf(t, test.checksum, test.after)}
			sources[0].Filter = test.filter
			if test.second {
				second := sourceOf(t, sumA, files{"c": versions("1.0.0")})
				second.Name.Name = "second"
				sources = append(sources, second)
			}
			to := side(t, selectionWith(test.edit), sources...)
			if got := holding(compare(t, from, to).Held); got != test.want {
				t.Errorf("held: %s\nwant: %s", got, test.want)
			}
		})
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
		text += "; approve " + strings.ReplaceAll(fmt.Sprint(h.Approve), h.Render, "the render")
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
	if got := holding(came.Held); came.Change != diff.Added || came.Counts.Added != 1 || got != "a Adoption [0.9.0]; approve [the render]" {
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
	before, less := files{"a": versions("1.0.0", "2.0.0")}, files{"a": versions("2.0.0")}
	const held = "a VersionRemoval [1.0.0]; "
	tests := []struct {
		name       string
		base, head []string
		unknown    bool
		want       string
	}{
		{name: "the change adds the entry", head: []string{sumB}, want: held + "approved"},
		{
			name: "the base has the entry", base: []string{sumB}, head: []string{sumB},
			want: held + "approve [" + sumB + "#2]; not [" + sumB + "]",
		},
		{
			name: "the base has the entry, the head has dropped it", base: []string{sumB},
			want: held + "approve [" + sumB + "#2]",
		},
		{
			name: "the base has the entry and one with a note", base: []string{sumB, sumB + "#2"}, head: []string{sumB, sumB + "#2"},
			want: held + "approve [" + sumB + "#3]; not [" + sumB + " " + sumB + "#2]",
		},
		{
			name: "the base has only one with a note", base: []string{sumB + "#again"}, head: []string{sumB + "#again"},
			want: held + "approve [" + sumB + "]; not [" + sumB + "#again]",
		},
		{name: "the change adds a note", base: []string{sumB}, head: []string{sumB, sumB + "#2"}, want: held + "approved"},
		{
			name: "the base approves something else", base: []string{sumA}, head: []string{sumA},
			want: held + "approve [" + sumB + "]",
		},
		{
			name: "the checksum of the source is unknown", unknown: true, base: []string{sumB}, head: []string{sumB},
			want: held + "approve [the render]",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			approving := func(entries []string) *v1alpha1.CatalogSelection {
				return selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = entries })
			}
			checksum := sumB
			if test.unknown {
				checksum = ""
			}
			to := side(t, approving(test.head), sourceOf(t, checksum, less))
			to.Reviewed = test.base
			s := compare(t, side(t, approving(test.base), sourceOf(t, sumA, before)), to)
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

func TestTheRenderApprovesToo(t *testing.T) {
	from := side(t, selectionWith(nil), sourceOf(t, sumA, files{"a": versions("1.0.0"), "b": versions("1.0.0")}))
	less := sourceOf(t, sumB, files{"a": versions("1.0.0")})
	render := compare(t, from, side(t, selectionWith(nil), less)).Held.Render
	if !strings.HasPrefix(render, "sha256:") {
		t.Fatalf("the checksum of the render is %q", render)
	}
	for _, entry := range []string{render, render + "#x"} {
		to := side(t, selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = []string{entry} }), less)
		if got := holding(compare(t, from, to).Held); got != "b Removal [1.0.0]; approved" {
			t.Errorf("%s: held: %s", entry, got)
		}
		to.Reviewed = []string{entry}
		if got, want := holding(compare(t, from, to).Held), "b Removal [1.0.0]; approve ["+sumB+"]; not ["+entry+"]"; got != want {
			t.Errorf("%s was there before: held: %s\nwant: %s", entry, got, want)
		}
	}
}
