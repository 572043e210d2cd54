// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// SameInstance reports whether both artifacts have the same objects of the named instance, without building them: one
// that patches change in the same way may differ all the same.
func (r *Result) SameInstance(other *Result, name string) bool {
	mine, theirs := r.Find(name), other.Find(name)
	if mine == nil || theirs == nil || !slices.Equal(mine.Objects, theirs.Objects) || !reflect.DeepEqual(r.kustomization, other.kustomization) {
		return false
	}
	return !slices.ContainsFunc(mine.Objects, func(o installation.Object) bool {
		before, _ := r.Tree.Content(installation.File(o.Key))
		after, _ := other.Tree.Content(installation.File(o.Key))
		return !bytes.Equal(before, after)
	})
}

// InstanceObjects builds the objects of the named instances, in JSON's types. Instances that the artifact does not have
// are left out.
func (r *Result) InstanceObjects(ctx context.Context, names []string) (map[safeguard.Key]kustomized.Object, error) {
	var keys []safeguard.Key
	for _, name := range names {
		if in := r.Find(name); in != nil {
			for _, o := range in.Objects {
				keys = append(keys, o.Key)
			}
		}
	}
	return r.built(ctx, keys)
}

// ServedObject builds the catalog that serves the packages, in JSON's types; nil where the artifact has none.
func (r *Result) ServedObject(ctx context.Context) (kustomized.Object, error) {
	if r.Served == nil {
		return nil, nil
	}
	all, err := r.built(ctx, []safeguard.Key{*r.Served})
	return all[*r.Served], err
}

// built builds objects of instances, and the catalog that serves the packages, in JSON's types.
func (r *Result) built(ctx context.Context, keys []safeguard.Key) (map[safeguard.Key]kustomized.Object, error) {
	wanted := map[safeguard.Key]bool{}
	var files []string
	for _, key := range keys {
		if !wanted[key] {
			wanted[key] = true
			files = append(files, installation.File(key))
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	built, err := r.buildFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	all := kustomized.Contents(built)
	for key, content := range all {
		if !wanted[key] {
			delete(all, key)
			continue
		}
		if all[key], err = inJSON(content); err != nil {
			return nil, fmt.Errorf("reading the built object %s: %w", key, err)
		}
	}
	return all, nil
}

// inJSON returns an object of kustomize in JSON's types.
func inJSON(object kustomized.Object) (kustomized.Object, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var converted kustomized.Object
	return converted, json.Unmarshal(encoded, &converted)
}

// Unpatched returns an object of an instance, in JSON's types, as its file has it.
func (r *Result) Unpatched(key safeguard.Key) (kustomized.Object, error) {
	content, _ := r.Tree.Content(installation.File(key))
	encoded, err := dialect.JSON(content)
	if err != nil {
		return nil, err
	}
	var object kustomized.Object
	return object, json.Unmarshal(encoded, &object)
}
