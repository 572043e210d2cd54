// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
)

// resolveFiles resolves files with a catalog of the function A of e.com/v1, and returns the problems.
func resolveFiles(t *testing.T, files map[string]string) (*Result, []string) {
	t.Helper()
	return resolveWith(t, "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n"+
		"  - {group: e.com, kind: A, versions: [{name: v1}], runtime: {container: {image: a, sha256: "+strings.Repeat("0a", 32)+"}}}\n", files)
}

// resolveWith is resolveFiles with another catalog.
func resolveWith(t *testing.T, catalog string, files map[string]string) (*Result, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded := loadText(t, catalog)
	result, err := Resolve(t.Context(), Options{
		Root: dir, Dir: ".", Catalogs: []string{"c"},
		Open: func(context.Context, string) (*Source, error) { return &Source{Catalog: loaded, Reference: "c"}, nil },
	})
	var invalid *configs.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	var lines []string
	if invalid != nil {
		for _, one := range invalid.Kept {
			lines = append(lines, strings.TrimPrefix(one.String(), filepath.ToSlash(dir)+"/"))
		}
	}
	return result, lines
}

func configText(name string) string {
	return "apiVersion: e.com/v1\nkind: A\nmetadata:\n  name: " + name + "\n"
}

func TestWhatIsReadIsBounded(t *testing.T) {
	var many, bases strings.Builder
	for i := range configs.MaxConfigs + 1 {
		fmt.Fprintf(&many, "---\n%s", configText(fmt.Sprint("a", i)))
	}
	for range configs.MaxEntries + 1 {
		bases.WriteString("- a\n")
	}
	large := configText("a") + "# " + strings.Repeat("x", workspace.MaxFile)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"configs": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": many.String()},
			"a.yaml:1: has one config too many: more than 1000 are not read"},
		"elements": {map[string]string{"kustomization.yaml": "resources:\n" + bases.String(), "a": ""},
			"kustomization.yaml:100002: resources has one element too many: more than 100000 are not read"},
		"a file": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": large},
			`kustomization.yaml:1: "a.yaml" is larger than 1048576 bytes`},
		"aliases of a config": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": bomb},
			"a.yaml:1: the config of a function is not readable: line 5: it has aliases that expand to more than 100000 nodes"},
		"aliases of a runtime": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n",
			"a.yaml": configText("a") + "  annotations:\n    config.kubernetes.io/function: |\n      " + strings.ReplaceAll(bomb, "\n", "\n      ") + "\n"},
			"a.yaml:1: the config of a function has a runtime in config.kubernetes.io/function that is not readable: line 5: it has aliases that expand to more than 100000 nodes"},
		"aliases of a kustomization": {map[string]string{"kustomization.yaml": bomb},
			"kustomization.yaml that is not readable: line 5: it has aliases that expand to more than 100000 nodes"},
	} {
		_, got := resolveFiles(t, test.files)
		if len(got) != 1 || !strings.HasSuffix(got[0], test.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}

func TestConfigsAreFoundWhereKustomizeReadsThem(t *testing.T) {
	result, problems := resolveFiles(t, map[string]string{
		"kustomization.yaml":                "resources: [base, base/object.yaml]\ncomponents: [component]\ngenerators: [a.yaml, configs]\n",
		"a.yaml":                            configText("a"),
		"base/Kustomization":                "bases: [deep]\nvalidators: [v.yaml, v.yaml]\n",
		"base/v.yaml":                       configText("v"),
		"base/object.yaml":                  configText("object"),
		"base/deep/kustomization.yml":       "resources: []\n",
		"component/kustomization.yaml":      "kind: Component\ntransformers: [c.yaml]\n",
		"component/c.yaml":                  "# first\n---\n" + configText("c") + "---\n# only a comment\n---\n" + configText("d") + "---\n",
		"configs/kustomization.yaml":        "resources: [r.yaml, nested]\ncomponents: [more]\nnamePrefix: my-\n",
		"configs/r.yaml":                    configText("r"),
		"configs/more/kustomization.yaml":   "kind: Component\nresources: [m.yaml]\n",
		"configs/more/m.yaml":               configText("m"),
		"configs/nested/kustomization.yaml": "resources: [n.yaml]\n",
		"configs/nested/n.yaml":             configText("n"),
		"unused/kustomization.yaml":         "transformers: [u.yaml]\n",
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var edited []string
	for name := range result.Files {
		edited = append(edited, name)
	}
	slices.Sort(edited)
	want := []string{"a.yaml", "base/v.yaml", "component/c.yaml", "configs/more/m.yaml", "configs/nested/n.yaml", "configs/r.yaml"}
	if !slices.Equal(edited, want) || result.Resolved != 7 {
		t.Errorf("%d are resolved in %q", result.Resolved, edited)
	}
	if content := string(result.Files["component/c.yaml"]); strings.Count(content, configs.FunctionKey) != 2 || !strings.HasPrefix(content, "# first\n---\n") ||
		!strings.Contains(content, "---\n# only a comment\n---\n") || !strings.HasSuffix(content, "---\n") {
		t.Errorf("the documents are\n%s", content)
	}
}

func TestADirectoryWithTheNameOfARepositoryIsOne(t *testing.T) {
	files := map[string]string{
		"kustomization.yaml":                     "resources: [github.com/org/repo]\n",
		"github.com/org/repo/kustomization.yaml": "transformers: [t.yaml]\n",
		"github.com/org/repo/t.yaml":             configText("t"),
	}
	result, problems := resolveFiles(t, files)
	if len(problems) > 0 || len(result.Files) > 0 || len(result.Notes) != 1 || !strings.HasSuffix(result.Notes[0], "its functions stay as they are") {
		t.Errorf("%v %+v", problems, result)
	}
	files["kustomization.yaml"] = "transformers: [github.com/org/repo]\n"
	if _, problems = resolveFiles(t, files); len(problems) != 1 || !strings.Contains(problems[0], "is remote and not fetched") {
		t.Errorf("%q", problems)
	}
}

func TestUnnamedConfigsGetANameForEachKustomization(t *testing.T) {
	unnamed := "apiVersion: e.com/v1\nkind: A\n"
	result, problems := resolveFiles(t, map[string]string{
		"kustomization.yaml": "resources: [base]\ntransformers: [a.yaml]\n", "a.yaml": unnamed,
		"base/kustomization.yaml": "transformers: [a.yaml]\n", "base/a.yaml": unnamed,
	})
	if len(problems) > 0 || result.Resolved != 2 || !strings.Contains(string(result.Files["base/a.yaml"]), "\n  name: a\n") {
		t.Errorf("%v %+v", problems, result)
	}
}

// A runtime that appears while kustomize builds would run with the flags that are meant for others.
func TestNoConfigIsMadeBehindTheBack(t *testing.T) {
	hidden := "\nmetadata: {name: b, annotations: {config.kubernetes.io/function: 'exec: {path: ./evil}'}}\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"by annotations": {map[string]string{"kustomization.yaml": "transformers: [c]\n", "c/a.yaml": configText("a"),
			"c/kustomization.yaml": "resources: [a.yaml]\ncommonAnnotations:\n  config.kubernetes.io/function: 'exec: {path: ./evil}'\n"},
			`c/kustomization.yaml:2: "commonAnnotations" may change the configs of functions while kustomize builds: write what it does into the configs`},
		"by patches of a component": {map[string]string{"kustomization.yaml": "transformers: [c]\n", "c/a.yaml": configText("a"),
			"c/kustomization.yaml": "resources: [a.yaml]\ncomponents: [d]\n", "c/d/kustomization.yaml": "patches: []\n"},
			`c/d/kustomization.yaml:1: "patches" may change the configs of functions while kustomize builds: write what it does into the configs`},
		"by a generator of configs": {map[string]string{"kustomization.yaml": "validators: [c]\n", "c/a.yaml": configText("a"),
			"c/kustomization.yaml": "generators: [a.yaml]\n"},
			`c/kustomization.yaml:1: "generators" may change the configs of functions while kustomize builds: write what it does into the configs`},
		"in a text": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": configText("a") + "x: '\n---x'\n"},
			"a.yaml:6: the config of a function has a line that begins with ---, where kustomize cuts the file: only a comment may follow"},
		"behind a comment": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": configText("a") + "# \u2028---" + hidden},
			"a.yaml:5: the config of a function has a line break or a byte order mark that only some readers of YAML take for one: remove or escape it"},
		"in an element": {map[string]string{"kustomization.yaml": "transformers:\n- |\n  kind: A\n  --- # b\n  --- x\n"},
			"kustomization.yaml:5: the config of a function has a line that begins with ---, where kustomize cuts the file: only a comment may follow"},
		"nothing behind dots": {map[string]string{"kustomization.yaml": "validators: [a.yaml]\n", "a.yaml": configText("a") + "...\n# b\n" + configText("b")},
			"a.yaml:7: the config of a function goes on behind a line of three dots, where kustomize stops: begin the next document with ---"},
		"by a directive": {map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": "%YAML 1.1\n---\n" + configText("a")},
			"a.yaml:1: the config of a function has a line that begins with %, as a directive does: remove it"},
	} {
		_, got := resolveFiles(t, test.files)
		if !slices.Contains(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}
