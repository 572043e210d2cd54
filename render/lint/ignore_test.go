// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/schema"
)

// linkless is a definition with two findings: the links in its lines 8 and 10, where there is room for
// comments before, between and behind.
func linkless(top, before, behind string) string {
	return top + strings.Replace(definition(strings.TrimSuffix(version, "\n")), "  description: d\n",
		"  description: d\n"+before+"  documentationURL: here"+behind+"\n  displayName: App\n  sourceURL: there\n", 1) + "\n"
}

func TestCommentsLeaveFindingsOut(t *testing.T) {
	const documentation, source = "kkp/link:7", "kkp/link:9"
	for _, test := range []struct {
		name, top, before, behind string
		want                      []string
		ignored                   int
	}{
		{name: "no comment", want: []string{documentation, source}},
		{name: "behind the value", behind: " # winnow:ignore kkp/link", want: []string{source}, ignored: 1},
		{name: "in the line above", before: "  # winnow:ignore kkp/link\n", want: []string{"kkp/link:10"}, ignored: 1},
		{name: "above other comments", before: "  # winnow:ignore kkp/link\n\n  # more\n", want: []string{"kkp/link:12"}, ignored: 1},
		{name: "above everything", top: "# A comment\n# winnow:ignore kkp/link\n---\n", ignored: 2},
		{name: "with a reason", behind: " # winnow:ignore kkp/link the page moves, see kkp/nothing", want: []string{source}, ignored: 1},
		{name: "several rules", behind: " #winnow:ignore kkp/logo,kkp/link", want: []string{source}, ignored: 1},
		{name: "another rule", behind: " # winnow:ignore kkp/logo", want: []string{documentation, source}},
		{name: "no rule", behind: " # winnow:ignore", want: []string{documentation, "lint/ignore:7", source}},
		{name: "a rule that there is not", behind: " # winnow:ignore kkp/lnik", want: []string{documentation, "lint/ignore:7", source}},
		{name: "a rule that Winnow does not ask", top: "# winnow:ignore catalog/format\n", want: []string{"lint/ignore:1", "kkp/link:8", "kkp/link:10"}},
		{name: "no comment of ours", behind: " # see winnow:ignore kkp/link", want: []string{documentation, source}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := run(t, catalogOf(map[string]string{
				good: linkless(test.top, test.before, test.behind), "applications/app/metadata.yaml": "tier: gold\n",
			}))
			if got := rulesOf(result); !slices.Equal(got, test.want) || result.Ignored != test.ignored {
				t.Errorf("found %v, ignored %d, want %v, %d\n%v", got, result.Ignored, test.want, test.ignored, result.Findings)
			}
		})
	}
	t.Run("a finding without a line, by a comment in its own file only", func(t *testing.T) {
		result := run(t, catalogOf(map[string]string{good: "# winnow:ignore catalog/metadata-missing\n" + definition(version)}))
		if got := rulesOf(result); !slices.Equal(got, []string{"catalog/metadata-missing:0"}) {
			t.Errorf("found %v", got)
		}
	})
	t.Run("comments without end are read up to a bound", func(t *testing.T) {
		result := run(t, catalogOf(map[string]string{
			good:                             strings.Repeat("# winnow:ignore no/rule\n", 40_000) + definition(version),
			"applications/app/metadata.yaml": "tier: gold\n",
		}))
		if len(result.Findings) != 100 {
			t.Errorf("%d findings, want 100", len(result.Findings))
		}
	})
}

func TestOptionsLeaveFindingsOut(t *testing.T) {
	fsys := catalogOf(map[string]string{good: linkless("", "", "")})
	result, err := lint.Run(t.Context(), fsys, lint.Options{Ignore: []string{"kkp/link", "catalog/metadata-missing"}})
	if err != nil || len(result.Findings) != 0 || result.Ignored != 3 {
		t.Errorf("Run() = %+v, %v", result, err)
	}
	for rule, ok := range map[string]bool{
		"kkp/link": true, "schema/type": true, "crds/invalid": true,
		"catalog/format": false, "catalog/duplicate-name": false, "kkp/versions-unique": false, "kkp/lnik": false, "": false,
	} {
		if err := lint.Ignorable(rule); (err == nil) != ok {
			t.Errorf("Ignorable(%q) = %v", rule, err)
		}
	}
}

// answer stands for CustomResourceDefinitions.
type answer struct {
	problems []schema.Problem
	known    bool
	err      error
}

func (a answer) Check(context.Context, []byte) ([]schema.Problem, bool, error) {
	return a.problems, a.known, a.err
}

// The API server drops a namespace in silence, so that no CustomResourceDefinition tells.
func TestANamespaceIsFoundWithSchemas(t *testing.T) {
	text := strings.Replace(definition(version), "  name: app\n", "  name: app\n  namespace: default\n", 1)
	fsys := catalogOf(map[string]string{good: text, "applications/app/metadata.yaml": "tier: gold\n"})
	for _, options := range []lint.Options{{}, {Schemas: answer{known: true}}} {
		result, err := lint.Run(t.Context(), fsys, options)
		if got := rulesOf(result); err != nil || !slices.Equal(got, []string{"schema/namespace:5"}) {
			t.Errorf("found %v, %v", got, err)
		}
	}
}

// What the CustomResourceDefinitions say has the line of its field, and takes the place of the table.
func TestSchemas(t *testing.T) {
	text := definition(version + "  displayNaem: App\n")
	for _, test := range []struct {
		name string
		answer
		want []string
	}{
		{"they accept it", answer{known: true}, nil},
		{"a field", answer{known: true, problems: []schema.Problem{{Field: "spec.versions[0].template.source.helm.url", Message: "wrong"}}}, []string{"crds/invalid:10"}},
		{"a field that is missing", answer{known: true, problems: []schema.Problem{{Field: "spec.versions[0].name", Message: "Required value"}}}, []string{"crds/invalid:9"}},
		{"an element that is not there", answer{known: true, problems: []schema.Problem{{Field: "spec.versions[7]", Message: "wrong"}}}, []string{"crds/invalid:8"}},
		{"a key in brackets", answer{known: true, problems: []schema.Problem{{Field: "metadata[name]", Message: "wrong"}}}, []string{"crds/invalid:4"}},
		{"the object as a whole", answer{known: true, problems: []schema.Problem{{Field: "", Message: "wrong"}}}, []string{"crds/invalid:1"}},
		{"they do not have the kind", answer{}, []string{"crds/missing:1"}},
		{"the document cannot be read", answer{known: true, err: errors.New("no")}, []string{"crds/invalid:1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := catalogOf(map[string]string{good: text, "applications/app/metadata.yaml": "tier: gold\n"})
			result, err := lint.Run(t.Context(), fsys, lint.Options{Schemas: test.answer})
			if got := rulesOf(result); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("found %v, %v, want %v", got, err, test.want)
			}
		})
	}
}
