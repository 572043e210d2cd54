// SPDX-License-Identifier: Apache-2.0

// Package instances reads the states of the instances in an artifact from their live objects. It must not know when they are
// read, nor where they are reported.
package instances

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/backend/readiness"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Instances reads the states of instances. Objects is required.
type Instances struct {
	Objects *live.Objects

	// read maps the types.NamespacedName of a selection to what was read of it last: objects that have not changed since are
	// not read again.
	read sync.Map
}

// reading is a state, and the resourceVersion of the object that it was read from.
type reading struct {
	resourceVersion string
	state           v1alpha1.InstanceState
}

// readings maps objects to what was read of them.
type readings map[safeguard.Key]reading

// Forget deletes the cached states of a selection. It must not run concurrently with Observe of this selection, which
// would store them again.
func (i *Instances) Forget(key types.NamespacedName) { i.read.Delete(key) }

// Observe returns status.instances with the states that the live objects of published definitions have. An error is temporary.
func (i *Instances) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection, published []safeguard.Definition) ([]v1alpha1.InstanceStatus, error) {
	if len(cs.Status.Instances) == 0 {
		return nil, nil
	}
	consumed, err := i.Objects.Kustomizations.Of(ctx, cs)
	if err != nil {
		return nil, fmt.Errorf("finding the Kustomizations of the artifact: %w", err)
	}
	listed := slices.Clone(cs.Status.Instances)
	if reason := unreachable(consumed); reason != "" {
		for n := range listed {
			listed[n].InstanceState = unknown(reason)
		}
		return listed, nil
	}
	found := i.find(ctx, cs, consumed, published)
	read, err := i.update(ctx, cs, found)
	if err != nil {
		return nil, err
	}
	for n, in := range listed {
		listed[n].InstanceState = worst(found[in.Name], read)
	}
	share(listed)
	return listed, nil
}

// unreachable returns the reason why the live objects of the selection cannot be read; empty if they can.
func unreachable(consumed consumers.Consumers) string {
	switch {
	case !consumed.Known:
		return "the Kustomizations that apply it cannot be read"
	case len(consumed.Items) == 0:
		return "no Kustomization of this cluster applies it"
	case !consumed.ActHere():
		remote := slices.IndexFunc(consumed.Items, func(item consumers.Consumer) bool { return item.Remote })
		return fmt.Sprintf("it is applied to another cluster, by the kubeConfig of Kustomization %s", consumed.Items[remote].Key())
	}
	return ""
}

// candidate is a live object of an instance, or why there is none.
type candidate struct {
	object *guard.Live
	reason string
}

// kind is what the watch of a kind has, or why there is none.
type kind struct {
	schema.GroupVersionKind
	reader client.Reader
	err    error
}

// find maps instances to their live objects, one for each Kustomization that names it.
func (i *Instances) find(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers,
	published []safeguard.Definition) map[string][]candidate {
	watched := map[schema.GroupVersionKind]kind{} // one that cannot be opened is tried once
	found := map[string][]candidate{}
	for _, d := range published {
		if d.Instance == "" {
			continue
		}
		gvk := schema.FromAPIVersionAndKind(d.APIVersion, d.Kind)
		if _, ok := watched[gvk]; !ok {
			reader, err := i.Objects.Metadata(ctx, cs, gvk)
			watched[gvk] = kind{gvk, reader, err}
		}
		for _, consumer := range consumed.Naming() {
			found[d.Instance] = append(found[d.Instance], look(ctx, watched[gvk], consumer.Live(d.Key()), consumer.Key()))
		}
	}
	return found
}

// look returns the live object with a key if the Kustomization has applied it. Readers of the selection may have no
// right to read objects that other clients have applied.
func look(ctx context.Context, of kind, key safeguard.Key, kustomization types.NamespacedName) candidate {
	object, err := &guard.Live{}, of.err
	object.SetGroupVersionKind(of.GroupVersionKind)
	if err == nil {
		err = of.reader.Get(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name}, object)
		object.SetGroupVersionKind(of.GroupVersionKind)
	}
	reason := ""
	switch {
	case errors.Is(err, kinds.ErrForbidden):
		reason = forbidden(of.Kind)
	case errors.Is(err, kinds.ErrAbsent):
		reason = "the cluster does not serve the kind " + of.Kind
	case apierrors.IsNotFound(err):
		reason = fmt.Sprintf("%s %s does not exist", of.Kind, key.FullName())
	case err != nil: // such as a namespace that the controller does not watch
		reason = fmt.Sprintf("%s %s cannot be read: %v", of.Kind, key.FullName(), err)
	case guard.OwnerOf(object) != kustomization:
		reason = fmt.Sprintf("%s %s is not applied by Kustomization %s", of.Kind, key.FullName(), kustomization)
	default:
		return candidate{object: object}
	}
	return candidate{reason: reason}
}

func forbidden(kind string) string {
	return fmt.Sprintf("the controller may not read objects of the kind %s: %s", kind, config.GrantsMarks)
}

// update reads the objects that have changed since the last time, one by one: the objects of others can be many, and large.
func (i *Instances) update(ctx context.Context, cs *v1alpha1.CatalogSelection, found map[string][]candidate) (readings, error) {
	known, _ := i.read.Load(client.ObjectKeyFromObject(cs))
	last, _ := known.(readings)
	next := readings{}
	for _, candidates := range found {
		for _, c := range candidates {
			if c.object == nil {
				continue
			}
			key := guard.LiveKey(c.object)
			known, ok := last[key]
			if !ok || known.resourceVersion != c.object.ResourceVersion {
				u, err := i.Objects.Content(ctx, c.object)
				switch {
				case apierrors.IsNotFound(err):
					continue
				case apierrors.IsForbidden(err):
					known = reading{state: unknown(forbidden(c.object.Kind))} // read again the next time
				case err != nil:
					return nil, err
				default:
					known = reading{u.GetResourceVersion(), bounded(readiness.Of(u))}
				}
			}
			next[key] = known
		}
	}
	i.read.Store(client.ObjectKeyFromObject(cs), next)
	return next, nil
}

// worst returns the worst state of the objects of an instance.
func worst(candidates []candidate, read readings) v1alpha1.InstanceState {
	state := unknown("the record of the publication cannot be read")
	for n, c := range candidates {
		one := unknown(c.reason)
		if c.object != nil {
			one = read[guard.LiveKey(c.object)].state
			one.Message, one.Ready = cmp.Or(one.Message, "does not exist any more"), cmp.Or(one.Ready, metav1.ConditionUnknown)
		}
		if n == 0 || rank(one.Ready) < rank(state.Ready) {
			state = one
		}
	}
	return state
}

// rank orders statuses, the worst first.
func rank(ready metav1.ConditionStatus) int {
	return slices.Index([]metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown, metav1.ConditionTrue}, ready)
}

func unknown(message string) v1alpha1.InstanceState {
	return v1alpha1.InstanceState{Ready: metav1.ConditionUnknown, Message: bounds.Truncate(message, maxMessage)}
}
