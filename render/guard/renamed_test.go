// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func TestAVersionThatIsWrittenAnotherWay(t *testing.T) {
	const advice = ", which is another version for the platform: keep both entries until nothing uses the former one"
	for _, test := range []struct{ name, then, now, want string }{
		{"loses its leading v", "v1.0.0 2.0.0", "1.0.0 2.0.0",
			"versions would be removed: v1.0.0; the catalog has 1.0.0 instead of v1.0.0" + advice},
		{"gets a leading v", "1.0.0 2.0.0", "v1.0.0 2.0.0",
			"versions would be removed: 1.0.0; the catalog has v1.0.0 instead of 1.0.0" + advice},
		{"gets a third number", "1.0-b 2.0.0", "1.0.0-b 2.0.0",
			"versions would be removed: 1.0-b; the catalog has 1.0.0-b instead of 1.0-b" + advice},
		{"beside one that is gone", "v1.0.0 0.9.0 2.0.0", "1.0.0 2.0.0",
			"versions would be removed: v1.0.0, 0.9.0; the catalog has 1.0.0 instead of v1.0.0" + advice},
		{"two of them", "v1.0.0 v2.0.0", "1.0.0 2.0.0",
			"versions would be removed: v1.0.0, v2.0.0; the catalog has 1.0.0 instead of v1.0.0, 2.0.0 instead of v2.0.0" + advice},
		{"was there before in both ways", "v1.0.0 1.0.0", "1.0.0", "versions would be removed: v1.0.0; the catalog has 1.0.0 instead of v1.0.0" + advice},
		{"is gone", "v1.0.0 2.0.0", "1.0.1 2.0.0", "versions would be removed: v1.0.0"},
		{"is no semantic version", "latest 2.0.0", "newest 2.0.0", "versions would be removed: latest"},
		{"has other build metadata", "1.0.0+a 2.0.0", "1.0.0+b 2.0.0", "versions would be removed: 1.0.0+a; the catalog has 1.0.0+b instead of 1.0.0+a" + advice},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := edit(func(*v1alpha1.CatalogSelectionSpec) {})
			_, reasons := decided(t, recorded(t, cs, withFacts(t, test.then)), cs, withFacts(t, test.now))
			if len(reasons) != 1 || reasons[0].Message != test.want {
				t.Errorf("held is %+v\nwant %q", reasons, test.want)
			}
		})
	}
}
