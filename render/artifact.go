package render

import (
	"cmp"
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
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// ReadArtifact reads the definitions of an artifact that was rendered before, sorted by name. Their Source
// is empty: an artifact does not name its sources.
//
// The artifact is untrusted, so its documents are read as those of a catalog, with the same bounds.
// Kustomize fetches the URLs that a kustomization.yaml names, so only the inline patches of the artifact's
// are read, and kustomize builds a kustomization.yaml that Winnow writes for them.
func ReadArtifact(ctx context.Context, r io.Reader) ([]safeguard.Definition, error) {
	files, err := archive.Read(ctx, r, archive.Limits{})
	if err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	patches, err := patchesOf(files)
	if err != nil {
		return nil, err
	}
	content := tree.New()
	var documents []document
	for _, path := range files.Paths() {
		name, ok := strings.CutPrefix(path, ApplicationsDir+"/")
		if !ok {
			continue
		}
		data, _ := files.Content(path)
		name = strings.TrimSuffix(name, ".yaml")
		documents = append(documents, document{name: name, content: data})
		if err := content.Add("applications/"+name+"/application.yaml", data); err != nil {
			return nil, fmt.Errorf("reading the artifact: %w", err)
		}
	}
	if len(documents) == 0 {
		return []safeguard.Definition{}, nil
	}
	loaded, err := catalog.Load(ctx, content.FS())
	if err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	if len(patches) > 0 {
		return patchedDefinitions(documents, patches)
	}
	definitions := make([]safeguard.Definition, len(loaded.Applications))
	for i, a := range loaded.Applications {
		definitions[i] = safeguard.Definition{
			APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name, Versions: a.Versions,
			Origins: a.Identity.Origins, Identity: a.Identity.Fields,
		}
	}
	return definitions, nil
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
	return slices.SortedFunc(maps.Values(builtDefinitions(built)), func(a, b safeguard.Definition) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	}), nil
}

// patchesOf returns the inline patches in the kustomization.yaml. Winnow writes no other patches.
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
