// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/pushes"
	"github.com/winnow-dev/winnow/controllers/source"
)

// CatalogSelectionReconciler reconciles CatalogSelections. The zero value is not usable; call New.
type CatalogSelectionReconciler struct {
	// Client writes as the field manager of the controller.
	client.Client
	record.EventRecorder

	// measured are the metrics of Winnow itself.
	measured *metrics.Metrics
	// apiReader reads past the cache.
	apiReader client.Reader
	sources   *source.Sources
	loader    *source.Loader
	artifacts *artifacts.Artifacts
	cluster   *cluster.Cluster
	pushes    *pushes.Pushes
	slots     slots
	instances *instanceUpdates

	// settleDelay is the minimum age of an edit that removes something before it is published.
	settleDelay time.Duration
	// now is the clock for the age of edits, and for waits.
	now func() time.Time
	// publishTimeout overrides the constant of that name unless it is zero.
	publishTimeout time.Duration
	// enqueued puts selections into the queue, and changed does so after a moment.
	enqueued, changed chan event.GenericEvent
	// looked has the types.NamespacedName of each selection for which nothing has changed in the cluster since its last look.
	looked sync.Map
	// published maps the types.NamespacedName of a selection to its last publication by this process.
	published sync.Map
	// replaced maps the types.NamespacedName of a selection to the resourceVersion whose status this process has patched last.
	replaced sync.Map
	// edits are the edits of specs that are not published yet.
	edits edits
}
