// SPDX-License-Identifier: Apache-2.0

package metadata_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

func TestWhatIsLockedInAVersion(t *testing.T) {
	ours := metadata.Metadata{LockedValues: []string{"b", "a"}, Versions: metadata.Versions{{Name: "1.0.0", LockedValues: []string{"c", "a"}}}}
	theirs := metadata.Metadata{LockedValues: []string{"d"}, Versions: metadata.Versions{{Name: "2.0.0", LockedValues: []string{"e"}}}}
	for name, test := range map[string]struct {
		metadata metadata.Metadata
		version  string
		want     []string
	}{
		"of the version":                    {ours, "1.0.0", []string{"a", "b", "c"}},
		"of another version":                {ours, "1.1.0", []string{"a", "b"}},
		"without versions":                  {ours, "", []string{"a", "b"}},
		"of a version that a catalog adds":  {ours.With([]string{"2.0.0"}, theirs), "2.0.0", []string{"a", "b", "d", "e"}},
		"of a version beside the added one": {ours.With([]string{"2.0.0"}, theirs), "1.0.0", []string{"a", "b", "c", "d"}},
	} {
		if got := test.metadata.LockedIn(test.version); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestThePathOfAValue(t *testing.T) {
	for text, want := range map[string]metadata.ValuePath{"a": {"a"}, "a.b-c.d_1": {"a", "b-c", "d_1"}, `a\.b.c\.`: {"a.b", "c."}} {
		if got, err := metadata.ParseValuePath(text); err != nil || !slices.Equal(got, want) || got.String() != text {
			t.Errorf("%s is %q: %v", text, got, err)
		}
	}
}
