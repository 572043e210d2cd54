package takeover_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestASelectionHasRoom(t *testing.T) {
	releases := func(n int, spec func(i int) string) string {
		var all strings.Builder
		for i := range n {
			all.WriteString(live(fmt.Sprintf("r%03d", i), "", fromOCI+", "+allDefaults+spec(i), ""))
		}
		return all.String()
	}
	plain := func(int) string { return "" }
	var dependencies []string
	for i := range 33 {
		dependencies = append(dependencies, fmt.Sprintf("{name: r%03d}", i))
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
			items: releases(65, func(i int) string { return fmt.Sprintf(", maxHistory: %d", i+1) }) + live("s", "", fromOCI+", "+allDefaults, ""), taken: 65,
			want: "HelmRelease flux-system/r064: it needs a patch, and the selection would have more than 64: import it into another one",
		},
		"for 32 dependencies": {
			items: releases(33, plain) + live("s", "", fromOCI+", "+allDefaults+", dependsOn: ["+strings.Join(dependencies, ", ")+"]", ""), taken: 33,
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
