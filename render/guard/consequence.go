// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// consequence returns what an IdentityChange of an instance does to what runs. Flux applies new objects before it deletes
// old ones, and deletes those only by deletionPolicy: Delete and prune: true.
func consequence(c safeguard.Change) string {
	switch {
	case c.Field == safeguard.TargetsField:
		return "the operators of the namespace would watch other namespaces, and leave alone what they have made in the others"
	case c.Key.Kind == backend.Subscription:
		return "what OLM v0 has installed runs on beside the new one, even if Flux deletes the Subscription, until its ClusterServiceVersion is deleted"
	case c.Key.Kind == backend.ClusterExtension && c.Field == safeguard.ObjectField:
		return "the former one runs on beside the new one; with deletionPolicy Delete Flux deletes it after it has applied the new one, and OLM deletes its CustomResourceDefinitions with all their objects"
	case c.Key.Kind == backend.ClusterExtension:
		return "OLM refuses that of a ClusterExtension that lives, and Flux applies nothing then: keep the value, or give the instance another name"
	case c.Field == safeguard.ObjectField:
		return "the former one runs on beside the new one; with deletionPolicy Delete what runs would be uninstalled, and installed anew"
	}
	return "what runs would be uninstalled, and installed anew"
}
