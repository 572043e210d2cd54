// SPDX-License-Identifier: Apache-2.0

// Package leaving reads and writes status.leaving: the objects that a selection gives up, and that stay in its
// artifact, as placeholders, while another selection may take them over. It must not know the other selection.
package leaving

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Timeout bounds the time between the two halves of a move.
const Timeout = 10 * time.Minute

// RetryInterval is the interval at which an unfinished move is checked again.
const RetryInterval = 5 * time.Second

// Key returns the key of the live object of an entry.
func Key(entry v1alpha1.LeavingStatus) safeguard.Key {
	group, _, _ := strings.Cut(entry.APIVersion, "/")
	if !strings.Contains(entry.APIVersion, "/") {
		group = ""
	}
	return safeguard.KeyOf(group, entry.Kind, entry.Namespace, entry.Name)
}

// InArtifact returns the entries of status.leaving with a placeholder in the published artifact.
func InArtifact(cs *v1alpha1.CatalogSelection) []v1alpha1.LeavingStatus {
	return slices.DeleteFunc(slices.Clone(cs.Status.Leaving), func(entry v1alpha1.LeavingStatus) bool { return !entry.Placeholder })
}

// Placed returns the entries of status.leaving once the objects have placeholders in the artifact.
func Placed(staying []v1alpha1.LeavingStatus) []v1alpha1.LeavingStatus {
	placed := slices.Clone(staying)
	for i := range placed {
		placed[i].Placeholder = true
	}
	return placed
}

// Placeholders returns the live keys of the objects that have a placeholder in the artifact.
func Placeholders(cs *v1alpha1.CatalogSelection) inventory.Keys {
	keys := inventory.Keys{}
	for _, entry := range InArtifact(cs) {
		keys[Key(entry)] = true
	}
	return keys
}

// WithKinds adds the kinds of the objects in status.leaving to kinds.
func WithKinds(cs *v1alpha1.CatalogSelection, kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	for _, entry := range cs.Status.Leaving {
		if kind := schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Withdraw removes the objects from status.leaving that the selection does not give up now, because a safeguard holds
// the render without them. Those with a placeholder in the artifact stay.
func Withdraw(cs *v1alpha1.CatalogSelection) {
	cs.Status.Leaving = InArtifact(cs)
}

// WithoutRendered returns the entries of status.leaving without the objects that a render has again: if they leave later, the
// time for their receivers begins anew. Those with a placeholder in the artifact stay, whose removal needs a publication.
func WithoutRendered(leaving []v1alpha1.LeavingStatus, rendered inventory.Keys) []v1alpha1.LeavingStatus {
	return slices.DeleteFunc(slices.Clone(leaving), func(entry v1alpha1.LeavingStatus) bool {
		return !entry.Placeholder && rendered[Key(entry)]
	})
}

// RetryAfter returns the delay before an object that stays is looked at again: soon within Timeout, as the receiver may
// be ready for it at any time.
func RetryAfter(cs *v1alpha1.CatalogSelection, now time.Time) time.Duration {
	const later = time.Minute
	retry := time.Duration(0)
	for _, entry := range cs.Status.Leaving {
		if now.Sub(entry.Since.Time) < Timeout {
			return RetryInterval
		}
		retry = later
	}
	return retry
}

// Describe states where an object is kept, and until when.
func Describe(entry v1alpha1.LeavingStatus, now time.Time) string {
	name, end := Key(entry).FullName(), entry.Since.Add(Timeout)
	if now.Before(end) {
		return fmt.Sprintf("%s stays in the artifact until %s at the latest, because the CatalogSelection %s may take it over",
			name, end.UTC().Format(time.RFC3339), entry.Receiver)
	}
	return fmt.Sprintf("%s stays in the artifact until the CatalogSelection %s has applied it, because it may not be marked", name, entry.Receiver)
}
