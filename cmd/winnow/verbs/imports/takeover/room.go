// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"slices"
)

// Most members of a CatalogSelection, as its definition says.
const (
	maxInstances    = 256
	maxPatches      = 64
	maxDependencies = 32
)

// enforceLimits refuses what a selection has no room for, the last by name, and reports whether there is something.
func (t *taker) enforceLimits() bool {
	before := len(t.refused)
	last := t.candidates()
	slices.Reverse(last)
	for _, c := range last {
		switch {
		case len(t.selection.Spec.Instances)+len(t.taken) > maxInstances:
			t.drop(c, fmt.Sprintf("the selection would have more than %d instances: import it into another one", maxInstances))
		case len(c.instance.DependsOn) > maxDependencies:
			t.drop(c, fmt.Sprintf("it depends on more than %d instances", maxDependencies))
		case c.patch != nil && len(t.selection.Spec.Patches)+len(patches(t.selection.Namespace, t.candidates()...)) > maxPatches:
			t.drop(c, fmt.Sprintf("it needs a patch, and the selection would have more than %d: import it into another one", maxPatches))
		}
	}
	return len(t.refused) > before
}
