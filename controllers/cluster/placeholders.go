package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/render/placeholder"
)

// Placeholders returns the objects that stay in the artifact, with the names that they have there.
func (c Consumers) Placeholders(entries []v1alpha1.LeavingStatus) []placeholder.Placeholder {
	var all []placeholder.Placeholder
	for _, entry := range entries {
		key := leaving.Key(entry)
		for _, item := range c.naming() {
			if rendered := item.rendered(key); item.live(rendered) == key {
				all = append(all, placeholder.Placeholder{APIVersion: entry.APIVersion, Kind: entry.Kind, Namespace: key.Namespace, Name: rendered.Name})
			}
		}
	}
	return all
}

// fit returns a HandoverError if placeholders of the objects that stay do not fit the patches of a Kustomization in the
// namespace of the selection, or of one that owns an object that leaves. The patches of any other one are a stranger's,
// and delay nothing.
func (c Consumers) fit(cs *v1alpha1.CatalogSelection, d *departure) error {
	placeholders := c.Placeholders(d.entries())
	if len(placeholders) == 0 {
		return nil
	}
	owners := map[types.NamespacedName]bool{}
	for _, object := range d.objects {
		owners[ownerOf(object)] = true
	}
	read := 0
	for _, item := range c.items {
		if len(item.patches) == 0 || item.Namespace != cs.Namespace && !owners[item.key()] {
			continue
		}
		err := fmt.Errorf("of all Kustomizations, at most %d bytes of patches are read", maxPatches)
		for _, p := range item.patches {
			read += len(p.Patch)
		}
		if read <= maxPatches {
			err = placeholder.Fit(placeholders, item.patches)
		}
		if err != nil {
			return &HandoverError{fmt.Sprintf("Flux could not build, or would apply, the placeholders of objects that leave with spec.patches of the Kustomization %s, "+
				"so that this waits until another CatalogSelection has applied the objects, or none may take them over: add the annotationSelector %s to the targets "+
				"of patches that select all objects of a kind: %s", item.key(), placeholder.Excluding, bounds.Truncate(err.Error(), maxConsumerMessage))}
		}
	}
	return nil
}
