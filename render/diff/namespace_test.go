// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

func TestAnAssumedNamespaceIsNotedWhereItDecides(t *testing.T) {
	for _, test := range []struct {
		name string
		held *diff.Held
		want int
	}{
		{"nothing is held", nil, 0},
		{"a source approves it", &diff.Held{Render: "sha256:01", Approve: []string{"sha256:02"}}, 0},
		{"the render approves it", &diff.Held{Render: "sha256:01", Approve: []string{"sha256:02", "sha256:01#again"}}, 1},
	} {
		s := &diff.Selection{Held: test.held}
		if s.AssumeNamespace(); len(s.Notes) != test.want {
			t.Errorf("%s: noted %q", test.name, s.Notes)
		}
	}
}
