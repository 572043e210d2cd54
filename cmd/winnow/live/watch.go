// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/winnow-dev/winnow/render/each"
)

// rewatch is the delay between the end of a watch, which the API server closes from time to time, and the next one.
const rewatch = time.Second

// Change is a change of CatalogSelections.
type Change struct {
	// All are the selections after it, by namespace and name.
	All []*Selection
	// Changed are the selections that may differ from before; at first all of them.
	Changed []*Selection
	// Deleted are selections that are gone.
	Deleted []*Selection
}

// Watch is a watch of the CatalogSelections in a cluster.
type Watch struct {
	// Namespace of the selections, empty for all, and Labels is a selector.
	Namespace, Labels string
	// Timeout bounds each reading of the whole list.
	Timeout time.Duration
	// Changed is called with the list, and then after each change.
	Changed func(Change) error

	// known are the selections that were reported; nil before the first list.
	known map[string]*Selection
}

// Watch runs the watch until the context ends, which is no error.
func (c *Cluster) Watch(ctx context.Context, w Watch) error {
	for ctx.Err() == nil {
		version, err := w.list(ctx, c)
		if err == nil {
			err = w.follow(ctx, c, version)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(rewatch):
		}
	}
	return nil
}

// list reads the list, and reports what differs. It returns the version from which to watch.
func (w *Watch) list(ctx context.Context, c *Cluster) (string, error) {
	limited, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	objects, version, err := pages(limited, c.selections(w.Namespace), metav1.ListOptions{LabelSelector: w.Labels})
	if err != nil {
		return "", fmt.Errorf("reading the CatalogSelections: %w", c.explain(limited, err))
	}
	before := w.known
	w.known = map[string]*Selection{}
	var change Change
	for i := range objects {
		s, err := selectionOf(&objects[i])
		if err != nil {
			return "", err
		}
		name := s.Key().String()
		if old := before[name]; old == nil || old.ResourceVersion != s.ResourceVersion {
			change.Changed = append(change.Changed, s)
		}
		w.known[name] = s
	}
	for _, s := range sorted(before) {
		if w.known[s.Key().String()] == nil {
			change.Deleted = append(change.Deleted, s)
		}
	}
	if before != nil && len(change.Changed)+len(change.Deleted) == 0 {
		return version, nil
	}
	change.All = sorted(w.known)
	return version, w.Changed(change)
}

// follow reports changes until the watch ends. One that is too old ends without an error.
func (w *Watch) follow(ctx context.Context, c *Cluster, version string) error {
	events, err := c.selections(w.Namespace).Watch(ctx, metav1.ListOptions{LabelSelector: w.Labels, ResourceVersion: version})
	if err != nil {
		return fmt.Errorf("watching the CatalogSelections: %w", err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Error {
			if err := apierrors.FromObject(event.Object); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
				return fmt.Errorf("watching the CatalogSelections: %w", err)
			}
			return nil
		}
		object, isObject := event.Object.(*unstructured.Unstructured)
		if !isObject || event.Type == watch.Bookmark {
			continue
		}
		s, err := selectionOf(object)
		if err != nil {
			return err
		}
		change := Change{Changed: []*Selection{s}}
		w.known[s.Key().String()] = s
		if event.Type == watch.Deleted {
			delete(w.known, s.Key().String())
			change = Change{Deleted: []*Selection{s}}
		}
		change.All = sorted(w.known)
		if err := w.Changed(change); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the selections by namespace and name.
func sorted(known map[string]*Selection) []*Selection {
	return each.Map(slices.Sorted(maps.Keys(known)), func(name string) *Selection { return known[name] })
}
