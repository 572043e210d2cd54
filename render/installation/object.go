// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Dir is the directory of the objects of instances in an artifact.
const Dir = "instances"

// FileOf returns the path of an object of an instance in the artifact.
func FileOf(object backend.Object) string {
	return File(KeyOf(object))
}

// File returns the path of the object with a key.
func File(key safeguard.Key) string {
	return path.Join(Dir, key.Namespace, strings.ToLower(key.Kind)+"-"+key.Name+".yaml")
}

// KeyOf returns the key of an object of an instance.
func KeyOf(object backend.Object) safeguard.Key {
	return safeguard.KeyOf(object.GroupVersionKind().Group, object.GetKind(), object.GetNamespace(), object.GetName())
}

// Object is an object of an instance.
type Object struct {
	Key  safeguard.Key
	Role backend.Role
}

func keysOf(objects []backend.Object) []Object {
	all := make([]Object, len(objects))
	for i, o := range objects {
		all[i] = Object{Key: KeyOf(o), Role: o.Role}
	}
	return all
}

// Patched returns the objects of instances as patches leave them: patched has the built objects, nil without patches.
func Patched(objects []backend.Object, patched map[safeguard.Key]kustomized.Object) []backend.Object {
	all := slices.Clone(objects)
	for i, object := range all {
		if content, ok := patched[KeyOf(object)]; ok {
			all[i].Unstructured = &unstructured.Unstructured{Object: content}
		}
	}
	return all
}
