// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

func TestDefinitionsKeepBytesAndMetadata(t *testing.T) {
	first := "# Copyright\n---\n# about a\napiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: a\n" +
		"  labels: {catalog.winnow.dev/tier: gold, team: db}\n  annotations: {note: hello}\nspec: {}\n# of a\n"
	second := "# about b\n" + definition("b", "1.0.0")
	loaded, err := catalog.Definitions{}.Load(t.Context(), files{"x/all.yaml": first + "---\n" + second}.fs())
	if err != nil {
		t.Fatal(err)
	}
	a, b := loaded.Applications[0], loaded.Applications[1]
	if string(a.Document) != first || string(b.Document) != second || a.Path != "x/all.yaml" || b.Path != a.Path || b.Above != 12 {
		t.Errorf("the documents are %q and %q, below %d lines", a.Document, b.Document, b.Above)
	}
	want := metadata.Metadata{
		Tier: "gold", Annotations: map[string]string{"note": "hello"},
		Labels: map[string]string{"catalog.winnow.dev/tier": "gold", "team": "db"},
	}
	if !reflect.DeepEqual(a.Metadata, want) || !reflect.DeepEqual(b.Metadata, metadata.Metadata{}) {
		t.Errorf("the metadata are %v and %v", a.Metadata, b.Metadata)
	}
}

func TestDefinitionsNameTheLineInTheFile(t *testing.T) {
	content := definition("a") + "---\n" + strings.Replace(definition("b"), "name: b", "name: b\n  uid: x", 1) +
		"---\napiVersion: v1\nkind: List\n---\n" + definition("c") + "a: [\n"
	invalid := (formatCase{format: catalog.Definitions{}}).violations(t, files{"a.yaml": content}.fs())
	compare(t, invalid, []string{
		"a.yaml:12: metadata.uid is not allowed: it is the API server's",
		`a.yaml:17: is a "List", not an ApplicationDefinition: name the files of the catalog by include`,
		"a.yaml:25: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes",
	})
}

func TestFilesBesideDefinitionsAreOneViolation(t *testing.T) {
	const chart = "name: a\nversion: 1.0.0\n"
	former := strings.Replace(definition("a"), "kind: ApplicationDefinition", "kind: CozystackResourceDefinition", 1)
	for name, test := range map[string]struct {
		files files
		want  []string
	}{
		"charts, each with a directory of definitions": {
			files{"x-rd/Chart.yaml": chart, "x-rd/rds/x.yaml": definition("x"), "x-rd/templates/x.yaml": "{{ .Files.Get }}\n", "y-rd/rds/y.yaml": definition("y")},
			[]string{`.: 2 of 4 files have no ApplicationDefinition, such as "x-rd/Chart.yaml": name those that have one by include: "**/rds/*.yaml"`},
		},
		"a file of the templates of a chart": {
			files{"p/Chart.yaml": chart, "p/templates/ns.yaml": "kind: Namespace\n", "p/templates/rds.yaml": definition("x") + "---\n" + definition("y")},
			[]string{`.: 2 of 3 files have no ApplicationDefinition, such as "p/Chart.yaml": name those that have one by include: "**/rds.yaml"`},
		},
		"definitions above all other files": {
			files{"a.yaml": definition("a"), "b.yaml": definition("b"), "x/Chart.yaml": chart},
			[]string{`.: 1 of 3 files have no ApplicationDefinition, such as "x/Chart.yaml": name those that have one by include: "*.yaml"`},
		},
		"a directory with brackets, which a pattern cannot name": {
			files{"x[1]/a.yaml": definition("a"), "x[1]/y/Chart.yaml": chart},
			[]string{`.: 1 of 2 files have no ApplicationDefinition, such as "x[1]/y/Chart.yaml": name those that have one by include: "**/a.yaml"`},
		},
		"files without a pattern of their own": {
			files{"a.yaml": definition("a"), "b.yaml": definition("b"), "Chart.yaml": chart},
			[]string{"Chart.yaml:1: is no ApplicationDefinition: name the files of the catalog by include"},
		},
		"a definition within a template": {
			files{"Chart.yaml": chart, "templates/a.yaml": "{{- if .Values.a }}\n---\n" + definition("a") + "---\n{{- end }}\n"},
			[]string{
				`.: 1 of 2 files have no ApplicationDefinition, such as "Chart.yaml": name those that have one by include: "**/templates/*.yaml"`,
				"templates/a.yaml:1: is not valid YAML: did not find expected node content: a template has to be rendered first, or a text that begins with { needs quotes",
				"templates/a.yaml:10: is not valid YAML: did not find expected node content: a template has to be rendered first, or a text that begins with { needs quotes",
			},
		},
		"the former kind of Cozystack": {
			files{"a.yaml": former},
			[]string{"a.yaml:2: is a CozystackResourceDefinition, which Cozystack has renamed in 1.0: write kind: ApplicationDefinition, and spec.release.chartRef in place of chart"},
		},
	} {
		format, err := catalog.Detect(test.files.fs())
		if err != nil || format != (catalog.Definitions{}) {
			t.Errorf("%s: detected %v: %v", name, format, err)
		}
		t.Run(name, func(t *testing.T) {
			compare(t, (formatCase{format: catalog.Definitions{}}).violations(t, test.files.fs()), test.want)
		})
	}
	compare(t, violations(t, files{"applications/a/application.yaml": former}.fs()), []string{
		"applications/a/application.yaml:2: is a CozystackResourceDefinition, which Cozystack has renamed in 1.0: write kind: ApplicationDefinition, and spec.release.chartRef in place of chart",
	})
}

