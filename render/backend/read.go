// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// ValuesOf returns the values that an object of an instance has, in its types: the values of a main object, or the
// default values. They must not be changed. If a patch has made them unreadable, it returns an error.
func ValuesOf(object Object) (map[string]any, error) {
	value := raw(object)
	switch object.GroupVersionKind().GroupKind() {
	case kinds.Terraform.GroupKind():
		return variablesOf(value), nil
	}
	if text, isText := value.(string); isText {
		return DecodeValues([]byte(text))
	}
	values, _ := value.(map[string]any)
	return values, nil
}

// raw returns the field of an object that ValuesOf reads.
func raw(object Object) any {
	fields := []string{"spec"}
	switch object.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		fields = []string{"spec", "values"}
	case kinds.ApplicationInstallation.GroupKind():
		fields = []string{"spec", "valuesBlock"}
		if text, _, _ := unstructured.NestedString(object.Object, fields...); text == "" {
			fields = []string{"spec", "values"} // where a patch sets them, KKP reads them
		}
	case kinds.Terraform.GroupKind():
		fields = []string{"spec", "vars"}
	case kinds.Subscription.GroupKind():
		fields = []string{"spec", "config"}
	case kinds.ClusterExtension.GroupKind():
		return nil
	case kinds.ConfigMap.GroupKind():
		fields = []string{"data", DefaultsKey}
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, fields...)
	return value
}

// DefaultsKey is the key of the default values in their ConfigMap.
const DefaultsKey = "values.yaml"

func variablesOf(vars any) map[string]any {
	list, _ := vars.([]any)
	values := map[string]any{}
	for _, element := range list {
		variable, _ := element.(map[string]any)
		if name, ok := variable["name"].(string); ok {
			values[name] = variable["value"]
		}
	}
	return values
}

// ReferencesOf returns what a HelmRelease has in valuesFrom, in its order; nil for other objects.
func ReferencesOf(main Object) []v1alpha1.ValuesReference {
	var all []v1alpha1.ValuesReference
	for _, element := range elements(main, "spec", "valuesFrom") {
		fields, _ := element.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		is := func(name string) bool { value, _ := fields[name].(bool); return value }
		all = append(all, v1alpha1.ValuesReference{
			Kind: text("kind"), Name: text("name"), ValuesKey: text("valuesKey"), TargetPath: text("targetPath"),
			Literal: is("literal"), Optional: is("optional"),
		})
	}
	return all
}

// elements returns the elements of a list, which may have the types of kustomize.
func elements(object Object, fields ...string) []any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, fields...)
	list, _ := value.([]any)
	return list
}
