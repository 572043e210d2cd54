// SPDX-License-Identifier: Apache-2.0

// Package placeholder adds placeholders to artifacts: objects that Flux keeps as they are. It must not know how an
// artifact was rendered.
package placeholder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/tree"
)

// File is the file of an artifact that has the placeholders.
const File = "placeholders.yaml"

// reconcileAnnotation with the value disabled, in a manifest, keeps Flux from applying the object. Flux has the object in
// its inventory nevertheless, and deletes it once the manifest is gone. No other annotation of an artifact has this key.
const reconcileAnnotation = "kustomize.toolkit.fluxcd.io/reconcile"

// Excluding is an annotation selector of patches that selects no placeholder. Nothing else in an artifact has their
// annotation before it is patched.
const Excluding = reconcileAnnotation + "!=disabled"

// Placeholder is an object of an artifact that Flux neither changes nor deletes, but keeps in its inventory.
type Placeholder struct{ APIVersion, Kind, Namespace, Name string }

// Add returns the files of an artifact with placeholders in addition, for its kustomization.yaml without resources. The
// patches of the artifact leave them alone.
func Add(ctx context.Context, artifact *tree.Tree, k tree.Kustomization, placeholders []Placeholder) (*tree.Tree, error) {
	placeholders = distinct(placeholders)
	content, err := documentsOf(placeholders)
	if err != nil {
		return nil, err
	}
	k.Patches = sparing(k.Patches)
	if err := stay(ctx, placeholders, k); err != nil {
		return nil, fmt.Errorf("building the placeholders of objects that leave with the patches of the spec: %w", err)
	}
	files, err := artifact.Copy(func(path string) (string, bool) { return path, path != tree.KustomizationFile }, nil)
	if err != nil {
		return nil, err
	}
	if k.Resources, err = resourcesOf(artifact); err != nil {
		return nil, err
	}
	if err := addPlaceholders(files, k, content); err != nil {
		return nil, err
	}
	return files, nil
}

// distinct returns placeholders sorted, each once.
func distinct(placeholders []Placeholder) []Placeholder {
	sorted := slices.SortedFunc(slices.Values(placeholders), func(a, b Placeholder) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(sorted)
}

func (p Placeholder) String() string {
	return strings.Join([]string{p.APIVersion, p.Kind, p.Namespace, p.Name}, " ")
}

// documentsOf returns the YAML stream of placeholders. They have nothing that Flux could apply.
func documentsOf(placeholders []Placeholder) ([]byte, error) {
	var stream bytes.Buffer
	for _, p := range placeholders {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(p.APIVersion)
		u.SetKind(p.Kind)
		u.SetNamespace(p.Namespace)
		u.SetName(p.Name)
		u.SetAnnotations(map[string]string{reconcileAnnotation: "disabled"})
		document, err := yaml.Marshal(u.Object)
		if err != nil {
			return nil, fmt.Errorf("writing the placeholder of %s: %w", p.Name, err)
		}
		stream.WriteString("---\n")
		stream.Write(document)
	}
	return stream.Bytes(), nil
}

// sparing returns patches that select no placeholder: a patch of all objects of a kind may fail on one, or replace its
// annotations, and Flux would then apply it.
func sparing(patches []kustomize.Patch) []kustomize.Patch {
	spared := slices.Clone(patches)
	for i, p := range patches {
		if p.Target == nil {
			continue // it names another object
		}
		target := *p.Target
		if target.AnnotationSelector != "" {
			target.AnnotationSelector += ","
		}
		target.AnnotationSelector += Excluding
		spared[i].Target = &target
	}
	return spared
}

// Fit returns an error unless placeholders stay what they are with the patches of a Kustomization, which Flux
// applies after those of the artifact: a patch that fails on a placeholder stops the whole build, and Flux applies a
// placeholder without its annotation. The patches are untrusted, and bounded as those of a spec.
func Fit(ctx context.Context, placeholders []Placeholder, of []kustomize.Patch) error {
	k := tree.Kustomization{Patches: of}
	if err := errors.Join(patching.Check(k.Patches)...); err != nil {
		return err
	}
	if err := patching.CheckWork(len(placeholders), len(k.Patches)); err != nil {
		return err
	}
	return stay(ctx, distinct(placeholders), k)
}

// stay builds placeholders alone, with what k sets on objects, and compares what Flux gets of them.
func stay(ctx context.Context, placeholders []Placeholder, k tree.Kustomization) error {
	files := tree.New()
	for i, p := range placeholders {
		content, err := documentsOf([]Placeholder{p})
		if err == nil {
			err = files.Add(fmt.Sprintf("%d.yaml", i), content)
		}
		if err != nil {
			return err
		}
	}
	split, err := patching.NewSplit(ctx, files, files.Paths(), k.Patches)
	if err != nil {
		return err
	}
	if err := patching.CheckGrowth(split.Unpatched, k.Patches); err != nil {
		return err
	}
	patched, err := split.Build(ctx, k)
	if err != nil {
		return err
	}
	if err := patching.CheckObjects(split.Unpatched, patched); err != nil {
		return err
	}
	for _, object := range patched.All() {
		if object.GetAnnotations()[reconcileAnnotation] != "disabled" {
			return fmt.Errorf("patches must not change the annotation %s of %s", reconcileAnnotation, object.GetName())
		}
	}
	return nil
}

// resourcesOf returns the resources in the kustomization.yaml of a tree.
func resourcesOf(files *tree.Tree) ([]string, error) {
	content, _ := files.Content(tree.KustomizationFile)
	var k struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("reading the %s of the artifact: %w", tree.KustomizationFile, err)
	}
	return k.Resources, nil
}

func addPlaceholders(files *tree.Tree, k tree.Kustomization, content []byte) error {
	if err := files.Add(File, content); err != nil {
		return fmt.Errorf("adding placeholders: %w", err)
	}
	k.Resources = append(slices.Clone(k.Resources), File)
	marshalled, err := k.Marshal()
	if err != nil {
		return err
	}
	return files.Add(tree.KustomizationFile, marshalled)
}
