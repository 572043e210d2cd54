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
	approving := func(sums ...string) func(*v1alpha1.CatalogSelectionSpec) {
		return func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.Approve = sums }
	}
	tests := []struct {
		name     string
		edit     func(*v1alpha1.CatalogSelectionSpec)
		checksum string
		after    files
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
			want: "a VersionRemoval [1.0.0], b Removal [1.0.0]; unknown [catalog]",
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
			name: "both take away", after: less, checksum: sumB,
			want: "b Removal [1.0.0]; approve [" + sumB + "]",
			edit: func(s *v1alpha1.CatalogSelectionSpec) {
				s.Exclude, s.Safeguards.OnVersionRemoval = []string{"b"}, v1alpha1.SafeguardPublish
			},
		},
		{
			name: "nothing is selected", after: before, checksum: sumB, want: "EmptyResult []",
			edit: func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"a", "b"} },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := side(t, selectionWith(nil), sourceOf(t, sumA, before))
			to := side(t, selectionWith(test.edit), sourceOf(t, test.checksum, test.after))
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
		reasons = append(reasons, strings.TrimSpace(fmt.Sprintf("%s %s %v", r.Application, r.Reason, r.Versions)))
	}
	text := strings.Join(reasons, ", ")
	switch {
	case h.Approved:
		text += "; approved"
	case len(h.UnknownChecksums) > 0:
		text += fmt.Sprintf("; unknown %v", h.UnknownChecksums)
	case len(h.Approve) > 0:
		text += fmt.Sprintf("; approve %v", h.Approve)
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
	if got := holding(came.Held); came.Change != diff.Added || came.Counts.Added != 1 || got != "a Adoption [0.9.0]; approve ["+sumA+"]" {
		t.Errorf("a new selection: %s, %+v, held %s", came.Change, came.Counts, got)
	}
	if gone := compare(t, only, nil); gone.Change != diff.Removed || len(gone.Applications) != 0 || gone.Held != nil {
		t.Errorf("a selection that goes: %+v", gone)
	}
	if same := compare(t, only, only, adoption); same.Change != diff.Unchanged || same.Held != nil || same.Counts.Unchanged != 1 {
		t.Errorf("a selection that stays as it is: %+v", same)
	}
}
