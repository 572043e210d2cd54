// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// handler enqueues the selections that a change concerns. It ignores the initial list, because the selection
// that starts the watch reads the objects itself.
func (k *Kinds) handler(ctx context.Context, w *watch) toolscache.ResourceEventHandler {
	changed := func(older, newer client.Object) { k.Enqueue(ctx, w.Concerned(ctx, older, newer)...) }
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			if o, ok := object.(client.Object); ok && !isInInitialList {
				changed(nil, o)
			}
		},
		UpdateFunc: func(older, newer any) {
			a, _ := older.(client.Object)
			b, _ := newer.(client.Object)
			if a != nil && b != nil {
				changed(a, b)
			}
		},
		DeleteFunc: func(object any) {
			if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if o, ok := object.(client.Object); ok {
				changed(o, nil)
			}
		},
	}
}

// lose ends the watch with this context, unless it has ended, because its kind is gone or may no longer be
// read.
func (k *Kinds) lose(ctx context.Context, w *watch, why error) {
	w.mu.Lock()
	lost := w.reader != nil && ctx.Err() == nil
	if lost {
		w.cancel()
		w.reader, w.err = nil, why
	}
	subscribers := w.names()
	w.mu.Unlock()
	if lost {
		ctrl.LoggerFrom(ctx).Info("watch ended", "kind", w.GVK.String(), "reason", why.Error())
		k.Enqueue(k.ctx, subscribers...) //nolint:contextcheck // the context of the watch has just ended
	}
}
