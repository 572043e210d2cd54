// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// builtObjects are the objects of the instances of two sides.
type builtObjects struct {
	before, after map[safeguard.Key]kustomized.Object
}

// buildInstances builds the objects of the instances on both sides.
func buildInstances(ctx context.Context, from, to *Side, names []string) (built builtObjects, err error) {
	if built.before, err = from.result().InstanceObjects(ctx, names); err != nil {
		return built, err
	}
	built.after, err = to.result().InstanceObjects(ctx, names)
	return built, err
}

// compare sets the changes of the values and of the other fields of an instance.
func (b builtObjects) compare(out *diff.Instance, before, after *installation.Instance) {
	older, err := valuesIn(b.before, before)
	newer, invalid := valuesIn(b.after, after)
	if err == nil && invalid == nil && older != newer {
		out.Values = textValues("values", older, newer)
	}
	var changes []fielddiff.Change
	for _, role := range []backend.Role{backend.Main, backend.Source, backend.OperatorGroup, backend.Namespace} {
		for _, c := range fielddiff.Of(plain(b.before, before, role), plain(b.after, after, role)) {
			if role != backend.Main {
				c.Path = slices.Insert(c.Path, 0, string(role))
			}
			if out.Upgrade == nil || !followsVersion(c) {
				changes = append(changes, c)
			}
		}
	}
	out.Fields, out.FieldsOmitted = fielddiff.Bounded(changes, fielddiff.MaxFields)
}

// objectOf returns the first object of an instance with a role; nil if it has none.
func objectOf(built map[safeguard.Key]kustomized.Object, in *installation.Instance, role backend.Role) kustomized.Object {
	object, _ := each.First(in.Objects, func(o installation.Object) bool { return o.Role == role })
	return built[object.Key]
}

// valuesIn returns the values of an instance over the default values, as YAML. A null, which deletes what is under it,
// stays.
func valuesIn(built map[safeguard.Key]kustomized.Object, in *installation.Instance) (string, error) {
	var all [2]map[string]any
	for i, role := range []backend.Role{backend.Values, backend.Main} {
		object := objectOf(built, in, role)
		if object == nil {
			continue
		}
		var err error
		if all[i], err = backend.ValuesOf(backend.Object{Unstructured: &unstructured.Unstructured{Object: object}, Role: role}); err != nil {
			return "", err
		}
	}
	merged := backend.MergeValues(all[0], all[1])
	if len(merged) == 0 {
		return "", nil
	}
	text, err := yaml.Marshal(merged)
	return string(text), err
}

// plain returns an object of an instance without its values, its identity, and what follows from other changes: names
// with a digest of content, and annotations on what is installed.
func plain(built map[safeguard.Key]kustomized.Object, in *installation.Instance, role backend.Role) map[string]any {
	object := &unstructured.Unstructured{Object: objectOf(built, in, role)}
	if object.Object == nil {
		return nil
	}
	object = object.DeepCopy()
	for _, path := range [][]string{
		{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"},
		{"metadata", "annotations", v1alpha1.VersionAnnotation}, {"metadata", "annotations", v1alpha1.ApplicationAnnotation},
		{"spec", "values"}, {"spec", "valuesBlock"}, {"spec", "vars"},
		{"spec", "releaseName"}, {"spec", "storageNamespace"}, {"spec", "targetNamespace"}, {"spec", "namespace", "name"},
	} {
		unstructured.RemoveNestedField(object.Object, path...)
	}
	switch {
	case role == backend.Source:
		return map[string]any{"spec": object.Object["spec"]}
	case role != backend.Main:
		return object.Object
	case in.Backend == backend.CozystackApplication:
		delete(object.Object, "spec") // nothing but values
	case in.Backend == backend.Helm:
		withoutOwnNames(object, in)
	case in.Backend == backend.ClusterExtension:
		unstructured.RemoveNestedField(object.Object, "spec", "namespace")
		unstructured.RemoveNestedField(object.Object, "spec", "source", "catalog", "packageName")
	case in.Backend == backend.Subscription:
		unstructured.RemoveNestedField(object.Object, "spec", "config")
		unstructured.RemoveNestedField(object.Object, "spec", "name")
	}
	return object.Object
}

// withoutOwnNames removes the names of the sources and default values of an instance from its HelmRelease.
func withoutOwnNames(object *unstructured.Unstructured, in *installation.Instance) {
	isOwn := func(name any) bool {
		return slices.ContainsFunc(in.Objects, func(o installation.Object) bool {
			return o.Key.Name == name && (o.Role == backend.Source || o.Role == backend.Values)
		})
	}
	for _, path := range [][]string{{"spec", "chartRef", "name"}, {"spec", "chart", "spec", "sourceRef", "name"}} {
		if name, found, _ := unstructured.NestedString(object.Object, path...); found && isOwn(name) {
			unstructured.RemoveNestedField(object.Object, path...)
		}
	}
	list, found, _ := unstructured.NestedSlice(object.Object, "spec", "valuesFrom")
	if !found {
		return
	}
	list = slices.DeleteFunc(list, func(element any) bool {
		reference, _ := element.(map[string]any)
		return isOwn(reference["name"])
	})
	if len(list) == 0 {
		unstructured.RemoveNestedField(object.Object, "spec", "valuesFrom")
		return
	}
	_ = unstructured.SetNestedSlice(object.Object, list, "spec", "valuesFrom") // its path is there
}

// followsVersion reports whether a field states which version is installed.
func followsVersion(c fielddiff.Change) bool {
	return c.IsAt(string(backend.Source), "spec", "ref") || c.IsAt("spec", "chart", "spec", "version") || c.IsAt("spec", "applicationRef", "version")
}
