// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Union returns the objects of several instances, by the instances' names, each object once and all sorted as
// Build sorts them. Sources are shared, and so are namespaces, whose labels and annotations are merged. Anything
// else that two instances have in common is an error, which joins all problems, each an *Error. Releases are not
// compared: patches may change them later.
func Union(instances map[string][]Object) ([]Object, error) {
	u := union{owners: map[objectKey]owned{}, made: map[objectKey]owned{}}
	for _, name := range slices.Sorted(maps.Keys(instances)) {
		u.instance = name
		for _, object := range instances[name] {
			u.join(object)
			u.make(object)
		}
	}
	if err := u.problems.Err(u.instance); err != nil {
		return nil, err
	}
	var objects []Object
	for _, key := range u.owners {
		objects = append(objects, key.object)
	}
	slices.SortFunc(objects, CompareObjects)
	return objects, nil
}

type objectKey struct{ group, kind, namespace, name string }

// owned is an object, and the first instance that has it.
type owned struct {
	object   Object
	instance string
}

// union collects the objects of instances, and joins one instance at a time.
type union struct {
	instance string
	owners   map[objectKey]owned
	made     map[objectKey]owned
	problems Problems
}

// refuse adds a problem with a field of the instance.
func (u *union) refuse(path, format string, args ...any) {
	u.problems = append(u.problems, &Error{Instance: u.instance, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (u *union) join(object Object) {
	kind := object.GroupVersionKind()
	key := objectKey{kind.Group, kind.Kind, object.GetNamespace(), object.GetName()}
	first, isTaken := u.owners[key]
	switch {
	case !isTaken:
		u.owners[key] = owned{object: object, instance: u.instance}
	case object.Role == Namespace && first.object.Role == Namespace:
		u.owners[key] = owned{object: u.mergeNamespaces(first, object), instance: first.instance}
	case object.Role == OperatorGroup && first.object.Role == OperatorGroup && !reflect.DeepEqual(first.object.Object, object.Object):
		u.refuse("namespace", "the %s of the namespace %s would differ from the one of the instance %s, and OLM allows one: their operators watch other namespaces, or have other accounts: give one of them another namespace",
			kind.Kind, excerpt.Quoted(object.GetNamespace()), excerpt.Quoted(first.instance))
	case object.Role == Main || !reflect.DeepEqual(first.object.Object, object.Object):
		u.refuse("", "its %s %s also belongs to the instance %s: give one of them another name or namespace",
			kind.Kind, excerpt.Quoted(key.name), excerpt.Quoted(first.instance))
	}
}

// make refuses a second instance that leads to the same object: Cozystack makes it by other prefixes, or the instance has it.
func (u *union) make(object Object) {
	if object.Role != Main {
		return
	}
	makes := cmp.Or(object.Makes, object.GetKind()+" "+object.GetName())
	key := objectKey{kind: makes, namespace: object.GetNamespace()}
	first, isTaken := u.made[key]
	switch {
	case !isTaken:
		u.made[key] = owned{object: object, instance: u.instance}
	case object.Makes != "" || first.object.Makes != "":
		u.refuse("name", "with the prefix in its definition it is the %s in the namespace %s, as the instance %s is: give one of them another name",
			excerpt.Quoted(makes), excerpt.Quoted(key.namespace), excerpt.Quoted(first.instance))
	}
}

// mergeNamespaces returns a Namespace with the labels and annotations of two.
func (u *union) mergeNamespaces(first owned, second Object) Object {
	merged := Object{Unstructured: first.object.DeepCopy(), Role: Namespace}
	labels := u.mergePairs(first, second, "label", first.object.GetLabels(), second.GetLabels())
	annotations := u.mergePairs(first, second, "annotation", first.object.GetAnnotations(), second.GetAnnotations())
	if len(labels) > 0 {
		merged.SetLabels(labels)
	}
	if len(annotations) > 0 {
		merged.SetAnnotations(annotations)
	}
	return merged
}

func (u *union) mergePairs(first owned, second Object, what string, a, b map[string]string) map[string]string {
	merged := map[string]string{}
	maps.Copy(merged, a)
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if value, isSet := merged[name]; isSet && value != b[name] {
			u.refuse("createNamespace", "the namespace %s would get the %s %s with %s, and by the instance %s with %s: set createNamespace: false in one of them",
				excerpt.Quoted(second.GetName()), what, excerpt.Quoted(name), excerpt.Quoted(b[name]), excerpt.Quoted(first.instance), excerpt.Quoted(value))
		}
		merged[name] = cmp.Or(merged[name], b[name])
	}
	return merged
}
