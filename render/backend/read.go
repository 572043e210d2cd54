// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// ValuesOf returns the values that an object of an instance has, in its types: the values of a main object, or the
// default values. They must not be changed. If a patch has made them unreadable, it returns an error.
func ValuesOf(object Object) (map[string]any, error) {
	values := raw(object)
	switch {
	case object.GroupVersionKind().GroupKind() == kinds.Terraform.GroupKind():
		return variablesOf(values), nil
	case values.IsText():
		return DecodeValues([]byte(values.Text()))
	}
	return values.Mapping(), nil
}

// raw returns the field of an object that ValuesOf reads.
func raw(object Object) value.Value {
	switch object.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		return object.Spec("values")
	case kinds.ApplicationInstallation.GroupKind():
		if block := object.Spec("valuesBlock"); block.Text() != "" {
			return block
		}
		return object.Spec("values") // where a patch sets them, KKP reads them
	case kinds.Terraform.GroupKind():
		return object.Spec("vars")
	case kinds.Subscription.GroupKind():
		return object.Spec("config")
	case kinds.ClusterExtension.GroupKind():
		return value.Value{}
	case kinds.ConfigMap.GroupKind():
		return value.Of(object.Object).Get("data", DefaultsKey)
	}
	return object.Spec()
}

// DefaultsKey is the key of the default values in their ConfigMap.
const DefaultsKey = "values.yaml"

func variablesOf(vars value.Value) map[string]any {
	values := map[string]any{}
	for _, variable := range vars.Items() {
		if name := variable.Get("name"); name.IsText() {
			values[name.Text()] = variable.Get("value").Content
		}
	}
	return values
}

// ReferencesOf returns what a HelmRelease has in valuesFrom, in its order; nil for other objects.
func ReferencesOf(main Object) []v1alpha1.ValuesReference {
	return each.Map(main.Spec("valuesFrom").Items(), func(from value.Value) v1alpha1.ValuesReference {
		return v1alpha1.ValuesReference{
			Kind: from.Get("kind").Text(), Name: from.Get("name").Text(), ValuesKey: from.Get("valuesKey").Text(),
			TargetPath: from.Get("targetPath").Text(), Literal: from.Get("literal").IsTrue(), Optional: from.Get("optional").IsTrue(),
		}
	})
}
