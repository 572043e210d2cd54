package backend

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// ValuesOf returns the values that an object of an instance has, in its types: those of a main object, or the default
// values. They must not be changed. A patch may have changed them; then the error reports that they cannot be read.
func ValuesOf(object Object) (map[string]any, error) {
	at := func(fields ...string) map[string]any {
		value, _, _ := unstructured.NestedFieldNoCopy(object.Object, fields...)
		values, _ := value.(map[string]any)
		return values
	}
	switch object.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		return at("spec", "values"), nil
	case kinds.ApplicationInstallation.GroupKind():
		block, _, _ := unstructured.NestedString(object.Object, "spec", "valuesBlock")
		return DecodeValues([]byte(block))
	case kinds.Terraform.GroupKind():
		return variablesOf(object), nil
	case kinds.ClusterExtension.GroupKind():
		return nil, nil
	case kinds.Subscription.GroupKind():
		return at("spec", "config"), nil
	case kinds.ConfigMap.GroupKind():
		text, _, _ := unstructured.NestedString(object.Object, "data", DefaultsKey)
		return DecodeValues([]byte(text))
	}
	return at("spec"), nil
}

// DefaultsKey is the key of the default values in their ConfigMap.
const DefaultsKey = "values.yaml"

func variablesOf(object Object) map[string]any {
	values := map[string]any{}
	for _, element := range elements(object, "spec", "vars") {
		variable, _ := element.(map[string]any)
		if name, ok := variable["name"].(string); ok {
			values[name] = variable["value"]
		}
	}
	return values
}

// ReferencesOf returns what a HelmRelease has in valuesFrom, in its order; nil for other objects.
func ReferencesOf(main Object) []ValuesReference {
	var all []ValuesReference
	for _, element := range elements(main, "spec", "valuesFrom") {
		fields, _ := element.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		is := func(name string) bool { value, _ := fields[name].(bool); return value }
		all = append(all, ValuesReference{
			Kind: text("kind"), Name: text("name"), ValuesKey: text("valuesKey"), TargetPath: text("targetPath"),
			Literal: is("literal"), Optional: is("optional"),
		})
	}
	return all
}

// elements returns those of a list, which may have the types of kustomize.
func elements(object Object, fields ...string) []any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, fields...)
	list, _ := value.([]any)
	return list
}
