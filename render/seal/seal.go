// SPDX-License-Identifier: Apache-2.0

// Package seal keeps kustomize from building a directory of an artifact other than its root.
//
// A Kustomization of Flux whose spec.path is such a directory would apply objects without what the kustomization.yaml at
// the root sets, such as the protection against pruning, or would apply nothing, and prune what it has applied before. So
// each directory has a kustomization.yaml that names a missing resource, whose name says what to do.
//
// It must not know catalogs, selections or clusters.
package seal

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/tree"
)

const (
	seal = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- spec.path of the Kustomization must be ./
`
	// ignored keeps readers of file-based catalogs, such as opm, from reading seals.
	ignored = filebased.IgnoreFile + "\n" + tree.KustomizationFile + "\n"
)

// Add adds the seals to an artifact. A kustomization.yaml that a directory has already is the document of an application
// with that name, which kustomize does not build either.
func Add(artifact *tree.Tree) error {
	seals := Of(artifact.Paths())
	for _, file := range slices.Sorted(maps.Keys(seals)) {
		if _, there := artifact.Content(file); there {
			continue
		}
		if err := artifact.Add(file, []byte(seals[file])); err != nil {
			return fmt.Errorf("sealing the directories of the artifact: %w", err)
		}
	}
	return nil
}

// Of maps the seals of an artifact with these files to their content.
func Of(files []string) map[string]string {
	seals := map[string]string{}
	for _, file := range files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			seals[path.Join(dir, tree.KustomizationFile)] = seal
			if dir == catalog.PackagesDir {
				seals[path.Join(dir, filebased.IgnoreFile)] = ignored
			}
		}
	}
	return seals
}

// Removed returns an artifact without seals, or itself if it has none, as from an older release.
func Removed(artifact *tree.Tree) (*tree.Tree, error) {
	isSeal := func(file string) bool {
		content, _ := artifact.Content(file)
		return is(file, content)
	}
	if !slices.ContainsFunc(artifact.Paths(), isSeal) {
		return artifact, nil
	}
	return artifact.Copy(func(file string) (string, bool) { return file, !isSeal(file) }, nil)
}

// IsIn reports whether a directory is one of an artifact that is sealed.
func IsIn(dir fs.FS) bool {
	content, err := fs.ReadFile(dir, tree.KustomizationFile)
	return err == nil && is(tree.KustomizationFile, content)
}

// is reports whether a file is a seal, by its content: an application may be called kustomization. A directory of an
// artifact may be read by itself, so that its seal is in the root.
func is(file string, content []byte) bool {
	switch path.Base(file) {
	case tree.KustomizationFile:
		return string(content) == seal
	case filebased.IgnoreFile:
		return string(content) == ignored
	}
	return false
}
