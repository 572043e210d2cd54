// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/winnow-dev/winnow/render/each"
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
	wanted := sets.New(applications...)
	objects := make(map[safeguard.Key]kustomized.Object, len(applications))
	for _, object := range built {
		key := kustomized.KeyOf(object.CurId())
		if !wanted.Has(key.Name) || !key.IsDefinition() {
			continue
		}
		if objects[key], err = object.Map(); err != nil {
			return nil, fmt.Errorf("reading the built object %s: %w", object.GetName(), err)
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
