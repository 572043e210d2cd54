// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/metrics"
)

// slots bounds the workers that render selections of one namespace, so that expensive renders of a tenant leave workers
// to other namespaces. The selections of a namespace get slots in the order in which they asked for them. A reconciliation
// that gets none returns its worker, and the selection is enqueued once it has a slot.
type slots struct {
	// limit is the number of slots of each namespace, at least 1.
	limit int
	// enqueue adds a selection to the queue of the controller.
	enqueue func(context.Context, ...types.NamespacedName)
	now     func() time.Time
	// metrics measures those that wait; may be nil.
	metrics *metrics.Queue

	mu sync.Mutex
	// lines maps a namespace to its selections, oldest first: those before limit have a slot, and the others wait.
	lines map[string][]*waiting
}

// waiting is a selection in the line of its namespace.
type waiting struct {
	selection types.NamespacedName
	since     time.Time
	wait      *metrics.Wait
	// refused is true while the reconciliation runs that got no slot: its end does not end the wait.
	refused bool
}

// take returns nil if the selection has a slot from now on, and a *failure.WaitingError if it waits for one. Each reconciliation of
// the selection must call leave at its end, whether or not it has called take.
func (s *slots) take(selection types.NamespacedName) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(selection)
	if i < 0 {
		if s.lines == nil {
			s.lines = map[string][]*waiting{}
		}
		i = len(s.lines[selection.Namespace])
		s.lines[selection.Namespace] = append(s.lines[selection.Namespace], &waiting{selection: selection, since: s.now()})
	}
	if i < s.limit {
		return nil
	}
	waiting := s.lines[selection.Namespace][i]
	waiting.refused = true
	if waiting.wait == nil {
		waiting.wait = s.metrics.Enter()
	}
	return &failure.WaitingError{Since: waiting.since, Message: fmt.Sprintf("waits for one of %d renders at a time in namespace %s", s.limit, selection.Namespace)}
}

// leave ends a reconciliation of the selection. Unless it has just been refused, the selection leaves the line, and the
// next one that gets a slot by that is enqueued.
func (s *slots) leave(ctx context.Context, selection types.NamespacedName) {
	if next := s.remove(selection); next != nil {
		s.enqueue(ctx, next.selection)
	}
}

// remove returns the one that gets a slot, or nil.
func (s *slots) remove(selection types.NamespacedName) *waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.find(selection)
	if i < 0 {
		return nil
	}
	line := s.lines[selection.Namespace]
	if line[i].refused {
		line[i].refused = false
		return nil
	}
	line[i].wait.Leave()
	line = slices.Delete(line, i, i+1)
	if s.lines[selection.Namespace] = line; len(line) == 0 {
		delete(s.lines, selection.Namespace)
	}
	if i >= s.limit || s.limit > len(line) {
		return nil
	}
	next := line[s.limit-1]
	next.wait.Serve()
	return next
}

// waits reports whether the selection is in the line of its namespace.
func (s *slots) waits(selection types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(selection) >= 0
}

// find returns the index of the selection in its line, or -1. The caller has locked the mutex.
func (s *slots) find(selection types.NamespacedName) int {
	return slices.IndexFunc(s.lines[selection.Namespace], func(p *waiting) bool { return p.selection == selection })
}
