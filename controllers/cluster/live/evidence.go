// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/evidence"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/guard"
)

// Evidence returns the evidence about the Kustomizations of a selection. live has objects that the caller has listed
// already; the objects of the other kinds that the selection publishes are added. Without the right to read one of
// these kinds, what the Kustomizations report about its objects has to do: two selections that both apply one
// definition would be worse than one that waits.
func (o *Objects) Evidence(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, live []*guard.Live) (evidence.Evidence, error) {
	published, _ := o.Published(cs)
	unread := map[schema.GroupKind]bool{}
	readable := slices.DeleteFunc(o.kindsToMark(cs, published), func(gvk schema.GroupVersionKind) bool {
		_, err := o.Kinds.Look(ctx, o.kind(gvk), client.ObjectKeyFromObject(cs))
		forbidden := errors.Is(err, kinds.ErrForbidden)
		if forbidden {
			unread[gvk.GroupKind()] = true
		}
		return forbidden
	})
	more, err := o.list(ctx, cs, readable, false)
	if err != nil {
		return evidence.Evidence{}, err
	}
	return evidence.In(append(more, live...), consumed, published, unread), nil
}
