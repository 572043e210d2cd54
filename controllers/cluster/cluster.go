// Package cluster reads and marks the live state that concerns CatalogSelections: definitions, the
// Kustomizations that apply them, the selection that holds each object, and the marks that keep Flux from
// changing or deleting one. It must not know how an artifact is rendered, fetched, guarded or published.
package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Cluster gives access to this cluster for all selections. All exported fields are required.
type Cluster struct {
	// Selections reads CatalogSelections from the cache of the controller.
	Selections client.Reader
	// APIReader reads from the API server, not from the caches.
	APIReader client.Reader
	// Events receives the events about missing rights and about moves.
	Events record.EventRecorder
	// Kinds watches definitions and Kustomizations.
	Kinds *kinds.Kinds
	// Accounts creates the clients that set marks.
	Accounts *Accounts
	// Published returns the definitions in the artifact of a selection; nil if they are not known.
	Published func(*v1alpha1.CatalogSelection) ([]safeguard.Definition, error)
	// Outdated reports whether the status of a selection may be older than its artifact, as after a restore.
	Outdated func(context.Context, *v1alpha1.CatalogSelection) bool
	// Rendered reports whether the artifact of a selection was rendered from its present spec.
	Rendered func(*v1alpha1.CatalogSelection) bool
	// Enqueue adds selections to the queue.
	Enqueue func(context.Context, ...types.NamespacedName)
	// Now is the clock for reservations and moves.
	Now func() time.Time

	claims claims
	// gone maps types.NamespacedName to the UID of a deleted selection, which the cache may still have.
	gone sync.Map
	// seen maps the types.NamespacedName of a selection to its UID.
	seen sync.Map
	// acted maps a UID to the action that SyncMarks found last.
	acted sync.Map
	// inspected maps a UID to the kinds of the definitions that the selection rendered last.
	inspected sync.Map
	// forbidden has the warnings that were sent already.
	forbidden sync.Map
}

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

// Forget deletes the state of a selection that is deleted, and enqueues the selections that serve or render its
// keys.
func (c *Cluster) Forget(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	served := c.served(ctx, cs)
	c.gone.Store(key, cs.UID)
	c.drop(cs.UID, key)
	c.Kinds.Forget(key)
	c.enqueueOthers(ctx, cs, served)
}

// Gone deletes the state of a selection that is no longer in the cache: it was deleted, or belongs to another
// shard now. It returns its UID, if there was any state.
func (c *Cluster) Gone(key types.NamespacedName) (types.UID, bool) {
	c.gone.Delete(key)
	seen, ok := c.seen.LoadAndDelete(key)
	if !ok {
		return "", false
	}
	uid := seen.(types.UID)
	c.drop(uid, key)
	return uid, true
}

// drop deletes the state of a selection, besides the watches of its kinds.
func (c *Cluster) drop(uid types.UID, key types.NamespacedName) {
	c.claims.forget(uid, key)
	c.acted.Delete(uid)
	c.inspected.Delete(uid)
	c.forbidden.Range(func(k, _ any) bool {
		if k.(warning).uid == uid {
			c.forbidden.Delete(k)
		}
		return true
	})
}

// warning identifies a warning that is sent once for a selection.
type warning struct {
	uid         types.UID
	consequence string
}

// maxReported bounds the part of an API error in an event, in bytes.
const maxReported = 512

// reportForbidden reports a missing right of the controller, or of the account that it impersonates, and the
// consequence, by an event and in the log, once for each selection.
func (c *Cluster) reportForbidden(ctx context.Context, cs *v1alpha1.CatalogSelection, err error, consequence string) {
	if _, reported := c.forbidden.LoadOrStore(warning{cs.UID, consequence}, true); reported {
		return
	}
	message := bounds.Truncate(bounds.Truncate(err.Error(), maxReported)+": "+consequence, bounds.EventMessage)
	c.Events.Event(cs, corev1.EventTypeWarning, v1alpha1.MarksForbiddenReason, message)
	ctrl.LoggerFrom(ctx).Info("forbidden", "reason", err.Error(), "consequence", consequence)
}

// AwaitsConsumer reports whether the artifact of a selection is withheld until a Kustomization uses it, whose
// inventory is compared first.
func AwaitsConsumer(cs *v1alpha1.CatalogSelection) bool {
	return cs.Status.Withheld == v1alpha1.NoConsumerReason
}

// RevisionOf returns the revision of the artifact of a selection, empty without one.
func RevisionOf(cs *v1alpha1.CatalogSelection) string {
	if cs.Status.Artifact == nil {
		return ""
	}
	return cs.Status.Artifact.Revision
}
