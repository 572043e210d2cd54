// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"slices"
	"testing"
)

func TestTheVersionInTheNameOfAnArchive(t *testing.T) {
	for _, test := range []struct{ name, archive, want string }{
		{"a version", "charts/a/web-1.2.3.tgz", "1.2.3"},
		{"with a v", "charts/a/kube-ovn-v1.13.11.tgz", "v1.13.11"},
		{"of a name with numbers", "charts/a/flux2-2.11.1.tgz", "2.11.1"},
		{"a release candidate", "charts/a/kafka-0.45.1-rc1.tgz", "0.45.1-rc1"},
		{"with metadata", "charts/a/kamaji-0.0.0_latest.tgz", "0.0.0_latest"},
		{"none", "charts/a/web.tgz", ""},
	} {
		if got, _ := versionOf(test.archive); got.Version != test.want {
			t.Errorf("%s: versionOf() = %q, want %q", test.name, got.Version, test.want)
		}
	}
}

func TestWhatIsEnabled(t *testing.T) {
	v := Version{values: map[string]any{
		"a": map[string]any{"enabled": false, "image": "web", "b": map[string]any{"create": false}},
		"c": map[string]any{"enabled": true},
		"d": false, "e": nil,
	}}
	if got := v.Enablable(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("Enablable() = %v", got)
	}
	const want = "a:\n  b:\n    create: true\n  enabled: true\n"
	if got, err := v.Values([]string{"a"}); string(got) != want || err != nil {
		t.Errorf("Values() = %s, %v, want %s", got, err, want)
	}
}

func TestTheDirectoryCRDs(t *testing.T) {
	for path, want := range map[string]bool{
		"web/crds/a.yaml": true, "web/charts/sub/crds/a.yaml": true, "web/charts/sub/charts/crds/crds/a/b.yaml": true,
		"web/templates/crds/a.yaml": false, "web/charts/crds/templates/a.yaml": false,
	} {
		if got := isOfCRDs(path); got != want {
			t.Errorf("isOfCRDs(%q) = %t", path, got)
		}
	}
}

func TestBrief(t *testing.T) {
	for message, want := range map[string]string{
		`Invalid value: {"a": "b: c"}: field is immutable`: "Invalid value: field is immutable",
		"Invalid value: null":                              "Invalid value: null",
		"Forbidden: spec is immutable\n  a: b":             "Forbidden: spec is immutable",
	} {
		if got := brief(message); got != want {
			t.Errorf("brief(%q) = %q, want %q", message, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	versions := []Version{{Version: "1"}, {Version: "2"}, {Version: "3"}}
	var got []string
	for _, p := range Pairs("web", versions) {
		got = append(got, p.String())
	}
	want := []string{
		"web 1 to 2 (next)", "web 2 to 3 (next)", "web 1 to 3 (skip)", "web 2 to 1 (back)", "web 3 to 2 (back)",
		"web 1 to 3 (enabled)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Pairs() = %v, want %v", got, want)
	}
}
