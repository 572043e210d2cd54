// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"testing"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

func filesOf(t *testing.T, of Applications) *tree.Tree {
	t.Helper()
	var packed bytes.Buffer
	if err := of.Write(&packed); err != nil {
		t.Fatal(err)
	}
	files, err := archive.Read(t.Context(), &packed, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Figures of two commits can be compared: the same catalog each time, of the size that is documented.
func TestApplicationsAreReproducible(t *testing.T) {
	files := filesOf(t, Applications{Count: 200})
	if got, want := files.Digest(), "sha256:e1ac246977a1f36138adb32efc61acd44e460cdc1c22456fbd3d3577d3f94683"; got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
	if each := files.Size() / 200; each < 6_900 || each > 7_300 {
		t.Errorf("an application has %d bytes", each)
	}
}

func TestARevisionChangesOneOfAHundredApplications(t *testing.T) {
	for _, revision := range []int{1, 100, 101} {
		old := filesOf(t, Applications{Count: 200, Revision: revision - 1})
		fresh := filesOf(t, Applications{Count: 200, Revision: revision})
		changed := 0
		for _, path := range old.Paths() {
			before, _ := old.Content(path)
			after, _ := fresh.Content(path)
			if !bytes.Equal(before, after) {
				changed++
			}
		}
		if changed != 2 {
			t.Errorf("revision %d changes %d of 200 applications", revision, changed)
		}
	}
}
