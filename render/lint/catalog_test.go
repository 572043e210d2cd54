// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestRunOnAnInvalidCatalog(t *testing.T) {
	fsys := catalogOf(map[string]string{
		"applications/broken/application.yaml":  "a: [",
		"applications/broken/metadata.yaml":     "tier: Gold\n",
		"applications/missing/metadata.yaml":    "tier: [gold]\n",
		"applications/first/application.yaml":   definition(version),
		"applications/first/metadata.yaml":      "tier: gold\n",
		"applications/second/application.yaml":  definition("  method: none\n" + version[len("\n  description: d\n  method: helm\n")-1:]),
		"applications/second/metadata.yaml":     "labels: {}\n",
		"applications/third/application.yaml":   "apiVersion: v1/v1\nkind: Pod\nmetadata: {name: third}\nspec: {versions: [{version: a}, {version: a}]}\n",
		"applications/.hidden/application.yaml": "a: [",
	})
	var got []string
	for _, f := range run(t, fsys).Findings {
		got = append(got, fmt.Sprintf("%s:%d %s %s (%s)", f.Path, f.Line, f.Severity, f.Rule, f.Application))
	}
	want := []string{
		"applications/broken/application.yaml:1 error catalog/format ()",
		"applications/broken/metadata.yaml:1 warning catalog/tier-spelling ()",
		"applications/missing/application.yaml:0 error catalog/format ()",
		"applications/missing/metadata.yaml:1 error catalog/format ()",
		"applications/second/application.yaml:4 error catalog/duplicate-name (app)",
		"applications/second/application.yaml:5 error kkp/required (app)",
		"applications/second/application.yaml:6 error kkp/method (app)",
		"applications/second/metadata.yaml:1 warning catalog/tier-missing (app)",
		"applications/third/application.yaml:1 warning schema/unknown-group (third)",
		"applications/third/application.yaml:2 error catalog/format (third)",
		"applications/third/application.yaml:4 error catalog/format (third)",
		"applications/third/metadata.yaml:0 warning catalog/metadata-missing (third)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTierSpelling(t *testing.T) {
	tests := []struct {
		name  string
		tiers []string
		want  []string // applications that are told
	}{
		{name: "one spelling", tiers: []string{"Gold", "Gold", "silver"}},
		{name: "the rarer one is wrong", tiers: []string{"Gold", "gold", "Gold"}, want: []string{"1"}},
		{name: "lower case wins where both are as frequent", tiers: []string{"gold", "Gold"}, want: []string{"1"}},
		{name: "spaces count", tiers: []string{"'gold '", "gold"}, want: []string{"0"}},
		{name: "three spellings", tiers: []string{"GOLD", "gold", "Gold", "gold"}, want: []string{"0", "2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			for i, tier := range test.tiers {
				directory := fmt.Sprintf("applications/%d", i)
				files[directory+"/application.yaml"] = strings.Replace(definition(version), "name: app", fmt.Sprintf("name: \"%d\"", i), 1)
				files[directory+"/metadata.yaml"] = "tier: " + tier + "\n"
			}
			var got []string
			for _, f := range run(t, catalogOf(files)).Findings {
				if f.Rule != "catalog/tier-spelling" || f.Line != 1 {
					t.Errorf("found %v", f)
				}
				got = append(got, f.Application)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("told %v, want %v", got, test.want)
			}
		})
	}
}

func TestRunReadsACatalogWhoseDirectoryIsStripped(t *testing.T) {
	result := run(t, catalogOf(map[string]string{
		"app/application.yaml":           definition(version),
		"catalogs/default/metadata.yaml": "applications: [app, other]\n",
		"docs/README.md":                 "nothing",
	}))
	want := []string{"catalog/metadata-missing:0", "catalog/unknown-application:1"}
	if got := rulesOf(result); !slices.Equal(got, want) || result.Applications != 1 {
		t.Errorf("found %v in %d applications, want %v", got, result.Applications, want)
	}
}

func TestListsThatNothingReadsAreFound(t *testing.T) {
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"catalogs/default/metadata.yaml", "applications: [app]\n", nil},
		{"catalog/default/metadata.yaml", "applications: [app]\n", []string{"catalog/misplaced-list:0"}},
		{"Catalogs/default/metadata.yaml", "applications: [app]\n", []string{"catalog/misplaced-list:0"}},
		{"catalogs/default.yaml", "applications: [app]\n", []string{"catalog/misplaced-list:0"}},
		{"catalogs/default.yml", "applications: [app]\n", []string{"catalog/misplaced-list:0"}},
		{"catalogs/kustomization.yaml", "resources: [app]\n", nil},
		{"docs/catalogs/metadata.yaml", "tier: gold\n", nil},
		{".github/catalogs/metadata.yaml", "applications: [app]\n", nil},
	} {
		for directory, how := range map[string]string{"applications/app": "", "app": ", where applications/ is stripped"} {
			t.Run(test.name+how, func(t *testing.T) {
				result := run(t, catalogOf(map[string]string{
					directory + "/application.yaml": definition(version), directory + "/metadata.yaml": "tier: gold\n", test.name: test.content,
				}))
				if got := rulesOf(result); !slices.Equal(got, test.want) {
					t.Errorf("found %v, want %v", got, test.want)
				}
			})
		}
	}
}
