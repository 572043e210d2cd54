// SPDX-License-Identifier: Apache-2.0

package rendering_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
)

// What helm 3.22.0 and 4.2.4 print was read from the real ones: test/compat compares with them.
func TestHelm3AndHelm4Differ(t *testing.T) {
	const (
		shown   = "a: {{ toJson .Values }}"
		subYAML = "apiVersion: v2\nname: sub\nversion: 1.0.0\n"
		listed  = "dependencies: [{name: sub, version: 1.0.0, condition: sub.enabled}]\n"
	)
	for _, test := range []struct {
		name   string
		files  map[string]string
		values string
		want3  string
		want4  string
	}{
		{"a null of the chart's own", map[string]string{"values.yaml": "own: null\nmap: {a: null, b: 1}"}, "",
			`a: {"map":{"a":null,"b":1},"own":null}`, `a: {"map":{"b":1}}`},
		{"a null that a schema refuses", map[string]string{"values.yaml": "own: null", "values.schema.json": `{"properties":{"own":{"type":"string"}}}`}, "",
			`the values do not satisfy values.schema.json of web: - at '/own': got null, want string (by the rules of Helm 3, which KKP has)`, `a: {}`},
		{"values that replace a null", map[string]string{"values.yaml": "own: null\nmap: {a: null}"}, "own: 1\nmap: {a: 2}",
			`a: {"map":{"a":2},"own":1}`, `a: {"map":{"a":2},"own":1}`},
		{"values that remove a default", map[string]string{"values.yaml": "own: 1\nmap: {a: 1}"}, "own: null\nmap: {a: null}",
			`a: {"map":{}}`, `a: {"map":{}}`},
		{"a null for a chart in it", map[string]string{
			"values.yaml": "sub: {key: null, map: {a: null}}", "charts/sub/Chart.yaml": subYAML, "charts/sub/values.yaml": "key: 1\nmap: {a: 1, b: 2}",
		}, "", `a: {"sub":{"global":{},"map":{"b":2}}}`, `a: {"sub":{"global":{},"key":1,"map":{"a":1,"b":2}}}`},
		{"a null for a chart in it, by another name", map[string]string{
			"Chart.yaml": "dependencies: [{name: sub, version: 1.0.0, alias: db}]\n", "values.yaml": "db: {key: null}",
			"charts/sub/Chart.yaml": subYAML, "charts/sub/values.yaml": "key: 1",
		}, "", `a: {"db":{"global":{}}}`, `a: {"db":{"global":{},"key":1}}`},
		{"a global null, and one that is not", map[string]string{
			"values.yaml": "global: {none: null, a: 1}", "charts/sub/Chart.yaml": subYAML, "charts/sub/values.yaml": "global: {none: 2, b: 3}",
		}, "", `a: {"global":{"a":1,"none":null},"sub":{"global":{"a":1,"b":3}}}`, `a: {"global":{"a":1},"sub":{"global":{"a":1,"b":3,"none":2}}}`},
		{"a null in place of a chart in it", map[string]string{"values.yaml": "sub: null", "charts/sub/Chart.yaml": subYAML}, "",
			"the values of web/charts/sub are no mapping, but <nil> (by the rules of Helm 3, which KKP has)", `a: {"sub":{"global":{}}}`},
		{"a null for the condition of a chart in it", map[string]string{
			"Chart.yaml": listed, "values.yaml": "sub: {enabled: null}", "charts/sub/Chart.yaml": subYAML, "charts/sub/values.yaml": "enabled: false",
			"charts/sub/templates/s.yaml": "s: 1",
		}, "", `s: 1; a: {"sub":{"global":{}}}`, `a: {"sub":{}}`},
		{"a chart in it that is off", map[string]string{
			"Chart.yaml": listed, "values.yaml": "sub: {enabled: false, key: null}", "charts/sub/Chart.yaml": subYAML, "charts/sub/values.yaml": "enabled: true\nkey: 1",
		}, "", `a: {"sub":{"enabled":false,"key":null}}`, `a: {"sub":{"enabled":false}}`},
		{"several documents", map[string]string{"values.yaml": "a: 1\nb: 1\n---\na: 2\n"}, "", `a: {"a":1,"b":1}`, `a: {"a":2,"b":1}`},
		{"several documents of a chart in it", map[string]string{"charts/sub/Chart.yaml": subYAML, "charts/sub/values.yaml": "a: 1\n---\na: 2\n"}, "",
			`a: {"sub":{"a":1,"global":{}}}`, `a: {"sub":{"a":2,"global":{}}}`},
		{"a second document that is no mapping", map[string]string{"values.yaml": "a: 1\n---\n- b\n"}, "", `a: {"a":1}`,
			"cannot load values.yaml: cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {} (by the rules of Helm 4, which Flux has)"},
		{"an empty document, and one behind it", map[string]string{"values.yaml": "---\n---\na: 1\n"}, "", `a: {}`, `a: {"a":1}`},
		{"the format v3", map[string]string{"Chart.yaml": "apiVersion: v3\n"}, "", `a: {}`, `its apiVersion is "v3", want v1 or v2 (by the rules of Helm 4, which Flux has)`},
		{"a function that only Helm 4 has", map[string]string{"templates/a.yaml": "a: {{ mustToYaml .Values }}"}, "",
			`template: web/templates/a.yaml:1:6: executing "web/templates/a.yaml" at <mustToYaml .Values>: error calling mustToYaml: function "mustToYaml" not defined (by the rules of Helm 3, which KKP has)`, "a: {}"},
		{"the version of Helm", map[string]string{"templates/a.yaml": "a: {{ .Capabilities.HelmVersion.Version | trunc 3 }}"}, "", "a: v3.", "a: v4."},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := fstest.MapFS{"templates/a.yaml": {Data: []byte(shown)}}
			for name, text := range test.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			about := test.files["Chart.yaml"]
			if !strings.Contains(about, "apiVersion") {
				about = "apiVersion: v2\n" + about
			}
			files["Chart.yaml"] = &fstest.MapFile{Data: []byte(about + "name: web\nversion: 1.0.0\n")}
			if got := shownBy(t, files, test.values, true); got != test.want3 {
				t.Errorf("Helm 3: %s\nwant    %s", got, test.want3)
			}
			if got := shownBy(t, files, test.values, false); got != test.want4 {
				t.Errorf("Helm 4: %s\nwant    %s", got, test.want4)
			}
		})
	}
}

// shownBy returns the manifests of a chart, or why it is refused.
func shownBy(t *testing.T, files fstest.MapFS, values string, isHelm3 bool) string {
	t.Helper()
	packed, err := fetching.Pack(t.Context(), "web", files)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := rendering.Do(t.Context(), rendering.Request{
		Chart: packed, Values: [][]byte{[]byte(values)}, ReleaseName: "web", Namespace: "apps", KubeVersion: "v1.36.0", IsHelm3: isHelm3,
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Refused != "" {
		return answer.Refused
	}
	if one := answer.Renders[0]; one.Refused != "" {
		return one.Refused
	}
	var texts []string
	for _, m := range answer.Renders[0].Manifests {
		texts = append(texts, strings.TrimSpace(m.Text))
	}
	return strings.Join(texts, "; ")
}
