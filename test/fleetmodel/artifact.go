// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Objects builds the objects of a rendered artifact as kustomize-controller does for a Kustomization, with its labels. It
// returns their fields by their names.
func Objects(artifact fs.FS, kustomization types.NamespacedName) (map[string]map[string]any, error) {
	fsys := filesys.MakeFsInMemory()
	err := fs.WalkDir(artifact, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(artifact, name)
		if err != nil {
			return err
		}
		return fsys.WriteFile("/artifact/"+name, content)
	})
	if err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, "/artifact")
	if err != nil {
		return nil, err
	}
	objects := map[string]map[string]any{}
	for _, r := range built.Resources() {
		content, err := r.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := json.Unmarshal(content, &object); err != nil {
			return nil, err
		}
		fields := Flatten(object)
		fields["metadata.labels.kustomize.toolkit.fluxcd.io/name"] = kustomization.Name
		fields["metadata.labels.kustomize.toolkit.fluxcd.io/namespace"] = kustomization.Namespace
		objects[r.GetName()] = fields
	}
	return objects, nil
}

// Flatten returns the fields of an object by their paths, such as spec.versions. A list is one field, because the lists of a
// definition are atomic.
func Flatten(object map[string]any) map[string]any {
	fields := map[string]any{}
	flatten(fields, "", object)
	return fields
}

func flatten(fields map[string]any, prefix string, value any) {
	mapping, ok := value.(map[string]any)
	if !ok || len(mapping) == 0 {
		fields[prefix] = value
		return
	}
	for key, member := range mapping {
		path := key
		if prefix != "" {
			path = prefix + "." + key
		}
		flatten(fields, path, member)
	}
}

// VersionsOf returns the versions in the fields of a definition.
func VersionsOf(fields map[string]any) (versions []string) {
	list, _ := fields["spec.versions"].([]any)
	for _, entry := range list {
		if mapping, ok := entry.(map[string]any); ok {
			versions = append(versions, fmt.Sprint(mapping["version"]))
		}
	}
	return versions
}
