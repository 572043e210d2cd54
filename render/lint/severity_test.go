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

// block returns a definition with lines of default values, which begin below line 11.
func block(lines ...string) string {
	return definition(version + "  defaultValuesBlock: |\n    " + strings.Join(lines, "\n    ") + "\n")
}

func TestAKeyThatIsThereTwiceIsFoundWithBothLines(t *testing.T) {
	result := run(t, catalogOf(map[string]string{good: block("a: 1", "b: 2", "a: 3"), "applications/app/metadata.yaml": "tier: gold\n"}))
	want := `spec.defaultValuesBlock cannot be merged into, or installed by Flux: line 14: it has the key "a" twice, first in line 12`
	if len(result.Findings) != 1 || result.Findings[0].Message != want {
		t.Errorf("%v", result.Findings)
	}
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
		{"a null as a key", block("a: {~: 1}"), []string{"error kkp/values-refused:11"}},
		{"a list as a key", block("? [a, b]", ": 1"), []string{"error kkp/values-refused:11"}},
		{"a number without an end", block("a: .inf"), []string{"error kkp/values-refused:11"}},
		{"what is no number", block("a: .NaN"), []string{"error kkp/values-refused:11"}},
		{"a tag that the value does not fit", block("a: !!int abc"), []string{"error kkp/values-refused:11"}},
		{"a merge of null", block("<<: ~", "a: 1"), []string{"error kkp/values-refused:11"}},
		{"a template that is a mapping as a key", block("a: {{ .Cluster.Name }}"), []string{"warning kkp/values-yaml:11"}},
		{"a key twice", block("a: 1", "b: 2", "a: 3"), []string{"warning kkp/values-ambiguous:11"}},
		{"a key twice for readers of values", block("yes: 1", "'true': 2"), []string{"warning kkp/values-ambiguous:11"}},
		{"two documents", block("a: 1", "---", "a: 2"), []string{"warning kkp/values-ambiguous:14"}},
		{"what comes behind the end of a document", block("a: 1", "...", "b: 2"), []string{"warning kkp/values-ambiguous:14"}},
		{"an empty document before another one", block("---", "---", "a: 1"), []string{"warning kkp/values-ambiguous:14"}},
		{"booleans and dates that all readers of a block read alike", block("a: no", "b: 2021-01-01", "c: &c {x: 1}", "d: {<<: *c}"), nil},
		{"a boolean that readers of a definition read differently", definition(version + "  defaultNamespace: {name: app, labels: {a: no}}\n"), []string{"warning catalog/readers-differ:11"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := run(t, catalogOf(map[string]string{good: test.text, "applications/app/metadata.yaml": "tier: gold\n"}))
			if got := found(result); !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v\n%v", got, test.want, result.Findings)
			}
		})
	}
}
