// SPDX-License-Identifier: Apache-2.0

package unread_test

import (
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
)

// A key that a template has as a field of the values is read, whatever stands around it.
func FuzzKeys(f *testing.F) {
	f.Add(`{{ define "x" }}{{ end }}`, `{"properties": {"a": {}}}`)
	f.Add(`{{ with .Values }}{{ .tag | include }}{{ end }}`, `{"$ref": "#/$defs/a"}`)
	f.Add(`{{ range $k, $v := dict "Values" .Values }}{{ index $v (list 1) }}{{ end }}`, `[`)
	f.Fuzz(func(t *testing.T, template, schema string) {
		c := load(t, map[string]string{
			"templates/a.yaml": template, "templates/b.yaml": "{{ .Values.tag }}{{ tpl .Values.text . }}", "values.schema.json": schema,
		})
		for _, key := range unread.Keys(c, map[string]any{"tag": 1, "text": template, "other": nil}) {
			if key.Name != "other" {
				t.Errorf("it does not read %s", key.Name)
			}
		}
	})
}
