// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// maxReviews bounds the objects about which the API server is asked one by one.
const maxReviews = 100

// WithoutUnreadable marks the changes of live objects that the account of the selection may not read. Who reads the
// status of the selection must not see what that account does not.
func (a *Accounts) WithoutUnreadable(ctx context.Context, cs *v1alpha1.CatalogSelection, changes []safeguard.Change,
	kindOf map[safeguard.Key]schema.GroupVersionKind) ([]safeguard.Change, error) {
	if len(changes) == 0 || !a.Impersonates(cs) {
		return changes, nil
	}
	account, err := a.Of(cs)
	if err != nil {
		return nil, err
	}
	asked := map[schema.GroupVersionKind]bool{}
	for i, change := range changes {
		if change.OfPlatform() || change.Reason == v1alpha1.RemovalReason {
			continue // proves nothing about the content
		}
		about := []schema.GroupVersionKind{kindOf[change.Key]}
		if change.Field == safeguard.OperatorConflictField {
			about = kinds.Operators() // its description names any of them
		}
		for _, kind := range about {
			if _, known := asked[kind]; !known {
				asked[kind] = mayRead(ctx, account, kind, safeguard.Key{})
			}
			readable := asked[kind] || change.Field != safeguard.OperatorConflictField && i < maxReviews && mayRead(ctx, account, kind, change.Key)
			changes[i].Unreadable = changes[i].Unreadable || !readable
		}
	}
	return changes, nil
}

// mayRead reports whether an account may read a live object, or all of a kind without a name. It may not if the API
// server does not say.
func mayRead(ctx context.Context, account client.Client, kind schema.GroupVersionKind, key safeguard.Key) bool {
	mapping, err := account.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		reportError(ctx, err, "looking for the resource of "+kind.String())
		return false
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Group: mapping.Resource.Group, Version: mapping.Resource.Version, Resource: mapping.Resource.Resource,
			Namespace: key.Namespace, Name: key.Name,
		},
	}}
	if err := account.Create(ctx, review); err != nil {
		reportError(ctx, fmt.Errorf("asking what the account may read: %w", err), "live objects are not described")
		return false
	}
	return review.Status.Allowed
}

func reportError(ctx context.Context, err error, message string) {
	if ctx.Err() == nil {
		ctrl.LoggerFrom(ctx).Error(err, message)
	}
}
