// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
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

// edits maps the UID of a selection to its spec and to the revisions of its sources and of its artifact, and when each was seen
// first. The zero value is empty.
type edits struct {
	mu   sync.Mutex
	seen map[types.UID]edit
}

type edit struct {
	spec            v1alpha1.CatalogSelectionSpec
	revision        string
	since, released time.Time
	artifact        string
	published       time.Time
}

// since returns when the spec of the selection was seen first, and remembers now for a new spec.
func (e *edits) since(cs *v1alpha1.CatalogSelection, now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.edit(cs, now).since
}

// settling returns when the spec, or the revision of its sources, was seen first, whichever is later.
func (e *edits) settling(cs *v1alpha1.CatalogSelection, revision string, now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := e.edit(cs, now)
	if last.revision != revision {
		last.revision, last.released = revision, now
		e.seen[cs.UID] = last
	}
	if last.released.After(last.since) {
		return last.released
	}
	return last.since
}

// published returns when the revision of the artifact was seen first.
func (e *edits) published(cs *v1alpha1.CatalogSelection, now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := e.edit(cs, now)
	if revision := consumers.RevisionOf(cs); last.artifact != revision {
		last.artifact, last.published = revision, now
		e.seen[cs.UID] = last
	}
	return last.published
}

// edit returns what was seen of the spec. The caller holds the lock.
func (e *edits) edit(cs *v1alpha1.CatalogSelection, now time.Time) edit {
	spec := guard.RenderedSpec(cs)
	last, ok := e.seen[cs.UID]
	if !ok || !equality.Semantic.DeepEqual(last.spec, spec) {
		if e.seen == nil {
			e.seen = map[types.UID]edit{}
		}
		last.spec, last.since = spec, now
		e.seen[cs.UID] = last
	}
	return last
}

func (e *edits) forget(uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.seen, uid)
}
