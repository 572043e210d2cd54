// SPDX-License-Identifier: Apache-2.0

package site

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
)

// The note counts what the first page counts, and a warning begins with its place only if there is one.
func TestNotesOfASite(t *testing.T) {
	var notes strings.Builder
	o := options{directory: filepath.Join(t.TempDir(), "site")}
	err := o.write(t.Context(), &model.Site{
		Fleet:  &model.Fleet{Clusters: 1, Behind: []model.Behind{{Runs: ":v1"}}},
		Unread: []model.Unread{{Reason: "clusters/one: not found"}, {Where: "clusters/two", Reason: "not found"}},
	}, output.Streams{Notes: &notes})
	if err != nil {
		t.Fatal(err)
	}
	warnings, note, _ := strings.Cut(notes.String(), "wrote ")
	if want := "warning: clusters/one: not found\nwarning: clusters/two: not found\n"; warnings != want {
		t.Errorf("got\n%s\nwant\n%s", warnings, want)
	}
	if want := "0 applications, 1 cluster in 0 groups, 3 needs\n"; !strings.HasSuffix(note, want) {
		t.Errorf("%q does not end with %q", note, want)
	}
}
