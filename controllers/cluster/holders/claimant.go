// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"cmp"
	"maps"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claimant is what the view has of a selection.
type Claimant struct {
	Name    types.NamespacedName
	UID     types.UID
	Created metav1.Time
	// Generation of the spec, and the time of its edit.
	Generation int64
	Seen       time.Time
	Suspended  bool
	// Claims are in its status; the zero value claims nothing.
	Claims v1alpha1.Claim
	// version is its resource version, and revision the revision of its artifact.
	version, revision string
	// since maps each claimed key to the time when this process has seen the claim first. The others have the keys of the fields of
	// the claim with the same names.
	since                          map[Digest]time.Time
	published, waits, given, gives map[Digest]bool
}

// IsEvaluated reports whether the claim was made for the present spec.
func (c *Claimant) IsEvaluated() bool { return c.Claims.Generation == c.Generation }

// MayPublish reports whether a publication by its claims would succeed.
func (c *Claimant) MayPublish() bool { return c.IsEvaluated() && !c.Claims.Held && !c.Suspended }

// givesUp reports whether its publication lacks a key, or its render lacks it and has passed the guard. An edit of the spec takes the
// render back.
func (c *Claimant) givesUp(key Digest) bool {
	return c.given[key] || c.IsEvaluated() && !c.Claims.Held && !c.Claims.Pending && c.gives[key]
}

// keys returns the keys that it claims, gives up, or is about to give up.
func (c *Claimant) keys() map[Digest]bool {
	keys := map[Digest]bool{}
	for key := range c.since {
		keys[key] = true
	}
	maps.Copy(keys, c.given)
	maps.Copy(keys, c.gives)
	return keys
}

// isBefore reports whether the version of the selection is an earlier one.
func (c *Claimant) isBefore(version string) bool {
	order, err := resourceversion.CompareResourceVersion(c.version, version)
	return err == nil && order < 0
}

// claims reports whether it claims a key, or has published it.
func (c *Claimant) claims(key safeguard.Key) bool { return !c.since[DigestOf(key)].IsZero() }

// Compare orders selections by their age, and selections of the same second by their names.
func (c *Claimant) Compare(other *Claimant) int {
	return cmp.Or(c.Created.Compare(other.Created.Time), cmp.Compare(c.Name.String(), other.Name.String()))
}

// selection returns what the readers of Kustomizations and the writers of statuses need of the selection.
func (c *Claimant) selection() *v1alpha1.CatalogSelection {
	status := v1alpha1.CatalogSelectionStatus{}
	if c.revision != "" {
		status.Artifact = &meta.Artifact{Revision: c.revision}
	}
	return &v1alpha1.CatalogSelection{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Name.Namespace, Name: c.Name.Name, UID: c.UID, ResourceVersion: c.version, Generation: c.Generation},
		Status:     status,
	}
}
