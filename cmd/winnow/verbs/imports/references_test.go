// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"slices"
	"testing"
)

// The configuration of the documentation of OLM.
func TestTheDocumentedCompositionIsRead(t *testing.T) {
	found, err := compositionIn("catalog.yaml", []byte(`name: community-operators
repo: quay.io/community-operators/catalog
tag: latest
references:
- name: etcd-operator
  image: quay.io/etcd-operator/index@sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
- name: prometheus-operator
  image: quay.io/prometheus-operator/index@sha256:e258d248fda94c63753607f7c4494ee0fcbe92f1a76bfdac795c9d84101eb317
`))
	if err != nil || found == nil {
		t.Fatalf("%v, %v", found, err)
	}
	want := []reference{
		{"etcd-operator", "quay.io/etcd-operator/index@sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"},
		{"prometheus-operator", "quay.io/prometheus-operator/index@sha256:e258d248fda94c63753607f7c4494ee0fcbe92f1a76bfdac795c9d84101eb317"},
	}
	if found.push != "oci://quay.io/community-operators/catalog:latest" || !slices.Equal(found.references, want) {
		t.Errorf("read %+v", found)
	}
}

func TestOtherFilesAreNoCompositions(t *testing.T) {
	for name, content := range map[string]string{
		"a manifest with the field":  "kind: ConfigMap\nreferences: []\n",
		"the word in a value":        "name: references\n",
		"what is not valid YAML":     "references: [",
		"a list":                     "- references\n",
		"a definition with the word": "kind: ApplicationDefinition\nspec: {description: references}\n",
	} {
		if found, err := compositionIn("a.yaml", []byte(content)); found != nil || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