func TestDefinitionsBoundTheirNumber(t *testing.T) {
	many := strings.Repeat("a\n---\n", 20_001)
	got := (formatCase{format: catalog.Definitions{}}).violations(t, files{"a.yaml": many}.fs())
	if want := "a.yaml: has more documents than the 20000 that a catalog may have, together with the files before it"; got[0] != want {
		t.Errorf("violations: %s, want %s", got[0], want)
	}
}

// A cache of catalogs is bounded by their sizes.
func TestTheSizeOfDefinitionsHasTheWholeFiles(t *testing.T) {
	content := definition("a") + "---\n" + strings.Repeat("# a comment of no document\n", 10_000)
	loaded, err := catalog.Definitions{}.Load(t.Context(), files{"a.yaml": content}.fs())
	if err != nil || loaded.Size() < int64(len(content)) {
		t.Errorf("the size of a file of %d bytes is %d (%v)", len(content), loaded.Size(), err)
	}
}

func FuzzDefinitions(f *testing.F) {
	for _, content := range []string{
		"", "---\n", definition("x") + "---\n" + definition("y"), "# a\n---\n" + definition("x") + "...\n# b\n---\n", "%YAML 1.2\n---\na: b\n",
		definition("x") + "--- {a: b}\n", "a: |\n  ---\n---\n'\n---\n'\n", "\ufeff---\n" + definition("x"), "\xff---\n",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var size, above int
		for _, piece := range document.Split(content) {
			at := bytes.Index(content[size:], piece.Data)
			if at < 0 || piece.Above < above {
				t.Fatalf("the piece %q is not in the file, or above the last one", piece.Data)
			}
			size, above = size+at+len(piece.Data), piece.Above
		}
		fsys := fstest.MapFS{"a.yaml": {Data: bytes.Clone(content)}}
		loaded, err := catalog.Definitions{}.Load(t.Context(), fsys)
		again, errAgain := catalog.Definitions{}.Load(t.Context(), fsys)
		if !reflect.DeepEqual(loaded, again) || !reflect.DeepEqual(err, errAgain) {
			t.Fatalf("loading twice gives %v, %v and %v, %v", loaded, err, again, errAgain)
		}
		var invalid *violation.InvalidError
		if err != nil && (loaded != nil || !errors.As(err, &invalid) || len(invalid.Violations) == 0) {
			t.Fatalf("Load() = %v, %v, want violations", loaded, err)
		}
	})
}
