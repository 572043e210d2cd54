// SPDX-License-Identifier: Apache-2.0

// Package consumers reads the Kustomizations that use the artifact of a selection: the names that they give its
// objects, whether they have applied it, what they change in it, and what they delete. It must not know which selection
// holds an object.
package consumers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Consumers are the Kustomizations that use the artifact of a selection.
type Consumers struct {
	// Known is false if Kustomizations cannot be read.
	Known bool
	// Namespace of the selection.
	Namespace string
	// Items are in the order of their names.
	Items []Consumer
}

// Local returns the consumers that apply to this cluster.
func (c Consumers) Local() []Consumer {
	return slices.DeleteFunc(slices.Clone(c.Items), func(item Consumer) bool { return item.Remote })
}

// acting returns the consumers by which a selection acts in this cluster. Anyone may create consumers in other namespaces. They count
// only if the namespace of the selection has none, not even one of another cluster.
func (c Consumers) acting() []Consumer {
	local, isHome := c.Local(), func(item Consumer) bool { return item.Namespace == c.Namespace }
	if !slices.ContainsFunc(c.Items, isHome) {
		return local
	}
	return slices.DeleteFunc(local, func(item Consumer) bool { return !isHome(item) })
}

// Naming returns the consumers that name objects in this cluster: without any, one that names them as the artifact does.
func (c Consumers) Naming() []Consumer {
	if acting := c.acting(); len(acting) > 0 {
		return acting
	}
	return []Consumer{{}}
}

// Names returns the names that the Kustomizations of Naming give objects.
func (c Consumers) Names() []func(safeguard.Key) safeguard.Key {
	return each.Map(c.Naming(), func(item Consumer) func(safeguard.Key) safeguard.Key { return item.Live })
}

// None reports whether it is known that no Kustomization uses the artifact.
func (c Consumers) None() bool { return c.Known && len(c.Items) == 0 }

// ActHere reports whether the selection acts in this cluster: then it claims what it publishes.
func (c Consumers) ActHere() bool { return len(c.acting()) > 0 }

// MayActHere reports whether any consumer applies to this cluster, or one might that cannot be read: then live objects are protected.
func (c Consumers) MayActHere() bool {
	return !c.Known || slices.ContainsFunc(c.Items, func(item Consumer) bool { return !item.Remote })
}

// AppliedHere reports whether all consumers by which the selection acts in this cluster, at least one, have applied the artifact.
func (c Consumers) AppliedHere() bool {
	acting := c.acting()
	return len(acting) > 0 && !slices.ContainsFunc(acting, func(item Consumer) bool { return item.Reason != "" })
}

// AppliedOnly reports whether each consumer has applied, and attempted to apply, one of the revisions, or none.
func (c Consumers) AppliedOnly(revisions []string) bool {
	known := append([]string{""}, revisions...)
	unknown := func(item Consumer) bool {
		return !slices.Contains(known, item.Revision) || !slices.Contains(known, item.attempted)
	}
	return !slices.ContainsFunc(c.Items, unknown)
}

// State tells the revisions that the consumers have applied from others.
func (c Consumers) State() string {
	hash := sha256.New()
	for _, item := range c.Items {
		if item.Revision != "" {
			fmt.Fprintln(hash, item.Key(), item.Revision)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Include reports whether a Kustomization is a consumer that applies to this cluster.
func (c Consumers) Include(key types.NamespacedName) bool {
	for i := range c.Items { // a copy is large
		if item := &c.Items[i]; !item.Remote && item.Name == key.Name && item.Namespace == key.Namespace {
			return true
		}
	}
	return false
}

// LiveKeys returns the keys that definitions, and the releases of instances, have in this cluster once they are applied.
func (c Consumers) LiveKeys(definitions []safeguard.Definition) inventory.Keys {
	live := make(inventory.Keys, len(definitions))
	for _, item := range c.Naming() {
		for _, d := range definitions {
			live[item.Live(d.Key())] = true
		}
	}
	for _, r := range c.Releases(definitions) {
		live[r.Key] = true
	}
	return live
}

// Release is the key of a release that a live object has. In the namespace of the object, it is at home.
type Release struct{ Key, Object safeguard.Key }

// Releases returns the releases of instances as the consumers name them.
func (c Consumers) Releases(definitions []safeguard.Definition) []Release {
	var all []Release
	for _, item := range c.Naming() {
		for _, d := range definitions {
			object := item.Live(d.Key())
			d.Namespace = object.Namespace // the release of an object that is installed where it is has it too
			for _, key := range d.Releases() {
				all = append(all, Release{key, object})
			}
		}
	}
	return all
}

// Statuses returns status.consumers.
func (c Consumers) Statuses() []v1alpha1.ConsumerStatus {
	return each.Map(c.Items[:min(len(c.Items), maxConsumers)], func(item Consumer) v1alpha1.ConsumerStatus { return item.ConsumerStatus })
}
