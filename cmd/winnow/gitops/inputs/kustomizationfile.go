// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// use is the use that kustomize makes of an entry in a kustomization file.
type use int

const (
	// asResource: a file or a directory whose objects are added.
	asResource use = iota
	// asComponent: a directory that changes the objects.
	asComponent
	// asFile: a file that changes the objects.
	asFile
	// asPlugin: a file with the configuration of a transformer or a generator, or the configuration.
	asPlugin
)

// entry is a path, or an address, in a kustomization file.
type entry struct {
	value, field string
	use          use
}

// parseKustomization reads a kustomization file as kustomize does.
func parseKustomization(content []byte) (*kustypes.Kustomization, error) {
	var k kustypes.Kustomization
	if err := k.Unmarshal(content); err != nil {
		return nil, err
	}
	k.FixKustomization()
	return &k, nil
}

// entries returns all entries that kustomize loads for a kustomization file.
func entries(k *kustypes.Kustomization) []entry {
	var all []entry
	add := func(use use, field string, values ...string) {
		for _, value := range values {
			if value != "" {
				all = append(all, entry{value, field, use})
			}
		}
	}
	add(asResource, "resources", k.Resources...)
	add(asComponent, "components", k.Components...)
	add(asFile, "crds", k.Crds...)
	add(asFile, "configurations", k.Configurations...)
	add(asFile, "openapi", k.OpenAPI["path"])
	for _, patch := range k.PatchesStrategicMerge { //nolint:staticcheck // kustomize loads it all the same
		if !isDocument(string(patch)) || isAddress(string(patch)) {
			add(asFile, "patchesStrategicMerge", string(patch))
		}
	}
	for _, patch := range patchesOf(k) {
		add(asFile, "patches", patch.Path)
	}
	for _, replacement := range k.Replacements {
		add(asFile, "replacements", replacement.Path)
	}
	for _, generator := range k.ConfigMapGenerator {
		add(asFile, "configMapGenerator", generatorFiles(generator.KvPairSources)...)
	}
	for _, generator := range k.SecretGenerator {
		add(asFile, "secretGenerator", generatorFiles(generator.KvPairSources)...)
	}
	add(asPlugin, "generators", k.Generators...)
	add(asPlugin, "transformers", k.Transformers...)
	add(asPlugin, "validators", k.Validators...)
	return all
}

// patchesOf returns the patches of both fields.
func patchesOf(k *kustypes.Kustomization) []kustypes.Patch {
	return append(slices.Clone(k.Patches), k.PatchesJson6902...) //nolint:staticcheck // kustomize loads it all the same
}

// generatorFiles returns the files of a generator, without the keys of KEY=FILE.
func generatorFiles(sources kustypes.KvPairSources) []string {
	var files []string
	for _, source := range sources.FileSources {
		if _, file, named := strings.Cut(source, "="); named {
			source = file
		}
		files = append(files, source)
	}
	return append(append(files, sources.EnvSources...), sources.EnvSource)
}

// isDocument reports whether an entry is an inline document, as opposed to a path.
func isDocument(value string) bool {
	return strings.ContainsAny(value, "\n{")
}

// isRemote reports whether kustomize may treat an entry as an address. It also reports true for some entries
// that kustomize treats as paths, so that no address is missed.
func isRemote(value string) bool {
	first, _, _ := strings.Cut(strings.ToLower(value), "/")
	return strings.Contains(value, "://") || strings.ContainsAny(first, "@:") ||
		first == "github.com" || first == "www.github.com"
}

// addressIn returns an address from which the configuration of a transformer or a generator loads a file,
// empty for none.
func addressIn(content []byte) (string, error) {
	for document, err := range yamlnode.Documents(content) {
		if err != nil {
			return "", fmt.Errorf("reading the configuration: %w", err)
		}
		if found := addressAt(document); found != "" {
			return found, nil
		}
	}
	return "", nil
}

func addressAt(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode {
		value := node.Value
		if _, file, found := strings.Cut(value, "="); found && isAddress(file) {
			return file
		}
		if isAddress(value) {
			return value
		}
	}
	for _, child := range node.Content {
		if found := addressAt(child); found != "" {
			return found
		}
	}
	return ""
}

// isAddress reports whether kustomize would fetch a file of this name.
func isAddress(value string) bool {
	parsed, err := url.Parse(value)
	return err == nil && (strings.EqualFold(parsed.Scheme, "http") || strings.EqualFold(parsed.Scheme, "https"))
}

// KustomizationNames returns the names of kustomization files.
func KustomizationNames() []string { return konfig.RecognizedKustomizationFileNames() }

// KustomizationFile returns the path of the kustomization file in a directory, or "" if there is none.
func KustomizationFile(t *repository.Tree, dir string) string {
	for _, name := range KustomizationNames() {
		if file := path.Join(dir, name); t.IsFile(file) {
			return file
		}
	}
	return ""
}

// ReadKustomization reads a kustomization file of the tree as kustomize does, within limits. The caller must not change the result.
func ReadKustomization(t *repository.Tree, file string) (*kustypes.Kustomization, error) {
	if _, err := t.Read(file); err != nil {
		return nil, err
	}
	k, err := repository.Parsed(t, file, func(content []byte) (*kustypes.Kustomization, error) {
		if err := CheckAliases(content); err != nil {
			return nil, err
		}
		return parseKustomization(content)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}
