// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// statusWrites are the writes of statuses by this process, which a cache may lack for a while.
type statusWrites struct {
	mu sync.Mutex
	// replaced maps a selection to the resourceVersion that was patched last: a cache with that one, or an older one, is behind.
	replaced map[types.NamespacedName]string
}

func newStatusWrites() *statusWrites {
	return &statusWrites{replaced: map[types.NamespacedName]string{}}
}

// begin notes that the status of a selection is patched.
func (w *statusWrites) begin(before *v1alpha1.CatalogSelection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replaced[client.ObjectKeyFromObject(before)] = before.ResourceVersion
}

// isMissing reports whether a selection, as a cache has it, lacks the last write.
func (w *statusWrites) isMissing(cs *v1alpha1.CatalogSelection) bool {
	w.mu.Lock()
	replaced, ok := w.replaced[client.ObjectKeyFromObject(cs)]
	w.mu.Unlock()
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cs.ResourceVersion, replaced)
	return err != nil || order <= 0
}

// forget drops what is known of a selection that is gone.
func (w *statusWrites) forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.replaced, key)
}
