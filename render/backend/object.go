// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/value"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Role of an object decides what it is published with.
type Role string

// Roles.
const (
	// Definition is an application of the catalog. No backend makes one.
	Definition Role = "definition"
	// Main is the object whose deletion uninstalls the application.
	Main Role = "main"
	// Source is where charts come from. Instances share it.
	Source Role = "source"
	// Values are default values.
	Values Role = "values"
	// Shared is what several instances need as long as one of them is installed.
	Shared Role = "shared"
	// OperatorGroup belongs to a namespace. Without it OLM stops all operators of the namespace, and it does not stop an
	// operator whose Subscription goes, so it stays.
	OperatorGroup Role = "operatorGroup"
	// Namespace is one that an application runs in. Instances share it.
	Namespace Role = "namespace"
)

// Object is an object of an instance.
type Object struct {
	*unstructured.Unstructured

	Role Role
	// Bytes that the object takes as JSON.
	Bytes int
	// Makes is the <kind> <name> of what the platform makes of it in its namespace, such as a HelmRelease; empty if that is not known.
	Makes string
}

// Spec returns a part of the spec.
func (o Object) Spec(fields ...string) value.Value {
	return value.Of(o.Unstructured.Object).Get("spec").Get(fields...)
}

// Annotate adds annotations to the object.
func (o Object) Annotate(added map[string]string) {
	annotations := map[string]string{}
	maps.Copy(annotations, o.GetAnnotations())
	maps.Copy(annotations, added)
	o.SetAnnotations(annotations)
}

// YAML returns the object with sorted keys, written so that kustomize, which writes every object again, carries
// each value. How deep they are nested was checked where they were read.
func (o Object) YAML() ([]byte, error) {
	node, err := yamledit.OfJSON(o.Object, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return yamlnode.Encode(node)
}

// MainOf returns the main object among the objects of an instance: every backend makes one.
func MainOf(objects []Object) Object {
	return objects[slices.IndexFunc(objects, func(o Object) bool { return o.Role == Main })]
}

// CompareObjects orders objects by group, kind, namespace and name.
func CompareObjects(a, b Object) int {
	x, y := a.GroupVersionKind(), b.GroupVersionKind()
	return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Kind, y.Kind),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}
