// SPDX-License-Identifier: Apache-2.0

// Package kustomized builds an artifact with kustomize and returns its objects. It must not know how the artifact was
// rendered.
package kustomized

import (
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// Object is an object of an artifact as kustomize builds it, in the types that kustomize has for
// YAML: map[string]any, []any, string, bool, int, float64 and nil.
type Object = map[string]any

// YAML builds the tree with kustomize, as kustomize-controller does, and returns the objects
// as one YAML stream.
func YAML(files *tree.Tree) ([]byte, error) {
	objects, err := Build(files)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// Build builds the tree as kustomize-controller does. It recovers from panics of kustomize, because its input comes from users.
// Trees may be built at the same time.
func Build(files *tree.Tree) (objects resmap.ResMap, err error) {
	defer parallel.RecoverAs("kustomize failed", &err)
	memory := filesys.MakeFsInMemory()
	for _, path := range files.Paths() {
		content, _ := files.Content(path)
		if err := memory.WriteFile(path, content); err != nil {
			return nil, err
		}
	}
	Factory() // parses what this build would parse beside another one
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, ".")
}

// KeyOf returns the key of an object, from its identity in kustomize.
func KeyOf(id resid.ResId) safeguard.Key {
	return safeguard.KeyOf(id.Group, id.Kind, id.Namespace, id.Name)
}

// Contents returns the content of the objects.
func Contents(objects []*resource.Resource) map[safeguard.Key]Object {
	all := map[safeguard.Key]Object{}
	for _, object := range objects {
		if content, err := object.Map(); err == nil {
			all[KeyOf(object.CurId())] = content
		}
	}
	return all
}

// Definitions returns the definitions among the objects.
func Definitions(objects map[safeguard.Key]Object) map[safeguard.Key]safeguard.Definition {
	definitions := map[safeguard.Key]safeguard.Definition{}
	for key, content := range objects {
		if key.IsDefinition() {
			definitions[key] = safeguard.DefinitionOf(content)
		}
	}
	return definitions
}
