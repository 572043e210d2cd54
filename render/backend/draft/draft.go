// SPDX-License-Identifier: Apache-2.0

// Package draft holds the input and the output of the translation of an instance: the instance and its definition, the
// objects and the problems. It has the checks that every backend needs. It must not know any backend.
package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/field"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

const (
	// maxObject bounds an object in bytes. The API server stores objects in etcd, whose requests have at most
	// 1.5 MiB, with what is added to an object beside it.
	maxObject = 1 << 20
	// DefaultInterval of what Flux reconciles.
	DefaultInterval = 10 * time.Minute
)

// Draft collects the objects of an instance.
type Draft struct {
	backend.Instance

	// Backend is the type of the backend that the objects are for.
	Backend string
	// Spec of the definition.
	Spec     field.Field
	Problems backend.Problems

	objects []backend.Object
}

// New returns the draft of a backend, by its type, without objects.
func New(name string, instance backend.Instance) *Draft {
	d := &Draft{Instance: instance, Backend: name}
	d.Spec = d.Field("spec", instance.Definition)
	return d
}

// Field returns a part of the definition, whose problems are added to the draft.
func (d *Draft) Field(path string, value any) field.Field {
	return field.At(path, value, d.Backend, d.Fault)
}

// Refuse adds a problem with a field of the instance.
func (d *Draft) Refuse(path, format string, args ...any) {
	d.Problems = append(d.Problems, &backend.Error{Instance: d.Name, Path: path, Message: fmt.Sprintf(format, args...)})
}

// Fault adds a problem with a field of the definition.
func (d *Draft) Fault(path, format string, args ...any) {
	d.Problems = append(d.Problems, &backend.Error{
		Instance: d.Name, Application: d.Application.Name, Path: path, Message: fmt.Sprintf(format, args...),
	})
}

// Add adds an object with its metadata and its other fields.
func (d *Draft) Add(role backend.Role, kind schema.GroupVersionKind, namespace, name string, content map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(kind)
	object.SetName(name)
	if namespace != "" {
		object.SetNamespace(namespace)
	}
	d.objects = append(d.objects, backend.Object{Unstructured: object, Role: role})
	return object
}

// Makes notes what the platform makes of the last object that was added.
func (d *Draft) Makes(kind, name string) { d.objects[len(d.objects)-1].Makes = kind + " " + name }

// finish sorts and checks the objects.
func (d *Draft) finish() {
	slices.SortFunc(d.objects, backend.CompareObjects)
	for i, object := range d.objects {
		checkWritable("its "+object.GetKind(), object.Object, d.Refuse)
		if problems := validation.IsDNS1123Subdomain(object.GetName()); len(problems) > 0 {
			d.Refuse("", "the name %s of its %s is not valid: %s: give the instance another name", excerpt.Quoted(object.GetName()), object.GetKind(), problems[0])
		}
		encoded, err := json.Marshal(object.Object)
		if err != nil {
			d.Refuse("", "encoding its %s: %v", object.GetKind(), err)
		}
		if d.objects[i].Bytes = len(encoded); len(encoded) > maxObject {
			d.Refuse("", "its %s has more than %d bytes, which the API server cannot store: shorten the values", object.GetKind(), maxObject)
		}
	}
}

// RunsIn returns the namespace that the application runs in.
func (d *Draft) RunsIn() string { return cmp.Or(d.TargetNamespace, d.Namespace) }

// SetDependencies sets dependsOn of an object of Flux with a name.
func (d *Draft) SetDependencies(spec map[string]any, name string) {
	if i := slices.Index(d.DependsOn, name); i >= 0 {
		d.Refuse(backend.Indexed("dependsOn", i), "is the instance itself")
	}
	if names := slices.Compact(slices.Sorted(slices.Values(d.DependsOn))); len(names) > 0 {
		spec["dependsOn"] = each.Map(names, func(name string) any { return map[string]any{"name": name} })
	}
}

// Deployed returns whether the release of the instance is waited for, and whether it is atomic: as the instance says, and
// otherwise as the definition does. As in Helm, an atomic release is waited for.
func (d *Draft) Deployed(waits, atomic bool) (bool, bool) {
	if is := d.Deploy.Atomic; is != nil {
		waits, atomic = waits || *is, *is
	}
	if is := d.Deploy.Wait; is != nil {
		if waits = *is; atomic && !waits {
			d.Refuse("deploy.wait", "is false, and an atomic release is waited for: leave it out, or set deploy.atomic to false")
		}
	}
	return waits, atomic
}
