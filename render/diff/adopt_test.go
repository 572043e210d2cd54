// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// What lives already is compared with what lives, whatever else people have set in it.
func TestAFirstAdoptionIsComparedWithWhatLives(t *testing.T) {
	chart := func(version string) map[string]any {
		return map[string]any{"version": version, "template": map[string]any{"source": map[string]any{
			"helm": map[string]any{"url": "https://charts.example.com", "chartVersion": ""},
		}}}
	}
	live := func(spec map[string]any, versions ...string) comparing.Live {
		var list []any
		for _, v := range versions {
			list = append(list, chart(v))
		}
		spec["versions"] = list
		return comparing.Live{Object: kustomized.Object{"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationDefinition",
			"metadata": map[string]any{"name": "x", "uid": "1"}, "spec": spec, "status": map[string]any{}}}
	}
	same, other, untouched := live(map[string]any{}, "1.0.0"), live(map[string]any{}, "0.1.0", "1.0.0"), live(map[string]any{}, "0.1.0")
	same.Object["spec"].(map[string]any)["enforced"] = true // of the admins
	other.Object["spec"].(map[string]any)["replicas"] = int64(1)
	untouched.Untouched = true
	to := side(t, selectionWith(nil), sourceOf(t, sumA, files{
		"fresh": versions("1.0.0"), "same": versions("1.0.0"), "other": versions("1.0.0", "2.0.0") + "  replicas: 2\n", "untouched": versions("1.0.0"),
	}))
	s := compare(t, nil, to)
	key := func(name string) safeguard.Key {
		return safeguard.Key{Group: "apps.kubermatic.k8c.io", Kind: "ApplicationDefinition", Name: name}
	}
	err := comparing.Adopt(t.Context(), s, nil, to, map[safeguard.Key]comparing.Live{
		key("same"): same, key("other"): other, key("untouched"): untouched, key("unrelated"): other,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range s.Applications {
		line := told(a)
		if a.Adopted {
			line = "adopted: " + line
		}
		got = append(got, line)
	}
	want := []string{
		"fresh added; 1.0.0 added",
		"adopted: other updated; 2.0.0 added; 0.1.0 removedadoption; major 1.0.0->2.0.0; spec.replicas 1->2",
		"adopted: same unchanged",
		"untouched unchanged",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	counts := diff.Counts{Added: 1, Updated: 1, Unchanged: 2, Adopted: 2, Major: 1, VersionsAdded: 1, VersionsRemoved: 1}
	if s.Counts != counts {
		t.Errorf("counts %+v, want %+v", s.Counts, counts)
	}
}
