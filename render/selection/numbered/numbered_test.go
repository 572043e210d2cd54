// SPDX-License-Identifier: Apache-2.0

package numbered_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/selection/numbered"
)

func TestPreferred(t *testing.T) {
	for _, test := range []struct {
		name     string
		versions []string
		want     string
	}{
		{"the highest, also a pre-release", []string{"1.0.0", "2.0.0-rc.1", "1.9.0"}, "2.0.0-rc.1"},
		{"the first of equal ones", []string{"1.0.0+a", "1.0.0+b"}, "1.0.0+a"},
		{"the first, which is not semantic", []string{"edge", "1.0.0"}, "edge"},
		{"the highest, beside one that is not semantic", []string{"1.0.0", "edge", "1.1.0"}, "1.1.0"},
		{"none", nil, ""},
	} {
		if got := numbered.Preferred(test.versions).Text; got != test.want {
			t.Errorf("%s: Preferred(%q) = %q, want %q", test.name, test.versions, got, test.want)
		}
	}
}
