// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/render/bounded"
)

// ErrTarget is what is wrong with the target of a patch.
var ErrTarget = errors.New("the target cannot be used")

// checkTarget returns an error for a target that kustomize must not read: its fields are regular expressions.
func checkTarget(target *kustomize.Selector) error {
	if target == nil {
		return nil
	}
	for _, expression := range []string{target.Group, target.Version, target.Kind, target.Namespace, target.Name} {
		if err := bounded.CheckExpression(expression); err != nil {
			return fmt.Errorf("%w: %w", ErrTarget, err)
		}
	}
	return nil
}

// matches returns an error if the target selects no object. A patch without a target names its object
// itself, and kustomize refuses the patch if that object does not exist.
func matches(objects Objects, target *kustomize.Selector) error {
	if target == nil {
		return nil
	}
	found, err := selectedBy(objects, target)
	if err == nil && len(found) == 0 {
		err = errors.New("the target matches no object of the artifact")
	}
	return err
}

// selectedBy returns the objects that a target selects.
func selectedBy(objects Objects, target *kustomize.Selector) ([]*resource.Resource, error) {
	selector := types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: target.Group, Version: target.Version, Kind: target.Kind},
			Name: target.Name, Namespace: target.Namespace,
		},
		LabelSelector:      target.LabelSelector,
		AnnotationSelector: target.AnnotationSelector,
	}
	var all []*resource.Resource
	for _, part := range objects {
		found, err := part.Select(selector)
		if err != nil {
			return nil, fmt.Errorf("the target cannot be read: %w", err)
		}
		all = append(all, found...)
	}
	return all, nil
}
