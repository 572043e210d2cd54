// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/render/tree"
)

// matches returns an error if the target selects no object. A patch without a target names its object
// itself, and kustomize refuses the patch if that object does not exist.
func matches(objects resmap.ResMap, target *tree.Target) error {
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
func selectedBy(objects resmap.ResMap, target *tree.Target) ([]*resource.Resource, error) {
	found, err := objects.Select(types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: target.Group, Version: target.Version, Kind: target.Kind},
			Name: target.Name, Namespace: target.Namespace,
		},
		LabelSelector:      target.LabelSelector,
		AnnotationSelector: target.AnnotationSelector,
	})
	if err != nil {
		return nil, fmt.Errorf("the target cannot be read: %w", err)
	}
	return found, nil
}
