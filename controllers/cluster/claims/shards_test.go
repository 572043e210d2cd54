// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"maps"
	"testing"

	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Whoever may write a status writes its claims: what is found is among the keys of the reader, and what was claimed is found.
func FuzzClaims(f *testing.F) {
	f.Add([]byte("short"), "argocd")
	f.Add(packed(inventory.Keys{safeguard.KeyOf("", "ApplicationDefinition", "", "argocd"): true}), "argocd")
	f.Fuzz(func(t *testing.T, claims []byte, name string) {
		keys := inventory.Keys{safeguard.KeyOf("", "ApplicationDefinition", "", name): true}
		if found := among(keys, claims); len(found.Without(keys)) > 0 {
			t.Errorf("among() = %v", found)
		}
		if found := among(keys, append(packed(keys), claims...)); !maps.Equal(found, keys) {
			t.Errorf("what is claimed is not found: %v", found)
		}
	})
}
