// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// settleRetry is the delay before unsettled sources are checked again.
const settleRetry = 5 * time.Second

// unsettledError reports that an edit loses something while Flux may still apply sources of the same commit.
type unsettledError struct {
	message string
	after   time.Duration
}

// Reason is the reason of the condition.
func (e *unsettledError) Reason() string { return v1alpha1.SourcesUnsettledReason }

func (e *unsettledError) Error() string { return e.message }

// edits maps the UID of a selection to its spec and when that was seen first. The zero value is empty.
type edits struct {
	mu   sync.Mutex
	seen map[types.UID]edit
}

type edit struct {
	spec  v1alpha1.CatalogSelectionSpec
	since time.Time
}

// since returns when the spec of the selection was seen first, and remembers now for a new spec.
func (e *edits) since(cs *v1alpha1.CatalogSelection, now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	spec := guard.RenderedSpec(cs)
	if last, ok := e.seen[cs.UID]; ok && equality.Semantic.DeepEqual(last.spec, spec) {
		return last.since
	}
	if e.seen == nil {
		e.seen = map[types.UID]edit{}
	}
	e.seen[cs.UID] = edit{spec, now}
	return now
}

func (e *edits) forget(uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.seen, uid)
}
