// SPDX-License-Identifier: Apache-2.0

package olm_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/backend/olm"
)

// crdPattern is the pattern of spec.source.catalog.version in the definition of ClusterExtensions of operator-controller
// v1.2.0 and v1.11.0, whose maxLength is 64.
var crdPattern = regexp.MustCompile(`^(\s*(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|[x|X|\*])(\.(0|[1-9]\d*|x|X|\*]))?(\.(0|[1-9]\d*|x|X|\*))?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*)((?:\s+|,\s*|\s*\|\|\s*)(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|x|X|\*])(\.(0|[1-9]\d*|x|X|\*))?(\.(0|[1-9]\d*|x|X|\*]))?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*)*$`)

func TestRangesInTheDialectOfOLM(t *testing.T) {
	for given, want := range map[string]string{
		"1.2.3":                          "1.2.3",
		"v1.2.3-rc.1+build.7":            "v1.2.3-rc.1+build.7",
		">=1.2.3 <2":                     ">=1.2.3 <2",
		">=1.2.3, <2.0.0":                ">=1.2.3, <2.0.0",
		"~1.18":                          "~1.18",
		"^1 || ^3":                       "^1 || ^3",
		"!=1.2.3":                        "!=1.2.3",
		" >= 1.2 ":                       ">= 1.2",
		"*":                              "x",
		"1.*":                            "1.x",
		"1.2.*":                          "1.2.x",
		">=1.0.0 <2.*":                   ">=1.0.0 <2.x",
		"1.2 - 1.4":                      ">=1.2 <=1.4",
		"1.2.3-rc.1 - 1.4.0":             ">=1.2.3-rc.1 <=1.4.0",
		"1.2  -  1.4 || 2.0 - 3.*":       ">=1.2 <=1.4 || >=2.0 <=3.x",
		"1.0 - 2.0 !=1.5.0":              ">=1.0 <=2.0 !=1.5.0",
		strings.Repeat("1", 60) + ".2.3": strings.Repeat("1", 60) + ".2.3",
	} {
		got, err := olm.Range(given)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
		if !crdPattern.MatchString(got) {
			t.Errorf("%q: the API server refuses %q", given, got)
		}
		sameVersions(t, given, got)
	}
}

// sameVersions checks that two ranges have the same versions.
func sameVersions(t *testing.T, given, translated string) {
	t.Helper()
	a, err := semver.NewConstraint(given)
	if err != nil {
		return // a number that is too large
	}
	b, err := semver.NewConstraint(translated)
	if err != nil {
		t.Errorf("%q: %v", translated, err)
		return
	}
	for _, text := range []string{"0.9.0", "1.0.0", "1.2.0", "1.2.3-rc.1", "1.2.3", "1.4.0", "1.4.9", "1.5.0", "1.18.4", "2.0.0", "2.5.0", "3.0.0", "3.9.9", "4.0.0", "5.0.0"} {
		if version := semver.MustParse(text); a.Check(version) != b.Check(version) {
			t.Errorf("%q has %s: %v, but %q: %v", given, text, a.Check(version), translated, b.Check(version))
		}
	}
}

func TestRangesThatOLMRefuses(t *testing.T) {
	long := ">=1.0.0 <2.0.0 !=1.1.0 !=1.2.0 !=1.3.0 !=1.4.0 !=1.5.0 !=1.6.0 !=1.7.0"
	for given, want := range map[string]string{
		long: "has 70 bytes, and OLM takes 64",
		"1.0.0 - 1.99.99 || 2.0.0 - 2.99.99 || 3.0.0 - 3.99.99 || 4.0 - 5": `has 72 bytes as ">=1.0.0`,
		"01.2.3": "is no range that OLM takes",
		">1 | 2": "is no range that OLM takes",
		"a\nb":   "is no range that OLM takes",
	} {
		if got, err := olm.Range(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %s", given, got, err, want)
		}
	}
}

// What Range returns, the API server takes.
func FuzzOLMRange(f *testing.F) {
	for _, seed := range []string{"1.2 - 1.4", "*", ">=1.*,<2 || 3.x", "- - -", "1-2 - 3", "<=1 - 2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		got, err := olm.Range(given)
		if err == nil && (len(got) > 64 || !crdPattern.MatchString(got)) {
			t.Errorf("%q: the API server refuses %q", given, got)
		}
	})
}
