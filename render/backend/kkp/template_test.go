// SPDX-License-Identifier: Apache-2.0

package kkp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/backend/kkp"
)

func TestTemplateProblems(t *testing.T) {
	const data, function = "is a template that needs ", "is a template with the function "
	const lacking = ", which KKP does not have"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"no template", "{ {x} }", nil},
		{"data of KKP", "{{ .Cluster.Name }}-{{ $.Cluster.Address.URL }}:{{ .Cluster.Address.Port }}", nil},
		{"any label", "{{ .Cluster.Labels.stage }}{{ index .Cluster.Annotations \"a/b\" }}", nil},
		{"functions of Go", "{{ printf \"%s\" .Cluster.Name | html }}{{ if not .Cluster.Labels }}x{{ end }}", nil},
		{"an escape for the chart", "{{ `{{ .Values.host }}` }}", nil},
		{"a value of the chart", "{{ .Values.host }}", []string{data + `".Values.host"` + lacking}},
		{"a misspelt field", "{{ .Cluster.Namex }}", []string{data + `".Cluster.Namex"` + lacking}},
		{"a field of a text", "{{ .Cluster.Version.Major }}{{ .Cluster.Labels.a.b }}", []string{
			data + `".Cluster.Version.Major"` + lacking, data + `".Cluster.Labels.a.b"` + lacking}},
		{"a field in brackets", "{{ (.Cluster).Namex }}", []string{data + `"(.Cluster).Namex"` + lacking}},
		{"a field as an argument", "{{ if eq $.Release.Name \"x\" }}y{{ end }}", []string{data + `"$.Release.Name"` + lacking}},
		{"a field of another dot", "{{ with .Cluster }}{{ .Name }}{{ .Namex }}{{ else }}{{ .Namex }}{{ end }}", []string{data + `".Namex"` + lacking}},
		{"a loop over labels", "{{ range $k, $v := .Cluster.Labels }}{{ $k }}={{ $v }}{{ .x }}{{ end }}", []string{data + `".x"` + lacking}},
		{"what is not known has everything", "{{ with index .Cluster.Labels \"x\" }}{{ .y }}{{ end }}", nil},
		{"a function of sprig, once", "{{ .Cluster.Name | upper }}{{ upper \"x\" }}", []string{function + `"upper"` + lacking}},
		{"functions of Helm", "{{ include \"x\" . | indent 2 }}", []string{function + `"include"` + lacking, function + `"indent"` + lacking}},
		{"a template of the chart", "{{ template \"x\" . }}", []string{`is a template that calls the template "x"` + lacking}},
		{"a template of its own", "{{ define \"x\" }}{{ .y }}{{ end }}{{ template \"x\" . }}", nil},
		{"a function in a template of its own", "{{ define \"x\" }}{{ upper $.y }}{{ end }}{{ block \"y\" . }}{{ lower .y }}{{ end }}", []string{
			function + `"upper"` + lacking, function + `"lower"` + lacking}},
		{"a variable of Prometheus", "{{ $labels.pod }}", []string{`is no valid template: "value:1: undefined variable \"$labels\""`}},
		{"more than is looked at", strings.Repeat("{{ .x }}", kkp.MaxActions+1), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := kkp.TemplateProblems(test.text); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestTheProblemsOfOneActionAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, " .x%d", i)
	}
	start := time.Now()
	problems := kkp.TemplateProblems("{{ print" + text.String() + " }}")
	if len(problems) == 0 || len(problems) > 100 || time.Since(start) > 5*time.Second {
		t.Errorf("%d problems in %v", len(problems), time.Since(start))
	}
}
