// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
)

// Effective are the values of an instance, as far as its objects have them.
type Effective struct {
	// Values are the default values with the values of the main object merged over them.
	Values map[string]any
	// Open are the references to values that only the cluster has.
	Open []v1alpha1.ValuesReference
	// over are the values that win over Open; nil where none do.
	over map[string]any
}

// EffectiveOf returns the values of the instance with a main object. The error is the error of ValuesOf.
func EffectiveOf(main Object, objects []Object) (Effective, error) {
	inline, err := ValuesOf(main)
	if err != nil {
		return Effective{}, err
	}
	e := Effective{Values: inline, over: inline}
	if main.GroupVersionKind().GroupKind() == kinds.Terraform.GroupKind() {
		e.Open, e.over = variableReferences(main), nil
		return e, nil
	}
	found, open := referenced(main, objects)
	e.Open = open
	defaults := map[string]any{}
	for _, object := range found {
		values, err := ValuesOf(object)
		if err != nil {
			return Effective{}, err
		}
		defaults = MergeValues(defaults, values)
	}
	e.Values = MergeValues(defaults, inline)
	return e, nil
}

// RawOf returns the values of the instance with a main object as its objects have them, without reading YAML in them. What
// is equal has equal values.
func RawOf(main Object, objects []Object) []any {
	found, _ := referenced(main, objects)
	return each.Map(append([]Object{main}, found...), func(o Object) any { return raw(o).Content })
}

// referenced returns the default values among the objects that a main object names, and its references to what only the
// cluster has.
func referenced(main Object, objects []Object) (found []Object, open []v1alpha1.ValuesReference) {
	for _, reference := range ReferencesOf(main) {
		values, among := each.First(objects, func(o Object) bool {
			return o.GroupVersionKind().GroupKind() == kinds.ConfigMap.GroupKind() && o.GetNamespace() == main.GetNamespace() &&
				reference == v1alpha1.ValuesReference{Kind: kinds.ConfigMap.Kind, Name: o.GetName(), ValuesKey: DefaultsKey}
		})
		if among {
			found = append(found, values)
		} else {
			open = append(open, reference)
		}
	}
	return found, open
}

// Setter returns the first reference that may set the value at a path, which nothing wins over.
func (e Effective) Setter(path []string) (reference v1alpha1.ValuesReference, found bool) {
	if isDecided(e.over, path) {
		return v1alpha1.ValuesReference{}, false
	}
	return each.First(e.Open, func(r v1alpha1.ValuesReference) bool { return maySet(r, path) })
}

// isDecided reports whether nothing that is merged under values changes what is at the path: only a mapping is merged.
func isDecided(values map[string]any, path []string) bool {
	var at any = values
	for _, name := range path {
		mapping, isMapping := at.(map[string]any)
		if !isMapping {
			return true
		}
		if at, isMapping = mapping[name]; !isMapping {
			return false
		}
	}
	_, isMapping := at.(map[string]any)
	return !isMapping
}

// maySet reports whether a reference may set the value at a path, or a part of it. A single value that is no literal can
// set any, because Helm reads commas in it.
func maySet(r v1alpha1.ValuesReference, path []string) bool {
	if r.TargetPath == "" || !r.Literal {
		return true
	}
	for i, name := range targetNames(r.TargetPath) {
		if i == len(path) {
			return true
		}
		if name != path[i] {
			return false
		}
	}
	return true
}

// targetNames returns the names of a path as Helm reads it, up to the first index of a list.
func targetNames(path string) []string {
	names := []string{""}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '[':
			return names
		case c == '.':
			names = append(names, "")
			continue
		case c == '\\' && i+1 < len(path):
			i++
		}
		names[len(names)-1] += path[i : i+1]
	}
	return names
}

// variableReferences returns what a Terraform object has in varsFrom. A key is the name of a variable by default.
func variableReferences(main Object) []v1alpha1.ValuesReference {
	var all []v1alpha1.ValuesReference
	for _, from := range main.Spec("varsFrom").Items() {
		reference := v1alpha1.ValuesReference{Literal: true, Kind: from.Get("kind").Text(), Name: from.Get("name").Text()}
		keys, _, _ := unstructured.NestedStringSlice(from.Mapping(), "varsKeys")
		if len(keys) == 0 {
			all = append(all, reference)
		}
		for _, key := range keys {
			from, to, renamed := strings.Cut(key, ":")
			if reference.TargetPath = to; !renamed {
				reference.TargetPath = from
			}
			all = append(all, reference)
		}
	}
	return all
}
