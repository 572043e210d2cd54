// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/render/placeholder"
)

// maxPatches bounds the bytes of patches with which placeholders are built.
const maxPatches = 1 << 20

// Placeholders returns the objects that stay in the artifact, with the names that they have there. Which consumer has applied
// one is not known: each counts that could have.
func (c Consumers) Placeholders(entries []v1alpha1.LeavingStatus) []placeholder.Placeholder {
	var all []placeholder.Placeholder
	for _, entry := range entries {
		key := leaving.Key(entry)
		for _, item := range append(c.Local(), c.Naming()...) {
			if rendered := item.Rendered(key); item.Live(rendered) == key {
				all = append(all, placeholder.Placeholder{APIVersion: entry.APIVersion, Kind: entry.Kind, Namespace: key.Namespace, Name: rendered.Name})
			}
		}
	}
	return all
}

// Misfit explains why placeholders of the objects that stay do not fit the patches of a Kustomization in the namespace
// of the selection, or of one of the owners of the objects that leave; empty if they fit. The patches of other
// Kustomizations delay nothing.
func (c Consumers) Misfit(ctx context.Context, staying []v1alpha1.LeavingStatus, namespace string, owners map[types.NamespacedName]bool) string {
	placeholders := c.Placeholders(staying)
	if len(placeholders) == 0 {
		return ""
	}
	read := 0
	for _, item := range c.Items {
		if len(item.patches) == 0 || item.Namespace != namespace && !owners[item.Key()] {
			continue
		}
		err := fmt.Errorf("of all Kustomizations, at most %d bytes of patches are read", maxPatches)
		for _, p := range item.patches {
			read += len(p.Patch)
		}
		if read <= maxPatches {
			err = placeholder.Fit(ctx, placeholders, item.patches)
		}
		if err != nil {
			return fmt.Sprintf("Flux could not build, or would apply, the placeholders of objects that leave with spec.patches of the Kustomization %s, "+
				"so that this waits until another CatalogSelection has applied the objects, or none may take them over: add the annotationSelector %s to the targets "+
				"of patches that select all objects of a kind: %s", item.Key(), placeholder.Excluding, bounds.Truncate(err.Error(), maxConsumerMessage))
		}
	}
	return ""
}
