// SPDX-License-Identifier: Apache-2.0

package takeover_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestCostOfALargeSelection(t *testing.T) {
	releases := func(n int, spec func(i int) string) string {
		var all strings.Builder
		for i := range n {
			all.WriteString(live(fmt.Sprintf("r%03d", i), "", fromOCI+", "+allDefaults+spec(i), ""))
		}
		return all.String()
	}
	plain := func(int) string { return "" }
	numbered := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ", ")
	}
	for name, test := range map[string]struct {
		spec, items string
		taken       int
		want        string
	}{
		"for 256 instances": {
			spec: "instances: {own: {application: web, version: 1.0.0}}", items: releases(256, plain), taken: 255,
			want: "HelmRelease flux-system/r255: the selection would have more than 256 instances: import it into another one",
		},
		"for 64 patches": {
			spec: "instances: {own: {application: web, version: 1.0.0}}\npatches: [" +
				numbered(62, "{target: {kind: HelmRelease}, patch: '[{\"op\": \"add\", \"path\": \"/spec/maxHistory\", \"value\": %d}]'}") + "]",
			items: releases(3, func(i int) string { return fmt.Sprintf(", maxHistory: %d", i+1) }) + live("s", "", fromOCI+", "+allDefaults, ""), taken: 3,
			want: "HelmRelease flux-system/r002: it needs a patch, and the selection would have more than 64: import it into another one",
		},
		"for 32 dependencies": {
			items: releases(33, plain) + live("s", "", fromOCI+", "+allDefaults+", dependsOn: ["+numbered(33, "{name: r%03d}")+"]", ""), taken: 33,
			want: "HelmRelease flux-system/s: it depends on more than 32 instances",
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := take(t, test.spec, test.items)
			if got := textOf(result.Refused); got != test.want || len(result.Instances) != test.taken {
				t.Errorf("%d taken, refused\n%s\nwant %d and\n%s", len(result.Instances), got, test.taken, test.want)
			}
		})
	}
}
