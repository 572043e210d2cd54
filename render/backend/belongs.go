// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// Belongs reports whether an object is there for one of the main objects: its source, its default values, a namespace or an
// OperatorGroup.
func Belongs(object Object, mains []Object) bool {
	kind := object.GroupVersionKind().GroupKind()
	if kind == kinds.Namespace.GroupKind() || kind == kinds.OperatorGroup.GroupKind() {
		return true
	}
	return slices.ContainsFunc(mains, func(main Object) bool {
		return main.GetNamespace() == object.GetNamespace() && refersTo(main, object)
	})
}

// refersTo reports whether a main object refers to an object of its namespace.
func refersTo(main, object Object) bool {
	names := func(fields ...string) bool {
		reference, _, _ := unstructured.NestedStringMap(main.Object, fields...)
		return reference["kind"] == object.GetKind() && reference["name"] == object.GetName()
	}
	switch object.GroupVersionKind().GroupKind() {
	case kinds.OCIRepository.GroupKind(), kinds.HelmRepository.GroupKind():
		return names("spec", "chartRef") || names("spec", "chart", "spec", "sourceRef")
	case kinds.ConfigMap.GroupKind():
		found, _ := referenced(main, []Object{object})
		return len(found) > 0
	}
	return false
}
