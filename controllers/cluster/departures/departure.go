// SPDX-License-Identifier: Apache-2.0

// Package departures lets objects leave the artifacts of selections: what another selection may take over stays, or is marked, so that
// Flux does not delete it. It must not know how a selection is rendered.
package departures

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// maxLeaving bounds status.leaving.
const maxLeaving = 100

const (
	// runningTimeout is the part of leaving.Timeout for which a process has to run: a receiver does nothing while no
	// controller runs.
	runningTimeout = leaving.Timeout / 2
	// barrierTimeout bounds the wait for the evaluation of other selections.
	barrierTimeout = 30 * time.Second
)

// HandoverError reports that a selection cannot give up an object yet that another one may take over. It ends
// leaving.Timeout after the first attempt to give the object up.
type HandoverError struct{ message string }

// Reason is the reason of the condition.
func (e *HandoverError) Reason() string { return v1alpha1.HandoverReason }

func (e *HandoverError) Error() string { return e.message }

// departure has the objects that a selection is about to give up, with the times of the first attempts, which outlive the
// process in status.leaving.
type departure struct {
	now time.Time
	// seen is when this process saw the departure first.
	seen    time.Time
	objects map[safeguard.Key]*guard.Live
	since   map[safeguard.Key]time.Time
	placed  inventory.Keys
	// staying maps the objects that are not given up yet to their receivers; unmarked are those without a mark.
	staying  map[safeguard.Key]types.NamespacedName
	unmarked inventory.Keys
}

// newDeparture returns a departure in which all objects stay, because nothing is decided. Those that the bounded list
// lacks have the latest time in it.
func newDeparture(cs *v1alpha1.CatalogSelection, objects map[safeguard.Key]*guard.Live, now time.Time) *departure {
	d := &departure{
		now: now, objects: objects, since: map[safeguard.Key]time.Time{}, placed: leaving.Placeholders(cs),
		staying: map[safeguard.Key]types.NamespacedName{}, unmarked: inventory.Keys{},
	}
	unlisted := now
	for _, entry := range cs.Status.Leaving {
		if key := leaving.Key(entry); objects[key] != nil {
			d.since[key] = entry.Since.Time
			if d.since[key].After(now) { // of a process whose clock is ahead
				d.since[key] = now
			}
		}
	}
	if len(d.since) >= maxLeaving {
		unlisted = d.latest()
	}
	for key := range objects {
		if _, listed := d.since[key]; !listed {
			d.since[key] = unlisted
		}
		d.staying[key] = types.NamespacedName{}
	}
	return d
}

// latest returns the latest time of a first attempt.
func (d *departure) latest() time.Time {
	var latest time.Time
	for _, since := range d.since {
		if since.After(latest) {
			latest = since
		}
	}
	return latest
}

// over reports whether the time for the receivers of an object is over. A time in which no controller ran is not theirs.
func (d *departure) over(key safeguard.Key) bool {
	return d.now.Sub(d.since[key]) >= leaving.Timeout && d.now.Sub(d.seen) >= runningTimeout
}

func (d *departure) leaves(key safeguard.Key) { delete(d.staying, key) }

func (d *departure) stays(key safeguard.Key, receiver types.NamespacedName, marked bool) {
	d.staying[key] = receiver
	if !marked {
		d.unmarked[key] = true
	}
}

// elsewhere returns the entries of status.leaving with a placeholder in the artifact that the selection does not give up
// any more: they stay until an artifact without them is published.
func (d *departure) elsewhere(cs *v1alpha1.CatalogSelection) []v1alpha1.LeavingStatus {
	return slices.DeleteFunc(leaving.InArtifact(cs), func(entry v1alpha1.LeavingStatus) bool { return d.objects[leaving.Key(entry)] != nil })
}

// entries returns the entries of status.leaving for the objects that stay, those in the artifact first.
func (d *departure) entries() []v1alpha1.LeavingStatus {
	var entries []v1alpha1.LeavingStatus
	for _, key := range slices.SortedFunc(maps.Keys(d.staying), inventory.Compare) {
		entry := v1alpha1.LeavingStatus{
			APIVersion: d.objects[key].GroupVersionKind().GroupVersion().String(), Kind: key.Kind, Namespace: key.Namespace, Name: key.Name,
			Since: metav1.NewTime(d.since[key]), Placeholder: d.placed[key],
		}
		if to := d.staying[key]; to.Name != "" {
			entry.Receiver = to.String()
		}
		entries = append(entries, entry)
	}
	slices.SortStableFunc(entries, func(a, b v1alpha1.LeavingStatus) int { return rank(a) - rank(b) })
	return entries[:min(len(entries), maxLeaving)]
}

func rank(entry v1alpha1.LeavingStatus) int {
	if entry.Placeholder {
		return 0
	}
	return 1
}

// unsafe returns a HandoverError while an object stays without a mark and its time is not over, and while more objects
// stay than can be listed.
func (d *departure) unsafe() error {
	if len(d.staying) > maxLeaving {
		return &HandoverError{fmt.Sprintf("%d objects leave at once that other CatalogSelections may take over, which is decided for %d at a time",
			len(d.staying), maxLeaving)}
	}
	var waiting []safeguard.Key
	for key := range d.unmarked {
		if !d.over(key) {
			waiting = append(waiting, key)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	slices.SortFunc(waiting, inventory.Compare)
	return &HandoverError{fmt.Sprintf("%s may move to the CatalogSelection %s and may not be marked, so that this one waits until the other one's "+
		"Kustomization has applied it, until %s at the latest", excerpt.List(waiting, 10, safeguard.Key.FullName), d.staying[waiting[0]],
		d.since[waiting[0]].Add(leaving.Timeout).UTC().Format(time.RFC3339))}
}
