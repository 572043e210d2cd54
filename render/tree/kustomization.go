// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fluxcd/pkg/apis/kustomize"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/each"
)

// KustomizationFile is the path under which kustomize looks for a
// Kustomization.
const KustomizationFile = "kustomization.yaml"

// ErrNoResources is returned for a Kustomization without resources: kustomize
// builds it, and Flux then prunes every object that it has applied from it.
var ErrNoResources = errors.New("kustomization without resources")

// Kustomization is the kustomization.yaml of a rendered tree: which files are
// applied, and what is set on each of their objects. Labels and annotations
// reach metadata.labels and metadata.annotations of the objects only, never
// their selectors or templates, and replace values that an object has.
type Kustomization struct {
	// Resources are paths in the tree, none twice, in any order. None at all needs AllowEmpty.
	Resources []string
	// Labels are set on every object.
	Labels map[string]string
	// Annotations are set on every object.
	Annotations map[string]string
	// KindAnnotations are set on the objects of kinds, besides and after Annotations.
	KindAnnotations []KindAnnotations
	// Patches are applied in order, before labels and annotations are set. A strategic merge patch without a target applies
	// to the object with its own name and kind.
	Patches []kustomize.Patch
	// AllowEmpty permits a Kustomization without resources, with which Flux prunes every object that it
	// has applied.
	AllowEmpty bool
}

// KindAnnotations are annotations of the objects of some kinds.
type KindAnnotations struct {
	// Name of the transformer, unique in a Kustomization.
	Name        string
	Kinds       []schema.GroupKind
	Annotations map[string]string
}

// AnnotationsOf returns the annotations that are set on the objects of a kind. The caller owns the map.
func (k Kustomization) AnnotationsOf(kind schema.GroupKind) map[string]string {
	all := map[string]string{}
	maps.Copy(all, k.Annotations)
	for _, of := range k.KindAnnotations {
		if slices.Contains(of.Kinds, kind) {
			maps.Copy(all, of.Annotations)
		}
	}
	return all
}

// Marshal returns the document: sorted and the same for the same contents, with
// every value safe for parsers of YAML 1.1 and 1.2. It fails with
// ErrNoResources unless AllowEmpty is set, with a *PathError for a resource that is unsafe or listed
// twice, and for text that kustomize could not read. The receiver is not
// modified.
func (k Kustomization) Marshal() ([]byte, error) {
	if len(k.Resources) == 0 && !k.AllowEmpty {
		return nil, fmt.Errorf("marshalling kustomization: %w", ErrNoResources)
	}
	resources, err := sortedResources(k.Resources)
	if err != nil {
		return nil, fmt.Errorf("marshalling kustomization: %w", err)
	}
	document := kustomization{
		APIVersion: "kustomize.config.k8s.io/v1beta1",
		Kind:       "Kustomization",
		Resources:  resources,
		Patches:    patches(k.Patches),
	}
	if len(k.Labels) > 0 {
		document.Labels = []labels{{Pairs: pairs(k.Labels)}}
	}
	all := KindAnnotations{Name: "annotations", Kinds: []schema.GroupKind{{}}, Annotations: k.Annotations}
	for _, of := range append([]KindAnnotations{all}, k.KindAnnotations...) {
		if err := document.annotate(of); err != nil {
			return nil, err
		}
	}
	content, err := marshal(document)
	if err != nil {
		return nil, fmt.Errorf("marshalling kustomization: %w", err)
	}
	return content, nil
}

func sortedResources(paths []string) ([]text, error) {
	sorted := slices.Sorted(slices.Values(paths))
	resources := make([]text, 0, len(sorted))
	for i, path := range sorted {
		if err := CheckPath(path); err != nil {
			return nil, err
		}
		if i > 0 && path == sorted[i-1] {
			return nil, &PathError{Path: path, Reason: "duplicate resource"}
		}
		resources = append(resources, text(path))
	}
	return resources, nil
}

// The documents, with their fields in the usual order of a kustomization.yaml.
type (
	kustomization struct {
		APIVersion   string    `yaml:"apiVersion"`
		Kind         string    `yaml:"kind"`
		Resources    []text    `yaml:"resources"`
		Patches      []patch   `yaml:"patches,omitempty"`
		Labels       []labels  `yaml:"labels,omitempty"`
		Transformers []literal `yaml:"transformers,omitempty"`
	}
	labels struct {
		Pairs pairs `yaml:"pairs"`
	}
	annotationsTransformer struct {
		APIVersion  string      `yaml:"apiVersion"`
		Kind        string      `yaml:"kind"`
		Metadata    metadata    `yaml:"metadata"`
		Annotations pairs       `yaml:"annotations"`
		FieldSpecs  []fieldSpec `yaml:"fieldSpecs"`
	}
	metadata struct {
		Name string `yaml:"name"`
	}
	fieldSpec struct {
		Path   string `yaml:"path"`
		Group  text   `yaml:"group,omitempty"`
		Kind   text   `yaml:"kind,omitempty"`
		Create bool   `yaml:"create"`
	}
)

// annotate adds a transformer, which replaces commonAnnotations: these would annotate pod templates too. A kind without a
// name stands for all.
func (k *kustomization) annotate(of KindAnnotations) error {
	if len(of.Annotations) == 0 || len(of.Kinds) == 0 {
		return nil
	}
	inline, err := marshal(annotationsTransformer{
		APIVersion:  "builtin",
		Kind:        "AnnotationsTransformer",
		Metadata:    metadata{Name: of.Name},
		Annotations: of.Annotations,
		FieldSpecs: each.Map(of.Kinds, func(kind schema.GroupKind) fieldSpec {
			return fieldSpec{Path: "metadata/annotations", Create: true, Group: text(kind.Group), Kind: text(kind.Kind)}
		}),
	})
	if err != nil {
		return fmt.Errorf("marshalling annotations: %w", err)
	}
	k.Transformers = append(k.Transformers, literal(inline))
	return nil
}

func marshal(document any) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	err := encoder.Close()
	return out.Bytes(), err
}

type (
	patch struct {
		Patch  block   `yaml:"patch"`
		Target *target `yaml:"target,omitempty"`
	}
	target struct {
		Group              text `yaml:"group,omitempty"`
		Version            text `yaml:"version,omitempty"`
		Kind               text `yaml:"kind,omitempty"`
		Namespace          text `yaml:"namespace,omitempty"`
		Name               text `yaml:"name,omitempty"`
		LabelSelector      text `yaml:"labelSelector,omitempty"`
		AnnotationSelector text `yaml:"annotationSelector,omitempty"`
	}
)

// patches returns patches as a kustomization.yaml has them.
func patches(list []kustomize.Patch) []patch {
	return each.Map(list, func(p kustomize.Patch) patch {
		document := patch{Patch: block(p.Patch)}
		if p.Target != nil {
			document.Target = &target{
				Group: text(p.Target.Group), Version: text(p.Target.Version), Kind: text(p.Target.Kind),
				Namespace: text(p.Target.Namespace), Name: text(p.Target.Name),
				LabelSelector:      text(p.Target.LabelSelector),
				AnnotationSelector: text(p.Target.AnnotationSelector),
			}
		}
		return document
	})
}
