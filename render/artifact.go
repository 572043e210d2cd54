package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// ReadArtifact reads the definitions of an artifact that was rendered once, sorted by name. Their sources
// are not in it.
//
// The artifact may be anybody's, and kustomize fetches what a kustomization.yaml names. So only the
// documents and the inline patches are taken from it, and kustomize builds what Winnow writes for these.
func ReadArtifact(ctx context.Context, r io.Reader) ([]safeguard.Definition, error) {
	files, err := archive.Read(ctx, r, archive.Limits{})
	if err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	patches, err := patchesOf(files)
	if err != nil {
		return nil, err
	}
	definitions := []safeguard.Definition{}
	var documents []document
	for _, path := range files.Paths() {
		name, ok := strings.CutPrefix(path, ApplicationsDir+"/")
		if !ok {
			continue
		}
		content, _ := files.Content(path)
		var object map[string]any
		if err := yaml.Unmarshal(content, &object); err != nil {
			return nil, fmt.Errorf("reading %s of the artifact: %w", path, err)
		}
		definitions = append(definitions, safeguard.DefinitionOf(object))
		documents = append(documents, document{name: strings.TrimSuffix(name, ".yaml"), content: content})
	}
	if len(patches) == 0 || ctx.Err() != nil {
		return definitions, ctx.Err()
	}
	return patchedDefinitions(documents, patches)
}

func patchedDefinitions(documents []document, patches []tree.Patch) ([]safeguard.Definition, error) {
	files, err := assembleWith(documents, tree.Kustomization{Patches: patches, AllowEmpty: true})
	if err != nil {
		return nil, err
	}
	built, err := build(files)
	if err != nil {
		return nil, errors.New("building the artifact: its patches do not fit its documents")
	}
	byName := builtDefinitions(built)
	definitions := make([]safeguard.Definition, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		definitions = append(definitions, byName[name])
	}
	return definitions, nil
}

// patchesOf returns the inline patches in the kustomization.yaml; others, Winnow does not write.
func patchesOf(files *tree.Tree) ([]tree.Patch, error) {
	content, ok := files.Content(KustomizationFile)
	if !ok {
		return nil, errors.New("the artifact has no " + KustomizationFile)
	}
	var k types.Kustomization
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, errors.New("the " + KustomizationFile + " of the artifact cannot be read")
	}
	var patches []tree.Patch
	for _, p := range k.Patches {
		if p.Path != "" {
			return nil, errors.New("the " + KustomizationFile + " of the artifact has a patch that is not inline")
		}
		converted := tree.Patch{Patch: p.Patch}
		if t := p.Target; t != nil {
			converted.Target = &tree.Target{
				Group: t.Group, Version: t.Version, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name,
				LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
			}
		}
		patches = append(patches, converted)
	}
	return patches, nil
}
