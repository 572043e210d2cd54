// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// Entries in the root of an artifact.
const (
	KustomizationFile = tree.KustomizationFile
	ApplicationsDir   = "applicationdefinitions"
)

// assembleProved puts the documents, the objects of instances and the kustomization.yaml into a tree. If there are patches,
// it proves them first, and returns the built objects.
func assembleProved(ctx context.Context, defined []safeguard.Definition, documents []document, objects []backend.Object, k tree.Kustomization) (*tree.Tree, map[safeguard.Key]kustomized.Object, error) {
	if err := patching.CheckWork(len(documents)+len(objects), len(k.Patches)); err != nil {
		return nil, nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.patches", Err: err}
	}
	files, err := assembleWith(documents, objects, k)
	if err != nil || len(k.Patches) == 0 {
		return files, nil, err
	}
	selected := append(each.Map(defined, safeguard.Definition.Key), each.Map(objects, installation.KeyOf)...)
	built, err := patching.Prove(ctx, selected, files, objectFiles(files), k)
	if err != nil {
		return nil, nil, err
	}
	return files, kustomized.Contents(built.All()), nil
}

func assembleWith(documents []document, objects []backend.Object, k tree.Kustomization) (*tree.Tree, error) {
	files := tree.New()
	add := func(file string, content []byte) error {
		k.Resources = append(k.Resources, file)
		if err := files.Add(file, content); err != nil {
			return fmt.Errorf("assembling the artifact: %w", err)
		}
		return nil
	}
	for _, d := range documents {
		if err := add(fileOf(d.name), d.content); err != nil {
			return nil, err
		}
	}
	for _, object := range objects {
		content, err := object.YAML()
		if err != nil {
			return nil, fmt.Errorf("assembling the artifact: %w", err)
		}
		if err := add(installation.File(installation.KeyOf(object)), content); err != nil {
			return nil, err
		}
	}
	content, err := k.Marshal()
	if err != nil {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: err}
	}
	return files, files.Add(tree.KustomizationFile, content)
}

// objectFiles returns the files of a tree whose objects kustomize builds and patches.
func objectFiles(files *tree.Tree) []string {
	return slices.DeleteFunc(files.Paths(), func(path string) bool {
		return !strings.HasPrefix(path, ApplicationsDir+"/") && !strings.HasPrefix(path, installation.Dir+"/")
	})
}

// fileOf returns the path of an application's document in the artifact.
func fileOf(application string) string {
	return path.Join(ApplicationsDir, application+".yaml")
}
