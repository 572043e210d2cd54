// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// marksHaveNoOwner: an admission policy leaves no trace in managedFields.
func marksHaveNoOwner(t *testing.T, api client.Client, definition *unstructured.Unstructured) {
	own := map[string]string{"example.com/owner": "network"}
	object := create(t, api, definition, managed, own)
	patch(t, api, object, setLabel)
	for _, entry := range object.GetManagedFields() {
		if fields := entry.FieldsV1.GetRawString(); strings.Contains(fields, reconcile) || strings.Contains(fields, bypassMark) {
			t.Errorf("%s owns %s", entry.Manager, fields)
		}
	}
	applied := apply(t, api, definition, "controller", nil)
	if got := applied.GetAnnotations(); !maps.Equal(got, with(own, marks)) {
		t.Errorf("after an apply without the marks the annotations are %v", got)
	}
	patch(t, api, object, removeLabel)
	if got := object.GetAnnotations(); !maps.Equal(got, own) {
		t.Errorf("after the label the annotations are %v", got)
	}
}

// fluxEndsNoBypass: kustomize-controller takes over the fields that kubectl has set, and then no
// longer applies them. What another client no longer applies is gone.
func fluxEndsNoBypass(t *testing.T, api client.Client, definition *unstructured.Unstructured) {
	object := create(t, api, definition, managed, nil)
	for _, manager := range []string{"kustomize-controller", "admin"} {
		if got := apply(t, api, definition, manager, bypassed).GetAnnotations(); !maps.Equal(got, marks) {
			t.Fatalf("%s sets the label: the annotations are %v", manager, got)
		}
		left := apply(t, api, definition, manager, managed)
		_, labelled := left.GetLabels()[bypassLabel]
		want := map[string]string(nil)
		if manager == "kustomize-controller" {
			want = marks
		}
		if got := left.GetAnnotations(); !maps.Equal(got, want) || labelled != (want != nil) {
			t.Errorf("%s no longer applies the label: the annotations are %v, the labels %v", manager, got, left.GetLabels())
		}
		patch(t, api, object, removeLabel)
		if got := object.GetAnnotations(); len(got) > 0 {
			t.Errorf("after the label the annotations are %v", got)
		}
	}
}

// apply applies only labels, with force as Flux does, and returns the object.
func apply(t *testing.T, api client.Client, definition *unstructured.Unstructured, manager string, labels map[string]string) *unstructured.Unstructured {
	t.Helper()
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(definition.GroupVersionKind())
	applied.SetName(definition.GetName())
	applied.SetLabels(labels)
	if err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	return applied
}
