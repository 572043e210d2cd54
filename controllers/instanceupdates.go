// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const (
	// instanceDelay is the time from the first change of an instance to the patch of the status, which has all changes of
	// the meantime.
	instanceDelay = 5 * time.Second
	// instanceRetry is the delay after the API server did not answer.
	instanceRetry = time.Minute
)

// instanceUpdates are the selections whose instances are read next. They are not in the queue of the controller, because
// the state of an instance is no reason to look at sources, or to render what is held.
type instanceUpdates struct {
	queue workqueue.TypedDelayingInterface[types.NamespacedName]
	// delay is instanceDelay, but in tests.
	delay time.Duration
	// reconciled has the selections that a worker reconciles. Their status must not be patched meanwhile: the worker would
	// find a conflict, and render again.
	reconciled sync.Map
	// known maps a selection to the states that its instances had last, without those that were Unknown in between. Only the
	// loop of reportInstances uses it.
	known map[types.NamespacedName]map[string]metav1.ConditionStatus
}

func newInstanceUpdates() *instanceUpdates {
	return &instanceUpdates{
		queue: workqueue.NewTypedDelayingQueue[types.NamespacedName](), delay: instanceDelay,
		known: map[types.NamespacedName]map[string]metav1.ConditionStatus{},
	}
}

// enqueue lets the instances of selections be read after the delay. It does not prolong the delay of one that waits.
func (u *instanceUpdates) enqueue(keys ...types.NamespacedName) {
	for _, key := range keys {
		u.queue.AddAfter(key, u.delay)
	}
}

// reported returns the states that the instances of a selection had last, as its status and known have them.
func (u *instanceUpdates) reported(cs *v1alpha1.CatalogSelection) map[string]metav1.ConditionStatus {
	key := client.ObjectKeyFromObject(cs)
	last := u.known[key]
	u.known[key] = map[string]metav1.ConditionStatus{}
	for _, in := range cs.Status.Instances {
		u.known[key][in.Name] = in.Ready
		if in.Ready == metav1.ConditionUnknown {
			u.known[key][in.Name] = cmp.Or(last[in.Name], in.Ready)
		}
	}
	return u.known[key]
}

// pause keeps the instances of a selection from being reported until the returned function is called, which lets them be
// read.
func (u *instanceUpdates) pause(key types.NamespacedName) func() {
	u.reconciled.Store(key, true)
	return func() {
		u.reconciled.Delete(key)
		u.enqueue(key)
	}
}
