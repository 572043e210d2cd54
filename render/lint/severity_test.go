// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/lint"
)

// found returns what was found as "severity rule:line".
func found(result lint.Result) []string {
	var all []string
	for _, f := range result.Findings {
		all = append(all, fmt.Sprintf("%s %s:%d", f.Severity, f.Rule, f.Line))
	}
	return all
}

// withVersions returns a definition of these versions.
func withVersions(versions ...string) string {
	var all strings.Builder
	fmt.Fprintf(&all, "  description: d\n  method: helm\n  defaultVersion: %q\n  versions:\n", versions[0])
	for _, v := range versions {
		fmt.Fprintf(&all, "  - version: %q\n    template: {source: {helm: {url: \"oci://quay.io/charts\", chartName: app, chartVersion: 1.0.0}}}\n", v)
	}
	return definition(all.String())
}

// A severity is what happens: error is refused or uninstalls, warning works differently than it looks.
func TestTheSeverityIsWhatHappens(t *testing.T) {
	const png, webp = "iVBORw0KGgoAAAAN", "UklGRiQAAABXRUJQ"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a version of two numbers, as KKP's own catalog has", withVersions("2.23"), nil},
		{"all versions have a leading v, as in half of KKP's own definitions", withVersions("v23.9.1", "v24.9.1"), nil},
		{"one has a leading v", withVersions("1.0.0", "v1.1.0", "1.2.0"), []string{"warning kkp/version-prefix:12"}},
		{"all but one have a leading v", withVersions("v1.0.0", "v1.1.0", "1.2.0"), []string{"warning kkp/version-prefix:14"}},
		{"a version that cannot be compared", withVersions("1.2.3.4"), []string{"warning kkp/semver:10"}},
		{"a version that KKP's API refuses", withVersions("latest"), []string{"error kkp/version:10"}},
		{"a logo of the stated type", definition(version + "  logoFormat: png\n  logo: " + png + "\n"), nil},
		{"a logo of another type", definition(version + "  logoFormat: svg+xml\n  logo: " + png + "\n"), []string{"warning kkp/logo:12"}},
		{"a logo that is no image", definition(version + "  logoFormat: png\n  logo: " + webp + "\n"), []string{"warning kkp/logo:12"}},
		{"a type that KKP's API refuses", definition(version + "  logoFormat: webp\n  logo: " + webp + "\n"), []string{"error kkp/logo-type:11"}},
		{"values in the field that is deprecated", definition(version + "  defaultValues: {a: 1}\n"), []string{"info kkp/values-deprecated:11"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := run(t, catalogOf(map[string]string{good: test.text, "applications/app/metadata.yaml": "tier: gold\n"}))
			if got := found(result); !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v\n%v", got, test.want, result.Findings)
			}
		})
	}
}
