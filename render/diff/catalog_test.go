// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/selection"
)

// Two catalogs are compared without a selection: nothing is published, so that nothing is deleted, and no line names what is held.
func TestCatalogsAreComparedWithoutASelection(t *testing.T) {
	rendered := func(checksum string, apps files) *comparing.Side {
		side, err := comparing.RenderCatalog(t.Context(), selection.Source{Digest: checksum, Catalog: sourceOf(t, checksum, apps).Catalog})
		if err != nil {
			t.Fatal(err)
		}
		return side
	}
	before := rendered(sumA, files{"app": versions("1.0.0"), "gone": versions("1.0.0"), "kept": versions("1.0.0") + "---\ntier: a\n"})
	after := rendered(sumB, files{"app": versions("1.0.0", "2.0.0"), "kept": versions("1.0.0") + "---\ntier: b\n"})
	got := compare(t, before, after)
	var applications []string
	for _, a := range got.Applications {
		text := told(a)
		for _, f := range a.Facts {
			text += "; " + f.Path + " " + f.From + "->" + f.To
		}
		if applications = append(applications, text); a.Deleted != nil {
			t.Errorf("%s is deleted: %t", a.Name, *a.Deleted)
		}
	}
	want := []string{"app updated; 2.0.0 added; major 1.0.0->2.0.0", "gone removed; by catalog: no source has it; 1.0.0 removedcatalog", `kept unchanged; tier "a"->"b"`}
	if !slices.Equal(applications, want) {
		t.Errorf("got  %q\nwant %q", applications, want)
	}
	if !got.Everything || got.Name != "" || got.From.Revision != "" || got.To.Revision != "" || got.To.Sources[0].Checksum != sumB || len(got.Notes) > 0 {
		t.Errorf("the catalogs are %+v", got)
	}
	if got.Held == nil || got.Held.Reasons[0].Application != "gone" || len(got.Held.Approve) > 0 || got.Held.SecondSources != nil {
		t.Errorf("held: %+v", got.Held)
	}
	if same := compare(t, before, before); same.Change != diff.Unchanged || len(same.Applications) > 0 {
		t.Errorf("a catalog and itself: %+v", same)
	}
}
