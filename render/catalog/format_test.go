// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// formatCase is what every format has to show.
type formatCase struct {
	format catalog.Format
	// valid is a catalog of the applications names. Files that are not needed are among its files.
	valid files
	names []string
	// broken has violations in several files, which are all of want.
	broken files
	want   []string
	// large is a catalog over a bound, with a violation that has the text.
	large files
	bound string
}

// A catalog of another format than the one that somebody has named is invalid, and the first violation names its format.
func TestLoadAsNamesTheFormat(t *testing.T) {
	for _, named := range formatCases() {
		for _, other := range formatCases() {
			format, err := catalog.Named(named.format.Name())
			if err != nil {
				t.Fatal(err)
			}
			_, err = catalog.LoadAs(t.Context(), format, other.valid.fs(), nil)
			var invalid *violation.InvalidError
			want := ".: looks like the format " + other.format.Name() + ", and is read as " + format.Name() +
				": set format: " + other.format.Name() + ", or leave format out"
			switch {
			case named.format.Name() == other.format.Name():
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &invalid) || invalid.Violations[0].String() != want:
				t.Errorf("as %s: %v", format.Name(), err)
			}
		}
	}
	broken := catalog.KRMFunctions{}
	_, err := catalog.LoadAs(t.Context(), broken, files{"a.yaml": functionCatalog("SetLogger")}.fs(), nil)
	if err == nil || strings.Contains(err.Error(), "looks like") {
		t.Errorf("of the format that was named: %v", err)
	}
}

