// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

const good = "applications/app/application.yaml"

func catalogOf(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

func run(t *testing.T, fsys fstest.MapFS) lint.Result {
	t.Helper()
	result, err := lint.Run(t.Context(), fsys, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// rulesOf returns the rules that were broken, as rule:line.
func rulesOf(result lint.Result) []string {
	var all []string
	for _, f := range result.Findings {
		all = append(all, fmt.Sprintf("%s:%d", f.Rule, f.Line))
	}
	return all
}

// definition is a KKP definition whose spec follows; the first line of spec is line 6.
func definition(spec string) string {
	return "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: app\nspec:\n" +
		strings.TrimLeft(spec, "\n")
}

const version = `
  description: d
  method: helm
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: "oci://quay.io/charts", chartName: app, chartVersion: 1.0.0}}}
`

func TestRunReportsTheLineOfTheField(t *testing.T) {
	tests := []struct {
		name, spec string
		want       []string
	}{
		{name: "nothing is wrong", spec: version},
		{
			name: "everything at once",
			spec: `
  method: ansible
  defaultVersion: 3.0.0
  documentationURL: here
  sourceURL: ftp://example.com
  logo: "%%"
  defaultNamespace: {create: true, name: A}
  defaultValues: [1]
  defaultValuesBlock: text
  defaultDeployOptions:
    helm:
      timeout: 10
  versions:
  - version: v1.0.0
    template:
      source:
        helm:
          url: http://example.com
          chartName: app
          insecure: false
          plainHTTP: false
          credentials:
            registryConfigFile: {key: k}
            password: {key: k}
  - version: 2.0.0.0
    template:
      source:
        git:
          remote: https://example.com/a.git
          ref: {tag: t, branch: b}
          credentials: {method: ssh-key}
        helm: {}
  - version: 1.2.3
    template:
      source:
        git:
          remote: ""
          ref: {commit: c}
          credentials: {method: magic}
`,
			want: []string{
				"kkp/required:5", "kkp/method:6", "kkp/default-version:7", "kkp/link:8", "kkp/link:9",
				"kkp/logo:10", "kkp/logo-format:10", "kkp/default-namespace:11",
				"kkp/values-deprecated:12", "kkp/values-exclusive:12", "kkp/values-mapping:12", "kkp/values-mapping:13",
				"kkp/timeout-needs-wait:16", "schema/type:16", "kkp/version-prefix:18",
				"kkp/required:21", "kkp/http-insecure:24", "kkp/http-plain-http:25",
				"kkp/credentials-exclusive:27", "kkp/credentials-complete:28",
				"kkp/semver:29", "kkp/one-source:32", "kkp/git-ref-exclusive:34", "kkp/credentials-complete:35",
				"kkp/required:36", "kkp/required:36", "kkp/required:36",
				"kkp/required:41", "kkp/git-commit-needs-branch:42", "schema/value:42", "kkp/credentials-complete:43",
			},
		},
		{
			name: "timeout zero is none",
			spec: version + "  defaultDeployOptions: {helm: {timeout: 0s}}\n",
		},
		{
			name: "timeout zero is not enough for wait",
			spec: version + "  defaultDeployOptions:\n    helm:\n      wait: true\n      timeout: 0s\n",
			want: []string{"kkp/wait-needs-timeout:13"},
		},
		{
			name: "atomic without anything",
			spec: version + "  defaultDeployOptions:\n    helm:\n      atomic: true\n",
			want: []string{"kkp/atomic-needs-wait:13", "kkp/wait-needs-timeout:13"},
		},
		{name: "values may be templates, if they are YAML", spec: version + "  defaultValuesBlock: \"a: '{{ .Cluster.Name }}'\"\n"},
		{
			name: "KKP refuses a mapping beside a block without anything in it",
			spec: version + "  defaultValues: {a: b}\n  defaultValuesBlock: \" \\n\"\n",
			want: []string{"kkp/values-deprecated:11", "kkp/values-exclusive:11"},
		},
		{
			name: "the default version of KKP is the first",
			spec: "  description: d\n  method: helm\n  versions:\n  - version: 1.x\n    template: {source: {git: {remote: https://example.com/a.git, ref: {tag: a}}}}\n" +
				"  - version: \"1.0\"\n    template: {source: {git: {remote: https://example.com/a.git, ref: {tag: a}}}}\n  - version: 1.0.0+2\n    template: {source: {git: {remote: https://example.com/a.git, ref: {tag: a}}}}\n",
			want: []string{"kkp/default-version-unset:8", "kkp/semver:9", "kkp/version-equal:13"},
		},
		{
			name: "templates that KKP cannot execute, with the line in the block",
			spec: version + "  defaultValuesBlock: |\n    # all\n    a: ['{{ .Cluster.Name }}', '{{ .Values.b }}']\n    '{{ upper 1 }}': 1\n    c:\n    - d: |\n        x {{ $labels.pod }}\n",
			want: []string{"kkp/template:13", "kkp/template:14", "kkp/template:16"},
		},
		{
			name: "templates that KKP cannot execute, in a mapping or a folded block",
			spec: version + "  defaultValues:\n    a: '{{ .Release.Name }}'\n  defaultValuesBlock: \"\\na: '{{ x }}'\"\n",
			want: []string{"kkp/values-deprecated:11", "kkp/values-exclusive:11", "kkp/template:12", "kkp/template:13"},
		},
		{name: "a block of comments is a mapping of nothing", spec: version + "  defaultValuesBlock: '# nothing'\n"},
		{name: "an empty block is none", spec: version + "  defaultValues: null\n  defaultValuesBlock: ''\n"},
		{
			name: "a logo may have line breaks",
			spec: version + "  logoFormat: png\n  logo: |+\n    iVBORw0K\n    GgoAAAAN\n\n",
		},
		{
			name: "or spaces, which folding makes of them",
			spec: version + "  logoFormat: png\n  logo: >\n    iVBORw0K\n    GgoAAAAN\n",
		},
		{
			name: "null and the empty string are no default version",
			spec: version + "  defaultVersion: ''\n",
		},
		{
			name: "a default version is compared as text",
			spec: version + "  defaultVersion: v1.0.0\n",
			want: []string{"kkp/default-version:11"},
		},
		{name: "no versions", spec: "  description: d\n  method: helm\n", want: []string{"kkp/versions-required:5"}},
		{
			name: "merge keys count, what is written first",
			spec: `
  description: d
  method: helm
  versions:
  - &first
    version: 1.0.0
    template: {source: {helm: {url: "http://quay.io/charts", insecure: true, chartName: app, chartVersion: 1.0.0}}}
  - <<: *first
    version: 2.0.0
  defaultVersion: 2.0.0
`,
			want: []string{"kkp/http-insecure:11", "kkp/http-insecure:11"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fsys := catalogOf(map[string]string{good: definition(test.spec), "applications/app/metadata.yaml": "tier: gold\n"})
			result := run(t, fsys)
			// One line that is merged twice is one finding.
			if want := slices.Compact(slices.Clone(test.want)); !slices.Equal(slices.Compact(rulesOf(result)), want) {
				t.Errorf("found %v\nwant  %v\n%v", rulesOf(result), test.want, result.Findings)
			}
		})
	}
}

func TestTheMarksOfKKPAreReported(t *testing.T) {
	for metadata, want := range map[string][]string{
		"labels: {apps.kubermatic.k8c.io/managed-by: kkp}":                {"kkp/managed-by:5"},
		"labels: {applicationcatalog.k8c.io/managed-by: KKP}":             {"kkp/managed-by:5"},
		"annotations: {apps.k8c.io/managed-by-external-manager: 'true'}":  {"kkp/managed-by:5"},
		"annotations: {apps.k8c.io/managed-by-external-manager: 'false'}": nil,
	} {
		content := strings.Replace(definition(version), "  name: app\n", "  name: app\n  "+metadata+"\n", 1)
		result, err := lint.Run(t.Context(), fstest.MapFS{
			"applications/app/application.yaml": {Data: []byte(content)}, "applications/app/metadata.yaml": {Data: []byte("tier: gold\n")},
		}, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rulesOf(result); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", metadata, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "", "0.0.0-alpha.1": "", "1.2.3+build.5": "", "v1.2.3-rc.1": "", "2.23": "", "v24": "", "01.2.3": "",
		"1.2.3-01": "kkp/semver", "1.2.3 ": "kkp/semver", "vv1.2.3": "kkp/semver", "1.2.3.4": "kkp/semver",
		"x1.2.3": "kkp/semver", "latest": "kkp/version",
	} {
		spec := strings.Replace(definition(version1), "1.0.0-placeholder", fmt.Sprintf("%q", version), 1)
		result := run(t, catalogOf(map[string]string{good: spec, "applications/app/metadata.yaml": "tier: gold\n"}))
		got := ""
		if len(result.Findings) > 0 {
			got = result.Findings[0].Rule
		}
		if got != want || len(result.Findings) > 1 {
			t.Errorf("version %q: %v, want %q", version, result.Findings, want)
		}
	}
}

var version1 = strings.Replace(version, "1.0.0", "1.0.0-placeholder", 1)

// What would take for ever, or a stack without end, only is not looked at.
func TestRunIsBounded(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	for name, text := range map[string]string{
		"aliases that explode":   definition(version) + bomb,
		"an alias to itself":     definition(version) + "self: &self {again: *self}\n",
		"a merge with itself":    "&all\n" + definition(version) + "<<: *all\n",
		"nesting without end":    definition(version) + "deep: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "\n",
		"too much":               definition(version) + "# " + strings.Repeat("x", 1<<20) + "\n",
		"nothing":                "",
		"a comment":              "# nothing\n",
		"a scalar":               "text\n",
		"a second document":      definition(version) + "---\na: 1\n",
		"not even YAML":          "\x00\xff",
		"a list for a mapping":   "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: []\nspec: [{versions: 1}]\n",
		"a mapping for a list":   definition("  versions: {version: 1.0.0}\n"),
		"numbers where text is":  definition("  versions: [{version: 1, template: 2}, 3, [4]]\n  logo: 5\n  defaultNamespace: 6\n"),
		"an alias as a document": "--- &a\n*a\n",
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, catalogOf(map[string]string{good: text}))
			if !slices.ContainsFunc(result.Findings, func(f rules.Finding) bool { return f.Rule == "catalog/format" }) {
				t.Errorf("found %v, want that the format is wrong", result.Findings)
			}
		})
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lint.Run(ctx, catalogOf(map[string]string{good: definition(version)}), lint.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run() = %v, want that of the context", err)
	}
}

func TestExampleCatalogsAreClean(t *testing.T) {
	for dir, applications := range map[string]int{"catalog": 10, "plain-flux/catalog": 5} {
		result, err := lint.Run(t.Context(), os.DirFS("../../examples/"+dir), lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range result.Findings {
			if f.Severity != rules.Info {
				t.Errorf("%s: %s:%d: %s", dir, f.Path, f.Line, f.Message)
			}
		}
		if result.Applications != applications {
			t.Errorf("%s: %d applications, want %d", dir, result.Applications, applications)
		}
	}
}

// What KKP and Cozystack ship has no errors.
func TestRealDefinitionsHaveNoErrors(t *testing.T) {
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no real definitions in %s; WINNOW_TEST_DATA names another directory", data)
	}
	for _, pattern := range []string{"kkp/system-applications/*.yaml", "cozystack/applicationdefinitions/*.yaml"} {
		names, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		files := map[string]string{}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			directory := "applications/" + strings.TrimSuffix(filepath.Base(name), ".yaml")
			files[directory+"/application.yaml"] = string(content)
			files[directory+"/metadata.yaml"] = "tier: gold\n"
		}
		result := run(t, catalogOf(files))
		for _, f := range result.Findings {
			if f.Severity == rules.Error || f.Severity == rules.Warning && f.Rule != "kkp/managed-by" {
				t.Errorf("%s:%d: %s: %s", f.Path, f.Line, f.Rule, f.Message)
			}
		}
		if result.Applications != len(names) {
			t.Errorf("%d applications, want %d", result.Applications, len(names))
		}
	}
}

func TestSeverityOrder(t *testing.T) {
	if !rules.Error.AtLeast(rules.Warning) || !rules.Warning.AtLeast(rules.Warning) || rules.Info.AtLeast(rules.Warning) {
		t.Error("want error, warning, info")
	}
}
