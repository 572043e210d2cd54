package render

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/tree"
)

// PlaceholdersFile is the file of an artifact that has the placeholders.
const PlaceholdersFile = "placeholders.yaml"

// reconcileAnnotation with the value disabled, in a manifest, keeps Flux from applying the object. Flux has the object in
// its inventory nevertheless, and deletes it once the manifest is gone. No other annotation of an artifact has this key.
const reconcileAnnotation = "kustomize.toolkit.fluxcd.io/reconcile"

// Placeholder is an object of an artifact that Flux neither changes nor deletes, but keeps in its inventory.
type Placeholder struct{ APIVersion, Kind, Namespace, Name string }

// WithPlaceholders returns the artifact with placeholders in addition; the artifact itself for none. What the
// safeguards compare does not change. The patches of the artifact leave them alone.
func (r *Result) WithPlaceholders(placeholders []Placeholder) (*Result, error) {
	if len(placeholders) == 0 {
		return r, nil
	}
	sorted := slices.SortedFunc(slices.Values(placeholders), func(a, b Placeholder) int { return strings.Compare(a.String(), b.String()) })
	sorted = slices.Compact(sorted)
	content, err := documentsOf(sorted)
	if err != nil {
		return nil, err
	}
	if err := r.leavesAlone(content, sorted); err != nil {
		return nil, err
	}
	k := r.kustomization
	k.Patches = sparing(k.Patches)
	files := tree.New()
	for _, path := range r.Tree.Paths() {
		if path == KustomizationFile {
			continue
		}
		data, _ := r.Tree.Content(path)
		if err := files.Add(path, data); err != nil {
			return nil, err
		}
	}
	if k.Resources, err = resourcesOf(r.Tree); err != nil {
		return nil, err
	}
	if err := addPlaceholders(files, k, content); err != nil {
		return nil, err
	}
	kept := *r
	kept.Tree, kept.Revision = files, "latest@"+files.Digest()
	return &kept, nil
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
// annotations, and Flux would then apply it. Nothing else in an artifact has their annotation before it is patched.
func sparing(patches []tree.Patch) []tree.Patch {
	const applied = reconcileAnnotation + "!=disabled"
	spared := slices.Clone(patches)
	for i, p := range patches {
		if p.Target == nil {
			continue // it names another object
		}
		target := *p.Target
		if target.AnnotationSelector != "" {
			target.AnnotationSelector += ","
		}
		target.AnnotationSelector += applied
		spared[i].Target = &target
	}
	return spared
}

// leavesAlone builds the placeholders alone, with the patches, labels and annotations of the artifact, and compares what
// Flux gets of them.
func (r *Result) leavesAlone(content []byte, placeholders []Placeholder) error {
	k := r.kustomization
	k.Resources = nil
	// A patch without a target names another object, without which kustomize refuses it.
	k.Patches = slices.DeleteFunc(sparing(k.Patches), func(p tree.Patch) bool { return p.Target == nil })
	files := tree.New()
	if err := addPlaceholders(files, k, content); err != nil {
		return err
	}
	built, err := build(files)
	if err != nil {
		return fmt.Errorf("building the placeholders of objects that leave: the patches of the spec do not fit them: %w", err)
	}
	if built.Size() != len(placeholders) {
		return errors.New("building the placeholders of objects that leave: the patches of the spec add or remove some")
	}
	for _, object := range built.Resources() {
		if object.GetAnnotations()[reconcileAnnotation] != "disabled" {
			return fmt.Errorf("building the placeholders of objects that leave: a patch of the spec replaces the annotations of %s", object.GetName())
		}
	}
	return nil
}

// resourcesOf returns the resources in the kustomization.yaml of a tree.
func resourcesOf(files *tree.Tree) ([]string, error) {
	content, _ := files.Content(KustomizationFile)
	var k struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("reading the %s of the artifact: %w", KustomizationFile, err)
	}
	return k.Resources, nil
}

func addPlaceholders(files *tree.Tree, k tree.Kustomization, content []byte) error {
	if err := files.Add(PlaceholdersFile, content); err != nil {
		return fmt.Errorf("adding placeholders: %w", err)
	}
	k.Resources = append(slices.Clone(k.Resources), PlaceholdersFile)
	marshalled, err := k.Marshal()
	if err != nil {
		return err
	}
	return files.Add(KustomizationFile, marshalled)
}
