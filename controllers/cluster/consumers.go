package cluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Consumers are the Kustomizations that use the artifact of a selection.
type Consumers struct {
	// Known is false if Kustomizations cannot be read.
	Known bool
	items []consumer
}

// local returns the consumers that apply to this cluster.
func (c Consumers) local() []consumer {
	return slices.DeleteFunc(slices.Clone(c.items), func(item consumer) bool { return item.Remote })
}

// naming returns the consumers that name objects in this cluster: without any, one that names them as the artifact does.
func (c Consumers) naming() []consumer {
	if local := c.local(); len(local) > 0 {
		return local
	}
	return []consumer{{}}
}

// None reports whether it is known that no Kustomization uses the artifact.
func (c Consumers) None() bool { return c.Known && len(c.items) == 0 }

// ActHere reports whether a consumer applies to this cluster.
func (c Consumers) ActHere() bool { return len(c.local()) > 0 }

// mayActHere reports whether a consumer applies to this cluster, or one might that cannot be read.
func (c Consumers) mayActHere() bool { return !c.Known || c.ActHere() }

// appliedHere reports whether all consumers of this cluster, at least one, have applied the artifact.
func (c Consumers) appliedHere() bool {
	unapplied := func(item consumer) bool { return item.reason != "" }
	return c.ActHere() && !slices.ContainsFunc(c.local(), unapplied)
}

// include reports whether a Kustomization is a consumer that applies to this cluster.
func (c Consumers) include(key types.NamespacedName) bool {
	return slices.ContainsFunc(c.local(), func(item consumer) bool { return item.key() == key })
}

// liveKeys returns the keys that definitions, and the releases of instances, have in this cluster once they are applied.
func (c Consumers) liveKeys(definitions []safeguard.Definition) inventory.Keys {
	live := make(inventory.Keys, len(definitions))
	for _, item := range c.naming() {
		for _, d := range definitions {
			live[item.live(d.Key())] = true
		}
	}
	for _, r := range c.releases(definitions) {
		live[r.key] = true
	}
	return live
}

// release is the key of a release that a live object has. In the namespace of the object, it is at home.
type release struct{ key, object safeguard.Key }

func (r release) home() bool { return r.key.Namespace == r.object.Namespace }

// releases returns the releases of instances as the consumers name them.
func (c Consumers) releases(definitions []safeguard.Definition) []release {
	var all []release
	for _, item := range c.naming() {
		for _, d := range definitions {
			object := item.live(d.Key())
			d.Namespace = object.Namespace // that of the release of an object that is installed where it is
			for _, key := range d.Releases() {
				all = append(all, release{key, object})
			}
		}
	}
	return all
}

// liveDefinitions returns definitions with the names that they have in this cluster once they are applied.
func (c Consumers) liveDefinitions(definitions []safeguard.Definition) []safeguard.Definition {
	named := func(item consumer) bool { return item.prefix != "" || item.suffix != "" || item.namespace != "" }
	if !slices.ContainsFunc(c.local(), named) {
		return definitions
	}
	var live []safeguard.Definition
	for _, item := range c.local() {
		for _, d := range definitions {
			key := item.live(d.Key())
			d.Namespace, d.Name = key.Namespace, key.Name
			live = append(live, d)
		}
	}
	return live
}

// Statuses returns status.consumers.
func (c Consumers) Statuses() []v1alpha1.ConsumerStatus {
	var out []v1alpha1.ConsumerStatus
	for _, item := range c.items[:min(len(c.items), maxConsumers)] {
		out = append(out, item.ConsumerStatus)
	}
	return out
}

// home returns the keys of the releases that are at home.
func home(releases []release) inventory.Keys {
	keys := inventory.Keys{}
	for _, r := range releases {
		if r.home() {
			keys[r.key] = true
		}
	}
	return keys
}
