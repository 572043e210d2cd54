// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/kustomize/api/resmap"

	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// Same reports whether both artifacts have the same object of the named application, without
// building it: one that patches change in the same way may differ all the same.
func (r *Result) Same(other *Result, application string) bool {
	mine, _ := r.Tree.Content(fileOf(application))
	theirs, _ := other.Tree.Content(fileOf(application))
	return string(mine) == string(theirs) && reflect.DeepEqual(r.kustomization, other.kustomization)
}

// Objects builds the named applications, of which those that the artifact does not have are left
// out, and returns their definitions. It takes time for each name, with patches for each application.
func (r *Result) Objects(applications []string) (map[safeguard.Key]kustomized.Object, error) {
	var files []string
	for _, name := range applications {
		files = append(files, fileOf(name))
	}
	built, err := r.buildFiles(files)
	if built == nil || err != nil {
		return nil, err
	}
	return objectsOf(built, applications)
}

// buildFiles builds the files of the artifact, of which those that it does not have are left out: nil if it has none
// of them. With patches it builds all files, because a patch that names its object itself fails where there is none.
func (r *Result) buildFiles(files []string) (resmap.ResMap, error) {
	all := r.Tree
	if len(r.kustomization.Patches) == 0 {
		k := r.kustomization
		all = tree.New()
		for _, file := range files {
			content, ok := r.Tree.Content(file)
			if !ok {
				continue
			}
			k.Resources = append(k.Resources, file)
			if err := all.Add(file, content); err != nil {
				return nil, fmt.Errorf("assembling a part of the artifact: %w", err)
			}
		}
		if len(k.Resources) == 0 {
			return nil, nil
		}
		content, err := k.Marshal()
		if err == nil {
			err = all.Add(tree.KustomizationFile, content)
		}
		if err != nil {
			return nil, fmt.Errorf("assembling a part of the artifact: %w", err)
		}
	}
	built, err := kustomized.Build(all)
	if err != nil {
		return nil, fmt.Errorf("building the objects: %w", err)
	}
	return built, nil
}

func objectsOf(built resmap.ResMap, applications []string) (map[safeguard.Key]kustomized.Object, error) {
	wanted := make(map[string]bool, len(applications))
	for _, name := range applications {
		wanted[name] = true
	}
	objects := make(map[safeguard.Key]kustomized.Object, len(applications))
	for _, resource := range built.Resources() {
		key := kustomized.KeyOf(resource.CurId())
		if !wanted[key.Name] || !key.IsDefinition() {
			continue
		}
		content, err := resource.Map()
		if err != nil {
			return nil, fmt.Errorf("reading the built object %s: %w", resource.GetName(), err)
		}
		objects[key] = content
	}
	return objects, nil
}
