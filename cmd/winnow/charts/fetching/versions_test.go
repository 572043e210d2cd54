// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// What helm 3.22.0 and 4.2.4 take, was read from the real ones.
func TestTheVersionIsTheOneThatHelmTakes(t *testing.T) {
	list := []string{"1.2.0", "1.3.0-rc.1", "1.2.1", "2.0.0+b1", "1.4", "v3.0.0", "no version", "4.0.0-a"}
	for _, test := range []struct{ wanted, want string }{
		{"1.2.0", "1.2.0"}, {"v1.2.0", "1.2.0"}, {"3.0.0", "v3.0.0"}, {"v3.0.0", "v3.0.0"},
		{"1.2", "1.2.1"}, {"~1.2", "1.2.1"}, {"1.x", "1.4"}, {"1", "1.4"}, {">=1.0 <1.3", "1.2.1"}, {"*", "v3.0.0"}, {">=4.0.0-0", "4.0.0-a"},
		{"2.0.0", "2.0.0+b1"}, {"2.0.0+b2", "2.0.0+b1"}, {"1.4", "1.4"}, {"1.4.0", "1.4"}, {"4.0.0", ""}, {"1.3.0-rc.1", "1.3.0-rc.1"}, {"1.3.0", ""}, {"5", ""},
		{"no version", "refused"}, {"2.0.0_b1", "refused"}, {"", "refused"}, {strings.Repeat("1.0.0||", 100) + "1.0.0", "refused"},
	} {
		got := ""
		switch place, err := newVersions(list).find(test.wanted); {
		case err != nil:
			got = "refused"
		case place >= 0:
			got = list[place]
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", excerpt.Of(test.wanted), got, test.want)
		}
	}
}
