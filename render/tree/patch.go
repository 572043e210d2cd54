// SPDX-License-Identifier: Apache-2.0

package tree

// Patch is a patch that kustomize applies to objects of the tree: a strategic
// merge patch, which without a Target applies to the object with its own name
// and kind, or a JSON 6902 patch with a Target. It is inline in the
// kustomization.yaml.
type Patch struct {
	// Patch is the text, YAML or JSON.
	Patch string
	// Target selects the objects; nil for a strategic merge patch that names one.
	Target *Target
}

// Target selects objects; an empty field is no constraint. Names, kinds and
// the like are regular expressions that have to match as a whole.
type Target struct {
	Group, Version, Kind, Namespace, Name string
	// LabelSelector and AnnotationSelector are Kubernetes' label selectors.
	LabelSelector, AnnotationSelector string
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

func patches(list []Patch) []patch {
	var out []patch
	for _, p := range list {
		document := patch{Patch: block(p.Patch)}
		if p.Target != nil {
			document.Target = &target{
				Group: text(p.Target.Group), Version: text(p.Target.Version), Kind: text(p.Target.Kind),
				Namespace: text(p.Target.Namespace), Name: text(p.Target.Name),
				LabelSelector:      text(p.Target.LabelSelector),
				AnnotationSelector: text(p.Target.AnnotationSelector),
			}
		}
		out = append(out, document)
	}
	return out
}
