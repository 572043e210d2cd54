// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/lint/schema"
)

var (
	row          = regexp.MustCompile("(?m)^\\| `(\\S+/\\S+)` \\| (\\w+) \\| ([^|]+) \\|[^|]*\\|$")
	section      = regexp.MustCompile(`(?m)^## (\S+/\S+)\n`)
	exampleBlock = regexp.MustCompile("(?ms)^```yaml (bad|good)\n(.*?)^```")
	examplePath  = regexp.MustCompile(`(?m)^# (\S+/\S+\.yaml)\n`)
)

// base is what the examples of the documentation leave out.
const base = `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
spec:
  description: An application.
  method: helm
  defaultVersion: 1.0.0
  versions:
  - version: 1.0.0
    template:
      source:
        helm:
          url: oci://quay.io/charts
          chartName: app
          chartVersion: 1.0.0
`

// cozystackBase is the same for Cozystack. The kind is that of the application.
const cozystackBase = `
apiVersion: cozystack.io/v1alpha1
kind: ApplicationDefinition
spec:
  application: {kind: App, plural: apps, singular: app, openAPISchema: "{}"}
  release: {prefix: app-, chartRef: {kind: HelmChart, name: app}}
`

func baseOf(part string) string {
	if strings.Contains(part, "apiVersion: cozystack.io/") {
		return cozystackBase
	}
	return base
}

// kkpOnly stands for the CustomResourceDefinition of KKP.
type kkpOnly struct{}

func (kkpOnly) Check(_ context.Context, document []byte) (problems []schema.Problem, known bool, err error) {
	if strings.Contains(string(document), "replicas: 3") {
		problems = append(problems, schema.Problem{Field: "spec.replicas", Message: "unknown field"})
	}
	return problems, strings.Contains(string(document), "apps.kubermatic.k8c.io/v1"), nil
}

// Every rule has its row, with its summary. Its bad example breaks the rule; the good one breaks none. What is in charts, or
// beside a selection, has its tests in cmd/winnow.
func TestDocumentationHasEveryRule(t *testing.T) {
	examples := sections(t)
	var documented, existing []string
	for _, match := range row.FindAllStringSubmatch(read(t, "../../docs/lint.md"), -1) {
		id := match[1]
		documented = append(documented, strings.Join([]string{id, match[2], strings.ReplaceAll(match[3], "`", "")}, " "))
		if strings.HasPrefix(id, "selection/") || strings.HasPrefix(id, "charts/") {
			continue
		}
		t.Run(id, func(t *testing.T) {
			checkExamples(t, id, examples[id])
		})
	}
	for _, rule := range slices.Concat(lint.Rules(), lint.ChartRules(), lint.SelectionRules()) {
		existing = append(existing, fmt.Sprintf("%s %s %s", rule.ID, rule.Severity, rule.Summary))
	}
	if !slices.Equal(documented, existing) {
		t.Errorf("documented:\n%s\nrules:\n%s", strings.Join(documented, "\n"), strings.Join(existing, "\n"))
	}
	if len(examples) != len(lint.Rules()) {
		t.Errorf("%d rules have examples, want %d", len(examples), len(lint.Rules()))
	}
}

// sections maps a rule to its examples.
func sections(t *testing.T) map[string]string {
	t.Helper()
	page, found := read(t, "testdata/examples.md"), map[string]string{}
	starts := section.FindAllStringSubmatchIndex(page, -1)
	for i, start := range starts {
		end := len(page)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		found[page[start[2]:start[3]]] = page[start[1]:end]
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func checkExamples(t *testing.T, id, text string) {
	var kinds []string
	for _, block := range exampleBlock.FindAllStringSubmatch(text, -1) {
		kinds = append(kinds, block[1])
		options := lint.Options{}
		if strings.HasPrefix(id, "crds/") {
			options.Schemas = kkpOnly{}
		}
		result, err := lint.Run(t.Context(), exampleCatalog(t, block[2]), options)
		if err != nil {
			t.Fatal(err)
		}
		broken := slices.ContainsFunc(result.Findings, func(f rules.Finding) bool { return f.Rule == id })
		switch {
		case block[1] == "bad" && !broken:
			t.Errorf("the bad example is not found out: %v", result.Findings)
		case block[1] == "good" && len(result.Findings) > 0:
			t.Errorf("the good example is not: %v", result.Findings)
		}
	}
	if !slices.Equal(kinds, []string{"bad", "good"}) {
		t.Errorf("the examples are %v, want a bad and a good one", kinds)
	}
}

// exampleCatalog completes the files of an example.
func exampleCatalog(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	if strings.Contains(text, krmfunctions.APIVersion) {
		return fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}
	}
	files := map[string]string{"applications/app/application.yaml": ""}
	if strings.Contains(text, "schema: olm.") {
		files = map[string]string{}
	}
	starts := examplePath.FindAllStringSubmatchIndex(text, -1)
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name := text[start[2]:start[3]]
		files[name] = text[start[1]:end]
		if directory := path.Dir(name); strings.HasPrefix(name, "applications/") && files[directory+"/application.yaml"] == "" {
			files[directory+"/application.yaml"] = " "
		}
	}
	if len(starts) == 0 && !strings.HasPrefix(text, "#") {
		files["applications/app/application.yaml"] = text
	}
	fsys := fstest.MapFS{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		if path.Base(name) == "application.yaml" {
			content = complete(t, content, path.Base(path.Dir(name)))
			metadata := path.Join(path.Dir(name), "metadata.yaml")
			if _, written := files[metadata]; !written && !strings.Contains(text, "does not exist") {
				fsys[metadata] = &fstest.MapFile{Data: []byte("tier: gold\n")}
			}
		}
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

// complete merges a part of a definition into base, unless it is whole. Null takes a field away.
func complete(t *testing.T, part, name string) string {
	t.Helper()
	if strings.HasPrefix(part, "apiVersion: apps.kubermatic.k8c.io/v1\nkind:") {
		return part
	}
	var whole, written map[string]any
	for _, one := range []struct {
		text string
		into *map[string]any
	}{{baseOf(part) + "metadata:\n  name: " + name + "\n", &whole}, {part, &written}} {
		if err := yaml.UnmarshalStrict([]byte(one.text), one.into); err != nil {
			t.Fatal(err)
		}
	}
	merge(whole, written)
	content, err := yaml.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func merge(into, from map[string]any) {
	for key, value := range from {
		below, isMapping := value.(map[string]any)
		target, exists := into[key].(map[string]any)
		if isMapping && exists {
			merge(target, below)
			continue
		}
		into[key] = value
		if value == nil {
			delete(into, key)
		}
	}
}