func formatCases() []formatCase {
	return []formatCase{{
		format: catalog.Applications{},
		valid: files{
			"applications/b/application.yaml": definition("beta", "1.0.0"), "applications/a/application.yaml": definition("alpha"),
			"applications/a/metadata.yaml": "tier: gold\n", "catalogs/all/metadata.yaml": "applications: [beta]\n",
			"README.md": "no YAML", "applications/a/values.yaml": "a: b\n",
		},
		names: []string{"alpha", "beta"},
		broken: files{
			"applications/a/application.yaml": "kind: ConfigMap\n", "applications/b/application.yaml": definition("alpha", "1", "1"),
			"applications/c/metadata.yaml": "tier: 1\n",
		},
		want: []string{
			"applications/a/application.yaml:1: apiVersion is missing",
			`applications/a/application.yaml:1: kind must be ApplicationDefinition, not "ConfigMap"`,
			"applications/a/application.yaml:1: metadata is missing",
			"applications/a/application.yaml:1: spec is missing",
			"applications/b/application.yaml:8: spec.versions[0].version must be a string: put \"1\" in quotes",
			"applications/b/application.yaml:9: spec.versions[1].version must be a string: put \"1\" in quotes",
			"applications/c/application.yaml: is missing; if it is a symbolic link, which Flux drops, store the file itself",
			"applications/c/metadata.yaml:1: tier must be a string, not a number",
		},
		large: files{"applications/a/application.yaml": definition("a") + "# " + strings.Repeat("a", 1<<20)},
		bound: "is larger than 1048576 bytes",
	}, {
		format: catalog.Definitions{},
		valid: files{
			"b.yml": definition("beta", "1.0.0"), "deep/er/a.yaml": "# a\n---\n" + definition("alpha") + "---\n" + definition("gamma"),
			"README.md": "no YAML", ".github/x.yaml": "a: b\n", "deep/.hidden.yaml": "a: b\n", "logo.json": "{}",
		},
		names: []string{"alpha", "beta", "gamma"},
		broken: files{
			"a.yaml": "kind: ConfigMap\n---\n" + definition("alpha"), "b.yaml": definition("beta") + "---\n" + definition("alpha", "1"),
			"c.yaml": "# nothing\n", "d.yaml": "---\n# first\n" + definition("delta") + "---\n- a\n---\na: [\n",
		},
		want: []string{
			`a.yaml:1: is a "ConfigMap", not an ApplicationDefinition: name the files of the catalog by include`,
			"b.yaml:11: metadata.name \"alpha\" is taken by a.yaml",
			"b.yaml:15: spec.versions[0].version must be a string: put \"1\" in quotes",
			"c.yaml: is empty: expected documents of kind ApplicationDefinition",
			"d.yaml:10: is no ApplicationDefinition: name the files of the catalog by include",
			"d.yaml:12: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes",
		},
		large: files{"a.yaml": definition("a") + "---\n" + definition("b") + "# " + strings.Repeat("b", 1<<20)},
		bound: "a.yaml:8: is the first line of a document that is larger than 1048576 bytes",
	}, {
		format: catalog.FileBased{},
		valid: files{
			"plum/catalog.yaml": operator("plum", "1.0.0"), "lemon.json": `{"schema": "olm.package", "name": "lemon", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "lemon", "name": "stable", "entries": [{"name": "lemon.v2.0.0"}]}
{"schema": "olm.bundle", "package": "lemon", "name": "lemon.v2.0.0", "image": "example.com/lemon", "properties": [
  {"type": "olm.package", "value": {"packageName": "lemon", "version": "2.0.0"}}]}`,
			".indexignore": "*.md\nobjects\n", "README.md": "no YAML", "plum/objects/a": "a: b\n",
		},
		names: []string{"lemon", "plum"},
		broken: files{
			"a.yaml": operator("plum", "1.0") + "---\nschema: olm.channel\n", "b.yaml": "schema: olm.package\nname: lemon\n",
			"c.yaml": "kind: ConfigMap\n", "d.yaml": "a: [\n",
		},
		want: []string{
			`a.yaml:14: document 3: bundle "plum.v1.0": properties[0].value.version: is not a semantic version: No Major.Minor.Patch elements found: "1.0"`,
			"c.yaml:1: document 1: has no schema: every document needs one, such as olm.bundle",
			"d.yaml:1: document 1: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes",
		},
		large: files{"a.yaml": operator("plum", "1.0.0") + strings.Repeat("---\nschema: x\n", 100_000)},
		bound: "has more than 100000 documents",
	}, {
		format: catalog.KRMFunctions{},
		valid: files{
			"b.yml": functionCatalog("SetLogger", "v1", "v2"), "deep/a.json": `{"apiVersion": "config.kubernetes.io/v1alpha1", "kind": "Catalog", "spec": {"krmFunctions": [
				{"group": "example.com", "kind": "Java", "versions": [{"name": "v1", "runtime": {"starlark": "a.star"}}]}]}}`,
			"deep/c.yaml": strings.Replace(functionCatalog("Salt", "v1"), "kind: Catalog", "kind: KRMFunctionCatalog", 1),
			"bin/run":     "#!/bin/sh", "README.md": "no YAML", ".github/x.yaml": "a: b\n",
		},
		names: []string{"java.example.com", "salt.example.com", "setlogger.example.com"},
		broken: files{
			"a.yaml": functionCatalog("SetLogger") + "---\nkind: ConfigMap\n", "b.yaml": functionCatalog("A-B", "v1"),
			"c.yaml": strings.Replace(functionCatalog("A", "v1"), "{image:", "{sha256: x, image:", 1), "d.yaml": "a: [\n",
		},
		want: []string{
			"a.yaml:7: the function SetLogger has no versions",
			`a.yaml:12: is "ConfigMap" of "": expected Catalog, KRMFunctionCatalog or KRMFunctionDefinition of config.kubernetes.io/v1alpha1`,
			`b.yaml:8: kind "A-B" is not valid in a config`,
			`c.yaml:13: sha256 "x" is malformed: expected 64 hexadecimal digits in lower case`,
			"d.yaml:1: is not valid YAML: did not find expected node content",
		},
		large: files{"a.yaml": functionCatalog("A", "v1") + "# " + strings.Repeat("a", 1<<20)},
		bound: "is larger than 1048576 bytes",
	}}
}

// functionCatalog returns a catalog of a function.
func functionCatalog(kind string, versions ...string) string {
	text := "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata:\n  name: a\nspec:\n  krmFunctions:\n  - group: example.com\n    kind: " + kind +
		"\n    publisher: Example Co\n    versions:\n"
	for _, version := range versions {
		text += "    - name: " + version + "\n      runtime:\n        container: {image: 'example.com/a:v1'}\n"
	}
	return text
}

// operator returns a package with one bundle.
func operator(name, version string) string {
	return fmt.Sprintf(`schema: olm.package
name: %[1]s
defaultChannel: stable
---
schema: olm.channel
package: %[1]s
name: stable
entries: [{name: %[1]s.v%[2]s}]
---
schema: olm.bundle
package: %[1]s
name: %[1]s.v%[2]s
image: example.com/%[1]s
properties: [{type: olm.package, value: {packageName: %[1]s, version: %[2]q}}]
`, name, version)
}

func TestEveryFormatIsTested(t *testing.T) {
	var tested []string
	for _, test := range formatCases() {
		tested = append(tested, test.format.Name())
	}
	if want := catalog.FormatNames()[1:]; !reflect.DeepEqual(tested, want) {
		t.Errorf("tested are %v, want %v", tested, want)
	}
}

