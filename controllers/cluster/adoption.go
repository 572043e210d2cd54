package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Adopted returns what live definitions would lose that the selection does not publish yet. Those are
// left out that Flux leaves alone, or will, because the admin has bypassed them; except where this
// process could not mark them.
func (c *Cluster) Adopted(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published, next []safeguard.Definition, around *Surroundings) ([]safeguard.Change, error) {
	marked := func(object *liveMeta) bool { return guard.Honored(cs, object) && !around.unmarked[object.UID] }
	first := cs.Status.Artifact == nil && !around.Consumers.Known
	adoption := guard.Adopt(cs, around.Consumers.liveDefinitions(published), around.Consumers.liveDefinitions(next), around.live, first, marked)
	found, err := c.readVersions(ctx, adoption.Entering)
	if err != nil {
		return nil, err
	}
	return adoption.Changes(found), nil
}

func liveDefinition(object *liveMeta, versions []string) safeguard.Definition {
	return safeguard.Definition{APIVersion: object.APIVersion, Kind: object.Kind, Name: object.Name, Versions: versions}
}

// readVersions reads the versions of definitions, of which only the metadata are watched: few one
// by one, many by lists.
func (c *Cluster) readVersions(ctx context.Context, objects []*liveMeta) ([]safeguard.Definition, error) {
	const few = 20
	if len(objects) > few {
		return c.listVersions(ctx, objects)
	}
	var read []safeguard.Definition
	for _, object := range objects {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(object.GroupVersionKind())
		err := c.APIReader.Get(ctx, client.ObjectKeyFromObject(object), u)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading the live %s %s: %w", object.Kind, object.Name, err)
		}
		read = append(read, liveDefinition(object, safeguard.Versions(u.Object)))
	}
	return read, nil
}

func (c *Cluster) listVersions(ctx context.Context, objects []*liveMeta) ([]safeguard.Definition, error) {
	const page = 250
	wanted := map[safeguard.Key]*liveMeta{}
	gvks := map[schema.GroupVersionKind]bool{}
	for _, object := range objects {
		wanted[keyOf(object)], gvks[object.GroupVersionKind()] = object, true
	}
	var read []safeguard.Definition
	for gvk := range gvks {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		for {
			if err := c.APIReader.List(ctx, list, client.Limit(page), client.Continue(list.GetContinue())); err != nil {
				return nil, fmt.Errorf("reading the live %s objects: %w", gvk.Kind, err)
			}
			for _, u := range list.Items {
				if object := wanted[safeguard.Key{Group: gvk.Group, Kind: gvk.Kind, Name: u.GetName()}]; object != nil {
					read = append(read, liveDefinition(object, safeguard.Versions(u.Object)))
				}
			}
			if list.GetContinue() == "" {
				break
			}
		}
	}
	return read, nil
}
