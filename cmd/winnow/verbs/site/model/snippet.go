// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// snippet returns a CatalogSelection that selects an application of a source.
func snippet(application, source string) string {
	type names struct {
		NameSelector []string `json:"nameSelector"`
	}
	limit, _ := yaml.Marshal(map[string]any{"limit": names{[]string{application}}})              // texts are always YAML
	sources, _ := yaml.Marshal(map[string]any{"sources": []map[string]string{{"name": source}}}) // as above
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: applications\n  namespace: flux-system\nspec:\n  interval: 10m\n" +
		indented(string(sources)) + indented(string(limit))
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("  " + line)
	}
	return out.String()
}
