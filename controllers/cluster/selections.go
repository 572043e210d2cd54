package cluster

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// others returns the selections besides cs that are not being deleted. They are shared with the cache and must
// not be modified.
func (c *Cluster) others(ctx context.Context, cs *v1alpha1.CatalogSelection) ([]*v1alpha1.CatalogSelection, error) {
	var list v1alpha1.CatalogSelectionList
	if err := c.Selections.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing CatalogSelections: %w", err)
	}
	var others []*v1alpha1.CatalogSelection
	for i := range list.Items {
		other := &list.Items[i]
		gone, _ := c.gone.Load(client.ObjectKeyFromObject(other))
		if other.UID != cs.UID && other.DeletionTimestamp.IsZero() && gone != other.UID {
			others = append(others, other)
		}
	}
	return others, nil
}
