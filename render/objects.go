// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
)

// Same reports whether both artifacts have the same object of the named application, without
// building it: one that patches change in the same way may differ all the same.
func (r *Result) Same(other *Result, application string) bool {
	mine, _ := r.Tree.Content(fileOf(application))
	theirs, _ := other.Tree.Content(fileOf(application))
	return string(mine) == string(theirs) && reflect.DeepEqual(r.kustomization, other.kustomization)
}

// Objects builds the named applications that the artifact has, and returns their definitions. It
// takes time for each name.
func (r *Result) Objects(ctx context.Context, applications []string) (map[safeguard.Key]kustomized.Object, error) {
	built, err := r.buildFiles(ctx, each.Map(applications, fileOf))
	if built == nil || err != nil {
		return nil, err
	}
	wanted, objects := sets.New(applications...), map[safeguard.Key]kustomized.Object{}
	for _, object := range built {
		key := kustomized.KeyOf(object.CurId())
		if !wanted.Has(key.Name) || !key.IsDefinition() {
			continue
		}
		if objects[key], err = object.Map(); err != nil {
			return nil, fmt.Errorf("reading the built object %s: %w", key.Name, err)
		}
	}
	return objects, nil
}

// Documents returns the definitions of the selected applications as patches leave them, by the names of the applications. It has
// those that spec.definitions leaves out, too, which no patch changes.
func (r *Result) Documents(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, d := range r.omitted {
		all[d.name] = d.content
	}
	var files []string
	for _, d := range r.Definitions {
		file := fileOf(d.Name)
		all[d.Name], _ = r.Tree.Content(file)
		files = append(files, file)
	}
	if len(r.kustomization.Patches) == 0 {
		return all, nil
	}
	built, err := r.buildFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, object := range built {
		if key := kustomized.KeyOf(object.CurId()); key.IsDefinition() {
			if all[key.Name], err = object.AsYAML(); err != nil {
				return nil, fmt.Errorf("writing the built object %s: %w", key.Name, err)
			}
		}
	}
	return all, nil
}

// buildFiles builds the named files that the artifact has. It may build others too: what patches do to an object may
// depend on them.
func (r *Result) buildFiles(ctx context.Context, files []string) ([]*resource.Resource, error) {
	had := slices.DeleteFunc(slices.Clone(files), func(file string) bool { _, ok := r.Tree.Content(file); return !ok })
	if len(had) == 0 {
		return nil, nil
	}
	all := had
	if len(r.kustomization.Patches) > 0 {
		unsealed, err := seal.Removed(r.Tree)
		if err != nil {
			return nil, err
		}
		all = objectFiles(unsealed)
	}
	split, err := patching.NewSplit(ctx, r.Tree, all, r.kustomization.Patches)
	if err != nil {
		return nil, fmt.Errorf("building the objects: %w", err)
	}
	built, err := split.BuildSome(ctx, r.kustomization, had)
	if err != nil {
		return nil, fmt.Errorf("building the objects: %w", err)
	}
	return built.All(), nil
}

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
	wanted := sets.New(keys...)
	built, err := r.buildFiles(ctx, each.Map(wanted.UnsortedList(), installation.File))
	if err != nil {
		return nil, err
	}
	all := kustomized.Contents(built)
	maps.DeleteFunc(all, func(key safeguard.Key, _ kustomized.Object) bool { return !wanted.Has(key) })
	for key, content := range all {
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
