// SPDX-License-Identifier: Apache-2.0

package building

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/parallel"
)

// generateKustomization returns all files that differ from the tree, by path: among them the kustomization file of a
// directory, with the content that the Generator of fluxcd/pkg/kustomize writes, and the option that annotates each
// object with its file. That package is not imported, because it needs clients of the API server.
func generateKustomization(c *inputs.Closure, dir string, k *manifest.Kustomization) (map[string][]byte, error) {
	file := inputs.KustomizationFile(c.Tree, dir)
	generated := kustypes.Kustomization{TypeMeta: kustypes.TypeMeta{APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind}}
	var err error
	if file != "" {
		err = readKustomization(c, file, &generated)
	} else {
		file = path.Join(dir, konfig.DefaultKustomizationFileName())
		generated.Resources, err = resourcesBelow(c.Tree, dir, dir)
		if len(generated.Resources) == 0 {
			generated.Namespace = "_placeholder" // kustomize refuses an empty file
		}
	}
	if err != nil {
		return nil, err
	}
	if err := addSpec(&generated, c.Tree, dir, k); err != nil {
		return nil, err
	}
	content, err := yaml.Marshal(generated)
	if err != nil {
		return nil, err
	}
	if err := inputs.CheckLocal(c, dir, content); err != nil {
		return nil, err
	}
	edited := maps.Clone(c.Edited)
	edited[file] = content
	return edited, nil
}

// readKustomization reads a kustomization file, without what the closure took out of it.
func readKustomization(c *inputs.Closure, file string, into *kustypes.Kustomization) (err error) {
	content, edited := c.Edited[file]
	if !edited {
		if content, err = c.Tree.Read(file); err != nil {
			return err
		}
	}
	return dialect.Unmarshal(content, into)
}

// resourcesBelow returns the directories below dir that have a kustomization file, and the YAML files of the others,
// relative to top.
func resourcesBelow(t *repository.Tree, top, dir string) ([]string, error) {
	var found []string
	for _, name := range t.Dirs[dir] {
		child := path.Join(dir, name)
		below := "/" + strings.TrimPrefix(child, top+"/")
		switch {
		case t.IsDir(child) && inputs.KustomizationFile(t, child) != "":
			found = append(found, "."+below)
		case t.IsDir(child):
			deeper, err := resourcesBelow(t, top, child)
			if err != nil {
				return nil, err
			}
			found = append(found, deeper...)
		case repository.IsYAML(child):
			if err := checkObjects(t, child, top+below); err != nil {
				return nil, err
			}
			found = append(found, "."+below)
		}
	}
	return found, nil
}

// checkObjects checks that kustomize can read the objects of a file. kustomize panics on some documents.
func checkObjects(t *repository.Tree, file, within string) (err error) {
	content, err := t.Read(file)
	if err != nil {
		return err
	}
	if err := inputs.CheckAliases(content); err != nil {
		return err
	}
	defer parallel.RecoverAs("recovered from panic while parsing YAML file "+path.Base(file), &err)
	if _, err := provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes(content); err != nil {
		return fmt.Errorf("failed to decode Kubernetes YAML from %s: %w", within, err)
	}
	return nil
}

// addSpec adds the fields of a Kustomization of Flux to a kustomization file, without missing components.
func addSpec(to *kustypes.Kustomization, t *repository.Tree, dir string, k *manifest.Kustomization) error {
	to.Namespace = cmp.Or(k.Spec.TargetNamespace, to.Namespace)
	to.NamePrefix = cmp.Or(k.Spec.NamePrefix, to.NamePrefix)
	to.NameSuffix = cmp.Or(k.Spec.NameSuffix, to.NameSuffix)
	for _, patch := range k.Spec.Patches {
		to.Patches = append(to.Patches, kustypes.Patch{Patch: patch.Patch, Target: selector(patch.Target)})
	}
	for _, component := range k.Components(t, dir) {
		if !isLocal(component) {
			return fmt.Errorf("component path '%s' must be local and relative", component)
		}
		to.Components = append(to.Components, component)
	}
	for _, image := range k.Spec.Images {
		to.Images = withImage(to.Images, image)
	}
	to.BuildMetadata = []string{kustypes.OriginAnnotations}
	return nil
}

func selector(s *kustomize.Selector) *kustypes.Selector {
	if s == nil {
		return nil
	}
	return &kustypes.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: s.Group, Version: s.Version, Kind: s.Kind},
			Name: s.Name, Namespace: s.Namespace,
		},
		LabelSelector: s.LabelSelector, AnnotationSelector: s.AnnotationSelector,
	}
}

// isLocal reports whether a component is a directory, by the rule of Flux.
func isLocal(component string) bool {
	lower := strings.ToLower(component)
	for _, prefix := range []string{"git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"} {
		if strings.HasPrefix(lower, prefix) && lower != prefix {
			return false
		}
	}
	return !filepath.IsAbs(component) && !filepath.IsAbs(strings.TrimPrefix(lower, "file://"))
}

// withImage adds an image, or merges it into the one with its name. A tag and a digest are set together: each selects
// the version.
func withImage(images []kustypes.Image, image kustomize.Image) []kustypes.Image {
	at := slices.IndexFunc(images, func(known kustypes.Image) bool { return known.Name == image.Name })
	if at < 0 {
		return append(images, kustypes.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
	}
	if image.NewName != "" {
		images[at].NewName = image.NewName
	}
	if image.NewTag != "" || image.Digest != "" {
		images[at].NewTag, images[at].Digest = image.NewTag, image.Digest
	}
	return images
}
