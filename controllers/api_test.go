// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func rawSelection(t *testing.T, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection"}}
	object.SetName(name)
	object.SetNamespace(namespace)
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	object.Object["spec"] = content
	return object
}

// An empty list of fields differs from no list: it omits nothing.
func TestAnEmptyListOfFieldsToOmitIsKept(t *testing.T) {
	e := newEnvironment(t)
	for spec, want := range map[string]string{"omitFields: []": "[]\n", "suspend: true": "null\n"} {
		object := rawSelection(t, e.namespace, "kkp-"+spec[:1], "sources: [{name: catalog}]\n"+spec)
		if err := apiServer.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		cs := e.get(object.GetName())
		if got := toYAML(t, cs.Spec.OmitFields); got != want {
			t.Errorf("omitFields of {%s} are %q, want %q", spec, got, want)
		}
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	e := newEnvironment(t)
	object := rawSelection(t, e.namespace, "kkp", "sources: [{name: catalog}]")
	if err := apiServer.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	e.equal("spec", object.Object["spec"], map[string]any{
		"interval": "10m", "provenance": "Artifact", "requireMirrors": false,
		"safeguards": map[string]any{
			"onRemoval": "Hold", "onVersionRemoval": "Hold", "onMajorUpgrade": "Publish",
			"onIdentityChange": "Hold", "onSourceChange": "Publish", "onInstanceUpgrade": "HoldMajor",
		},
		"cluster": map[string]any{"bypass": "Honor", "unmanaged": "Ignore", "serve": "Compared"},
		"sources": []any{map[string]any{"kind": "OCIRepository", "name": "catalog", "format": "Auto", "requireVerified": false}},
	})
	e.equal("status", object.Object["status"], map[string]any{"observedGeneration": -1})
}