func TestFormats(t *testing.T) {
	for _, test := range formatCases() {
		t.Run(test.format.Name(), func(t *testing.T) {
			t.Run("loads a catalog", test.loads)
			t.Run("reports all violations", test.reports)
			t.Run("has bounds", test.isBounded)
			t.Run("is independent of the order of files", test.ignoresOrder)
			t.Run("reads nothing after loading", test.readsOnce)
			t.Run("reads only what it needs", test.needsLittle)
			t.Run("tells failures from violations", test.tellsFailures)
			t.Run("is detected", test.isDetected)
		})
	}
}

func (c formatCase) load(t *testing.T, fsys fs.FS) *catalog.Catalog {
	t.Helper()
	loaded, err := c.format.Load(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func (c formatCase) loads(t *testing.T) {
	var names []string
	for _, application := range c.load(t, c.valid.fs()).Applications {
		names = append(names, application.Name)
		if !application.IsObject() {
			continue
		}
		if content := c.valid[application.Path]; !strings.Contains(content, string(application.Document)) {
			t.Errorf("the document of %s is not in its file %s", application.Name, application.Path)
		}
		if above := strings.Count(strings.SplitN(c.valid[application.Path], string(application.Document), 2)[0], "\n"); above != application.Above {
			t.Errorf("%d lines are above %s, want %d", application.Above, application.Name, above)
		}
	}
	if !reflect.DeepEqual(names, c.names) {
		t.Errorf("the applications are %v, want %v", names, c.names)
	}
}

func (c formatCase) violations(t *testing.T, fsys fs.FS) (lines []string) {
	t.Helper()
	loaded, err := c.format.Load(t.Context(), fsys)
	var invalid *violation.InvalidError
	if !errors.As(err, &invalid) || loaded != nil {
		t.Fatalf("Load() = %v, %v, want violations", loaded, err)
	}
	for _, violation := range invalid.Violations {
		lines = append(lines, violation.String())
	}
	return lines
}

func (c formatCase) reports(t *testing.T) {
	compare(t, c.violations(t, c.broken.fs()), c.want)
	empty := c.violations(t, files{"README.md": ""}.fs())
	if len(empty) != 1 || !strings.HasPrefix(empty[0], ".: holds no ") {
		t.Errorf("a directory without a catalog: %v", empty)
	}
}

func (c formatCase) isBounded(t *testing.T) {
	if got := strings.Join(c.violations(t, c.large.fs()), "\n"); !strings.Contains(got, c.bound) {
		t.Errorf("Load() = %s, want %s", got, c.bound)
	}
}

func (c formatCase) ignoresOrder(t *testing.T) {
	want := c.load(t, c.valid.fs())
	for range 20 {
		if got := c.load(t, shuffled{c.valid.fs()}); !reflect.DeepEqual(got, want) {
			t.Fatal("loading twice gives different catalogs")
		}
		compare(t, c.violations(t, shuffled{c.broken.fs()}), c.want)
	}
}

func (c formatCase) readsOnce(t *testing.T) {
	fsys := c.valid.fs()
	loaded := c.load(t, fsys)
	maps.DeleteFunc(fsys, func(string, *fstest.MapFile) bool { return true })
	for _, application := range loaded.Applications {
		if spec, err := application.Spec(); err != nil || application.IsObject() && spec["method"] != "helm" {
			t.Errorf("the spec of %s is %v: %v", application.Name, spec, err)
		}
		if !application.IsObject() && len(application.Content.Files()) == 0 {
			t.Errorf("%s has no files", application.Name)
		}
	}
}

func (c formatCase) needsLittle(t *testing.T) {
	bare, skipped := files{}, 0
	for name, content := range c.valid {
		if !c.format.Needs(name) {
			content = ""
			skipped++
		}
		bare[name] = content
	}
	if skipped == 0 {
		t.Error("each file is needed")
	}
	if !reflect.DeepEqual(c.load(t, bare.fs()), c.load(t, c.valid.fs())) {
		t.Error("a file that is not needed was read")
	}
}

func (c formatCase) tellsFailures(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.format.Load(cancelled, c.valid.fs()); !errors.Is(err, context.Canceled) {
		t.Errorf("Load() with a cancelled context = %v", err)
	}
	for name := range c.valid {
		_, err := c.format.Load(t.Context(), failing{c.valid.fs(), name, fs.ErrPermission})
		if c.format.Needs(name) != errors.Is(err, fs.ErrPermission) && !strings.HasSuffix(name, "values.yaml") {
			t.Errorf("Load() with an unreadable %s = %v", name, err)
		}
	}
}

func (c formatCase) isDetected(t *testing.T) {
	for _, format := range catalog.Formats() {
		claims, err := format.Detect(c.valid.fs())
		if err != nil || claims != (format.Name() == c.format.Name()) {
			t.Errorf("%s claims a tree of %s: %t, %v", format.Name(), c.format.Name(), claims, err)
		}
	}
	byContent, err := catalog.Load(t.Context(), c.valid.fs())
	if err != nil || !reflect.DeepEqual(byContent, c.load(t, c.valid.fs())) {
		t.Errorf("the catalog of the detected format differs: %v", err)
	}
}

func TestDetectAmong(t *testing.T) {
	for name, test := range map[string]struct {
		files files
		want  string
	}{
		"nothing":                                {files{"README.md": ""}, "Applications"},
		"applications without a file":            {files{"applications/a/README.md": "", "a.yaml": definition("a")}, "Applications"},
		"applications at the root":               {files{"a/application.yaml": definition("a"), "b.yaml": "kind: ConfigMap\n"}, "Applications"},
		"a file of a list":                       {files{"catalogs/a/application.yaml": definition("a"), "b.yaml": definition("b")}, "Definitions"},
		"other objects":                          {files{"a.yaml": "kind: ConfigMap\n"}, "Applications"},
		"a definition below others":              {files{"a.yaml": "kind: ConfigMap\n---\nkind: \"ApplicationDefinition\" # this\r\n"}, "Definitions"},
		"a definition in a text":                 {files{"a.yaml": "a: |\n  kind: ApplicationDefinition\n"}, "Applications"},
		"a list of definitions, of another kind": {files{"a.yaml": "kind: ApplicationDefinitionList\n"}, "Applications"},
		"a hidden definition":                    {files{".a.yaml": definition("a")}, "Applications"},
		"a package":                              {files{"a.yaml": "# a\n---\n\"schema\" : 'olm.package'\n"}, "FileBased"},
		"functions":                              {files{"a.yaml": functionCatalog("A", "v1")}, "KRMFunctions"},
		"functions in JSON":                      {files{"a.json": `{"kind": "Catalog", "apiVersion": "config.kubernetes.io/v1alpha1"}`}, "KRMFunctions"},
		"functions with an error":                {files{"a.yaml": functionCatalog("A", "v1") + " a\n"}, "KRMFunctions"},
		"functions in a text":                    {files{"a.yaml": "a: |\n  " + strings.ReplaceAll(functionCatalog("A", "v1"), "\n", "\n  ")}, "Applications"},
		"functions in a default value":           {files{"a/application.yaml": definition("a") + functionCatalog("A", "v1")}, "Applications"},
		"hidden functions":                       {files{".a/a.yaml": functionCatalog("A", "v1")}, "Applications"},
		"another kind of the group of functions": {files{"a.yaml": "{apiVersion: config.kubernetes.io/v1alpha1, kind: ResourceList}"}, "Applications"},
		"a package in a default value":           {files{"a/application.yaml": definition("a") + "# schema: olm.package\n"}, "Applications"},
	} {
		if got, err := catalog.Detect(test.files.fs()); err != nil || got.Name() != test.want {
			t.Errorf("%s: Detect() = %v, %v, want %s", name, got, err, test.want)
		}
	}
}

func TestDetectRefusesWhatTwoFormatsClaim(t *testing.T) {
	both := files{"a/application.yaml": definition("a"), "b.yaml": definition("b")}
	const want = "invalid catalog: .: has files of the formats Applications and Definitions: set format, or include, of the source"
	if _, err := catalog.Load(t.Context(), both.fs()); err == nil || err.Error() != want {
		t.Errorf("Load() = %v, want %s", err, want)
	}
	for name, applications := range map[string][]string{"Applications": {"a"}, "Definitions": {"a", "b"}} {
		format, err := catalog.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := format.Load(t.Context(), both.fs())
		if err != nil || len(loaded.Applications) != len(applications) {
			t.Errorf("%s has %v: %v", name, loaded, err)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, name := range []string{"", "Auto"} {
		if got, err := catalog.Named(name); got != nil || err != nil {
			t.Errorf("Named(%q) = %v, %v", name, got, err)
		}
	}
	if got, err := catalog.Named("Definitions"); err != nil || got.Name() != "Definitions" {
		t.Errorf("Named() = %v, %v", got, err)
	}
	if _, err := catalog.Named("Helm"); err == nil || err.Error() != `no format "Helm": want Auto, Applications, Definitions, FileBased, KRMFunctions` {
		t.Errorf("Named() = %v", err)
	}
}
