// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Subscriptions returns the kinds that a subscriber uses, sorted.
func (k *Kinds) Subscriptions(subscriber types.NamespacedName) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, w := range k.all() {
		w.mu.Lock()
		if _, ok := w.subscribers[subscriber]; ok {
			kinds = append(kinds, w.GVK)
		}
		w.mu.Unlock()
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Forget removes a subscriber from all kinds.
func (k *Kinds) Forget(subscriber types.NamespacedName) { k.Keep(subscriber) }

// Keep removes a subscriber from all kinds but the kept ones. The watch of a kind ends with its last subscriber.
func (k *Kinds) Keep(subscriber types.NamespacedName, kept ...schema.GroupVersionKind) {
	for _, w := range k.all() {
		if !slices.Contains(kept, w.GVK) && w.drop(subscriber) {
			k.remove(w)
		}
	}
}

// drop removes an subscriber, and reports whether the watch ends with it.
func (w *watch) drop(subscriber types.NamespacedName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.subscribers, subscriber)
	if len(w.subscribers) > 0 {
		return false
	}
	if w.cancel != nil {
		w.cancel()
	}
	w.reader, w.ended = nil, true
	return true
}

// Subscribers returns the subscribers of a kind, sorted.
func (k *Kinds) Subscribers(kind schema.GroupVersionKind) []types.NamespacedName {
	var names []types.NamespacedName
	for _, w := range k.all() {
		if w.GVK == kind {
			w.mu.Lock()
			names = append(names, w.names()...)
			w.mu.Unlock()
		}
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return names
}
