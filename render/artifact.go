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

// ReadArtifact reads the definitions of an artifact that was rendered once, as kustomize builds them,
// sorted by name. Their sources are not in it.
func ReadArtifact(ctx context.Context, r io.Reader) ([]safeguard.Definition, error) {
	files, err := archive.Read(ctx, r, archive.Limits{})
	if err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	patched, err := hasPatches(files)
	if err != nil {
		return nil, err
	}
	definitions := []safeguard.Definition{}
	if patched {
		built, err := build(files)
		if err != nil {
			return nil, fmt.Errorf("building the artifact: %w", err)
		}
		byName := builtDefinitions(built)
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			definitions = append(definitions, byName[name])
		}
		return definitions, nil
	}
	for _, path := range files.Paths() {
		if !strings.HasPrefix(path, ApplicationsDir+"/") {
			continue
		}
		content, _ := files.Content(path)
		var object map[string]any
		if err := yaml.Unmarshal(content, &object); err != nil {
			return nil, fmt.Errorf("reading %s of the artifact: %w", path, err)
		}
		definitions = append(definitions, safeguard.DefinitionOf(object))
	}
	return definitions, ctx.Err()
}

// hasPatches reports whether the kustomization.yaml changes more than labels and annotations.
func hasPatches(files *tree.Tree) (bool, error) {
	content, ok := files.Content(KustomizationFile)
	if !ok {
		return false, errors.New("the artifact has no " + KustomizationFile)
	}
	var k types.Kustomization
	if err := yaml.Unmarshal(content, &k); err != nil {
		return false, fmt.Errorf("reading %s of the artifact: %w", KustomizationFile, err)
	}
	return len(k.Patches) > 0, nil
}
