package kinds

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Asked returns the kinds that an asker has looked at, sorted.
func (k *Kinds) Asked(asker types.NamespacedName) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, w := range k.all() {
		w.mu.Lock()
		if _, ok := w.askers[asker]; ok {
			kinds = append(kinds, w.GVK)
		}
		w.mu.Unlock()
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Forget drops an asker.
func (k *Kinds) Forget(asker types.NamespacedName) { k.Keep(asker) }

// Keep drops an asker of all other kinds. The watch of a kind ends with its last asker.
func (k *Kinds) Keep(asker types.NamespacedName, kept ...schema.GroupVersionKind) {
	for _, w := range k.all() {
		if !slices.Contains(kept, w.GVK) && w.drop(asker) {
			k.remove(w)
		}
	}
}

// drop removes an asker, and reports whether the watch ends with it.
func (w *watch) drop(asker types.NamespacedName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.askers, asker)
	if len(w.askers) > 0 {
		return false
	}
	if w.cancel != nil {
		w.cancel()
	}
	w.reader, w.ended = nil, true
	return true
}
