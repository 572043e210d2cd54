// SPDX-License-Identifier: Apache-2.0

package unread_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
)

// load loads a chart named web, whose Chart.yaml is there unless the files have one.
func load(t testing.TB, files map[string]string) *chart.Chart {
	t.Helper()
	all := []*archive.BufferedFile{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n" + files["+"])}}
	for name, content := range files {
		if name != "+" {
			all = append(all, &archive.BufferedFile{Name: name, Data: []byte(content)})
		}
	}
	c, err := loader.LoadFiles(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func keys(t testing.TB, c *chart.Chart, given string) (all []string) {
	t.Helper()
	values, err := loader.LoadValues(bytes.NewReader([]byte(given)))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range unread.Keys(c, values) {
		name := key.Name
		if key.Nearest != "" {
			name = fmt.Sprintf("%s, near %s", key.Name, key.Nearest)
		}
		all = append(all, name)
	}
	return all
}

func TestWhatATemplateReads(t *testing.T) {
	nothing := []string(nil)
	for _, test := range []struct {
		name, template string
		want           []string // of the values {tag: 1, tga: 2}
	}{
		{"nothing", `a: b`, []string{"tag", "tga"}},
		{"a field", `{{ .Values.tag }}`, []string{"tga, near tag"}},
		{"a field below it", `{{ .Values.tag.image }}`, []string{"tga, near tag"}},
		{"a field of the data", `{{ range .Values.x }}{{ $.Values.tag }}{{ end }}`, []string{"tga, near tag"}},
		{"a field behind parentheses", `{{ ((.Values).tag).x }}`, []string{"tga, near tag"}},
		{"a field of what another template is given", `{{ define "x" }}{{ .context.Values.tag }}{{ end }}{{ include "x" (dict "context" $) }}`, []string{"tga, near tag"}},
		{"index", `{{ index .Values "tag" "x" }}`, []string{"tga, near tag"}},
		{"get", `{{ get .Values "tag" }}`, []string{"tga, near tag"}},
		{"hasKey", `{{ if hasKey .Values "tag" }}{{ end }}`, []string{"tga, near tag"}},
		{"set", `{{ $_ := set .Values "tag" 1 }}`, []string{"tga, near tag"}},
		{"pick", `{{ toYaml (pick .Values "tag" "x") }}`, []string{"tga, near tag"}},
		{"dig", `{{ dig "tag" "x" 1 .Values.AsMap }}`, []string{"tga, near tag"}},
		{"dig behind a pipe", `{{ .Values | dig "tag" "x" 1 }}`, []string{"tga, near tag"}},
		{"a variable", `{{ $v := .Values }}{{ $v.tag }}`, []string{"tga, near tag"}},
		{"a variable that a loop sets", `{{ $v := dict }}{{ range $x := list 1 2 }}{{ $v.tag }}{{ $v = $.Values }}{{ end }}`, []string{"tga, near tag"}},
		{"with", `{{ with .Values }}{{ .tag }}{{ $.Values.x }}{{ end }}`, []string{"tga, near tag"}},
		{"with else", `{{ with .x }}{{ .tga }}{{ else }}{{ .Values.tag }}{{ end }}`, []string{"tga, near tag"}},
		{"an else", `{{ if .x }}{{ else if .y }}{{ else }}{{ .Values.tag }}{{ end }}`, []string{"tga, near tag"}},
		{"a condition on all values", `{{ if .Values }}{{ .Values.tag }}{{ end }}`, []string{"tga, near tag"}},
		{"the values by their name", `{{ define "x" }}{{ .Values.tag }}{{ end }}{{ include "x" (dict "Values" .Values "Chart" .Chart) }}`, []string{"tga, near tag"}},
		{"a template that is not included", `{{ define "x" }}{{ .Values.tag }}{{ toYaml .Values }}{{ end }}`, []string{"tag", "tga"}},
		{"a template that is included", `{{ define "x" }}{{ .Values.tag }}{{ end }}{{ template "x" . }}`, []string{"tga, near tag"}},
		{"one that an included one includes", `{{ define "x" }}{{ .Values.tag }}{{ end }}{{ define "y" }}{{ include "x" . }}{{ end }}{{ include "y" . }}`, []string{"tga, near tag"}},
		{"one with a name that is not in the text", `{{ define "x" }}{{ .Values.tag }}{{ end }}{{ include (printf "%s" .x) . }}`, []string{"tga, near tag"}},
		{"one whose name is the result of a command", `{{ define "x" }}{{ .Values.tag }}{{ end }}{{ .x | include }}`, []string{"tga, near tag"}},
		{"another file", `{{ include (print $.Template.BasePath "/x.yaml") . }}{{ define "x" }}{{ .Values.tag }}{{ end }}`, []string{"tag", "tga"}},
		{"a text that becomes a template", `{{ tpl "{{ .Values.tag }}" . }}`, []string{"tga, near tag"}},
		{"a text that becomes one by another text", `{{ tpl (printf "{{ %s }}" ".Values.tag") . }}`, []string{"tga, near tag"}},
		{"a field of another one's name", `{{ .Release.tag }}`, []string{"tag", "tga"}},

		{"all as YAML", `{{ toYaml .Values }}`, nothing},
		{"all behind a pipe", `{{ .Values | toYaml | sha256sum }}`, nothing},
		{"all that it is given", `{{ toYaml . }}`, nothing},
		{"all that it is given, from a loop", `{{ range .x }}{{ toJson $ }}{{ end }}`, nothing},
		{"a loop over all", `{{ range $k, $v := .Values }}{{ end }}`, nothing},
		{"a loop over all that it is given", `{{ range . }}{{ end }}`, nothing},
		{"a key of a variable", `{{ index .Values $.x }}`, nothing},
		{"all under another name", `{{ include "x" (dict "data" .Values) }}`, nothing},
		{"all as the data of a template", `{{ template "x" .Values }}`, nothing},
		{"all as the data of an included one", `{{ include "x" .Values }}`, nothing},
		{"all, merged", `{{ $v := merge (dict) .Values }}`, nothing},
		{"all, printed", `{{ .Values }}`, nothing},
		{"all, from a variable", `{{ $v := .Values }}{{ toYaml $v }}`, nothing},
		{"all, by the name of the field", `{{ index . "Values" "tag" }}`, nothing},
		{"all by a method", `{{ .Values.YAML }}`, nothing},
		{"all but some", `{{ toYaml (omit .Values "x") }}`, nothing},
		{"all in an included template", `{{ define "x" }}{{ toYaml .Values }}{{ end }}{{ include "x" . }}`, nothing},
		{"all in a text", `{{ tpl "{{ toYaml .Values }}" . }}`, nothing},
		{"all in a text that is no template yet", `{{ tpl (printf "{{ toYaml .Values %s" "}}") . }}`, nothing},
		{"a template that is none", `{{ .Values.tag`, nothing},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := load(t, map[string]string{"templates/a.yaml": test.template})
			if got := keys(t, c, "tag: 1\ntga: 2\n"); !slices.Equal(got, test.want) {
				t.Errorf("Keys() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhatAChartReads(t *testing.T) {
	db := func(more string) string { return "apiVersion: v2\nname: db\nversion: 1.2.0\n" + more }
	for _, test := range []struct {
		name  string
		files map[string]string
		given string
		want  []string
	}{
		{"global values", nil, "global: {}", nil},
		{"keys that keep anchors", nil, "x-a: 1\n_a: 1\n.a: 1\na: 1\n", []string{"a"}},
		{"a key without a value", nil, "a: null", []string{"a"}},
		{"no values", nil, "", nil},
		{"a key of values.yaml", map[string]string{"values.yaml": "replicas: 1"}, "replicas: 2\nreplica: 1", []string{"replica, near replicas"}},
		{"no templates", map[string]string{"values.yaml": "a: 1"}, "bb: 1", []string{"bb"}},
		{"notes", map[string]string{"templates/NOTES.txt": "{{ .Values.a }}"}, "a: 1", nil},
		{"a chart in it", map[string]string{"charts/db/Chart.yaml": db("")}, "db: {}\nhost: {}", []string{"host"}},
		{"one with an alias", map[string]string{
			"+": "dependencies: [{name: db, version: 1.x, alias: main}, {name: db, version: 1.x, alias: other}]", "charts/db/Chart.yaml": db(""),
		}, "db: {}\nmain: {}\nother: {}", []string{"db"}},
		{"one with an alias, in another version", map[string]string{
			"+": "dependencies: [{name: db, version: 2.x, alias: main}]", "charts/db/Chart.yaml": db(""),
		}, "db: {}\nmain: {}", nil},
		{"one that is missing", map[string]string{"+": "dependencies: [{name: db, version: 1.x}]"}, "db: {}", nil},
		{"conditions", map[string]string{"+": "dependencies: [{name: db, version: 1.x, condition: 'database.enabled, cache'}]"}, "database: {}\ncache: true\nenabled: true", []string{"enabled"}},
		{"no tags", map[string]string{"+": "dependencies: [{name: db, version: 1.x}]"}, "tags: {}", []string{"tags"}},
		{"tags", map[string]string{"+": "dependencies: [{name: db, version: 1.x, tags: [x]}]"}, "tags: {x: false}\nx: 1", []string{"x"}},
		{"tags of a chart in it", map[string]string{"charts/db/Chart.yaml": db("dependencies: [{name: y, version: 1.x, tags: [x]}]")}, "tags: {x: false}", nil},
		{"values that are exported", map[string]string{
			"+":                    "dependencies: [{name: db, version: 1.x, import-values: [data]}]",
			"charts/db/Chart.yaml": db(""), "charts/db/values.yaml": "exports: {data: {port: 1}}",
		}, "port: 1\ndata: 1", []string{"data"}},
		{"values that are imported", map[string]string{
			"+":                    "dependencies: [{name: db, version: 1.x, import-values: [{child: a.b, parent: x.y}, {child: a, parent: .}]}]",
			"charts/db/Chart.yaml": db(""), "charts/db/values.yaml": "a: {b: {c: 1}}",
		}, "x: 1\nb: 1\na: 1\nc: 1", []string{"a", "c"}},
		{"a template of a chart in it, which has other values", map[string]string{
			"charts/db/Chart.yaml": db(""), "charts/db/templates/a.yaml": "{{ .Values.port }}{{ toYaml .Values }}",
		}, "port: 1", []string{"port"}},
		{"a named template of a library", map[string]string{
			"charts/db/Chart.yaml": db("type: library\n"), "charts/db/templates/_a.tpl": `{{ define "x" }}{{ .Values.port }}{{ end }}{{ define "y" }}{{ .Values.host }}{{ end }}`,
			"templates/a.yaml": `{{ include "x" . }}`,
		}, "port: 1\nhost: 1", []string{"host, near port"}},
		{"a file that becomes a template", map[string]string{
			"templates/a.yaml": `{{ tpl (.Files.Get "files/a") . }}`, "files/a": "{{ .Values.port }}",
		}, "port: 1\nhost: 1", []string{"host, near port"}},
		{"a file that becomes none", map[string]string{"templates/a.yaml": `{{ .Files.Get "files/a" }}`, "files/a": "{{ .Values.port }}"}, "port: 1", []string{"port"}},
		{"a value that becomes a template", map[string]string{"templates/a.yaml": `{{ tpl .Values.text . }}`}, "port: 1\nother: 1\ntext: ['{{ .Values.port }}']", []string{"other"}},
		{"a value of the chart that becomes one", map[string]string{
			"templates/a.yaml": `{{ tpl .Values.text . }}`, "values.yaml": "text: '{{ .Values.port }}'",
		}, "port: 1\nother: 1", []string{"other"}},
		{"a value with a part of one", map[string]string{"templates/a.yaml": `{{ tpl .Values.text . }}`}, "port: 1\ntext: '{{ if .Values }}'", nil},
		{"a schema", map[string]string{"values.schema.json": `{"properties": {"a": {"properties": {"b": {}}}}, "allOf": [{"properties": {"c": {}}}],
			"if": {"properties": {"d": {}}}, "$ref": "#/$defs/x", "$defs": {"x": {"properties": {"e": {}}}}, "dependentSchemas": {"a": {"properties": {"f": {}}}}}`,
		}, "{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1}", []string{"b"}},
		{"a schema with patterns", map[string]string{"values.schema.json": `{"patternProperties": {"^a": {}}}`}, "b: 1", nil},
		{"a schema elsewhere", map[string]string{"values.schema.json": `{"$ref": "https://example.com/x.json"}`}, "b: 1", nil},
		{"a schema that is its own part", map[string]string{"values.schema.json": `{"$ref": "#"}`}, "b: 1", nil},
		{"a schema that is none", map[string]string{"values.schema.json": `[`}, "b: 1", []string{"b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := keys(t, load(t, test.files), test.given); !slices.Equal(got, test.want) {
				t.Errorf("Keys() = %q, want %q", got, test.want)
			}
		})
	}
}
