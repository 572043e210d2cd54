// SPDX-License-Identifier: Apache-2.0

package tree

import "github.com/fluxcd/pkg/apis/kustomize"

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
