// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/render/archive"
)

// Objects builds the objects of a rendered artifact, a tar+gzip, as kustomize-controller does for a Kustomization flux-system/
// applications: with its labels. It returns their fields by their names.
func Objects(ctx context.Context, packed []byte) (map[string]map[string]any, error) {
	files, err := archive.Read(ctx, bytes.NewReader(packed), archive.DefaultLimits())
	if err != nil {
		return nil, err
	}
	fsys := filesys.MakeFsInMemory()
	for _, name := range files.Paths() {
		content, _ := files.Content(name)
		if err := fsys.WriteFile("/artifact/"+name, content); err != nil {
			return nil, err
		}
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
		fields["metadata.labels.kustomize.toolkit.fluxcd.io/name"] = "applications"
		fields["metadata.labels.kustomize.toolkit.fluxcd.io/namespace"] = "flux-system"
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
