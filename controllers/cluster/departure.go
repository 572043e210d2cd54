package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/placeholder"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// maxLeaving bounds status.leaving, and maxPatches the bytes of patches with which placeholders are built.
const (
	maxLeaving = 100
	maxPatches = 1 << 20
)

// departure has the objects that a selection is about to give up, with the times of the first attempts, which outlive the
// process in status.leaving.
type departure struct {
	now time.Time
	// seen is when this process saw the departure first.
	seen    time.Time
	objects map[safeguard.Key]*liveMeta
	since   map[safeguard.Key]time.Time
	placed  Keys
	// staying maps the objects that are not given up yet to their receivers; unmarked are those without a mark.
	staying  map[safeguard.Key]types.NamespacedName
	unmarked Keys
}

// newDeparture returns a departure in which all objects stay, because nothing is decided. Those that the bounded list
// lacks have the latest time in it.
func newDeparture(cs *v1alpha1.CatalogSelection, objects map[safeguard.Key]*liveMeta, now time.Time) *departure {
	d := &departure{
		now: now, objects: objects, since: map[safeguard.Key]time.Time{}, placed: placeholders(cs),
		staying: map[safeguard.Key]types.NamespacedName{}, unmarked: Keys{},
	}
	unlisted := now
	for _, entry := range cs.Status.Leaving {
		if key := leavingKey(entry); objects[key] != nil {
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
	return d.now.Sub(d.since[key]) >= moveTimeout && d.now.Sub(d.seen) >= runningTimeout
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
	return slices.DeleteFunc(InArtifact(cs), func(entry v1alpha1.LeavingStatus) bool { return d.objects[leavingKey(entry)] != nil })
}

// entries returns the entries of status.leaving for the objects that stay, those in the artifact first.
func (d *departure) entries() []v1alpha1.LeavingStatus {
	var entries []v1alpha1.LeavingStatus
	for _, key := range slices.SortedFunc(maps.Keys(d.staying), compareKeys) {
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
	slices.SortFunc(waiting, compareKeys)
	return &HandoverError{fmt.Sprintf("%s may move to the CatalogSelection %s and may not be marked, so that this one waits until the other one's "+
		"Kustomization has applied it, until %s at the latest", excerpt.List(waiting, 10, safeguard.Key.FullName), d.staying[waiting[0]],
		d.since[waiting[0]].Add(moveTimeout).UTC().Format(time.RFC3339))}
}

func leavingKey(entry v1alpha1.LeavingStatus) safeguard.Key {
	group, _, _ := strings.Cut(entry.APIVersion, "/")
	if !strings.Contains(entry.APIVersion, "/") {
		group = ""
	}
	return safeguard.KeyOf(group, entry.Kind, entry.Namespace, entry.Name)
}

// InArtifact returns the entries of status.leaving with a placeholder in the published artifact.
func InArtifact(cs *v1alpha1.CatalogSelection) []v1alpha1.LeavingStatus {
	return slices.DeleteFunc(slices.Clone(cs.Status.Leaving), func(entry v1alpha1.LeavingStatus) bool { return !entry.Placeholder })
}

// Placed returns the entries of status.leaving once the objects have placeholders in the artifact.
func Placed(staying []v1alpha1.LeavingStatus) []v1alpha1.LeavingStatus {
	placed := slices.Clone(staying)
	for i := range placed {
		placed[i].Placeholder = true
	}
	return placed
}

// placeholders returns the live keys of the objects that have a placeholder in the artifact.
func placeholders(cs *v1alpha1.CatalogSelection) Keys {
	keys := Keys{}
	for _, entry := range InArtifact(cs) {
		keys[leavingKey(entry)] = true
	}
	return keys
}

// withLeaving adds the kinds of the objects in status.leaving.
func withLeaving(cs *v1alpha1.CatalogSelection, kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	for _, entry := range cs.Status.Leaving {
		if kind := schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// NotLeaving removes the objects from status.leaving that the selection does not give up now, because a safeguard holds
// the render without them. Those with a placeholder in the artifact stay.
func NotLeaving(cs *v1alpha1.CatalogSelection) {
	cs.Status.Leaving = InArtifact(cs)
}

// withoutRendered returns the entries of status.leaving without the objects that a render has again: if they leave later, the
// time for their receivers begins anew. Those with a placeholder in the artifact stay, whose removal needs a publication.
func withoutRendered(leaving []v1alpha1.LeavingStatus, rendered Keys) []v1alpha1.LeavingStatus {
	return slices.DeleteFunc(slices.Clone(leaving), func(entry v1alpha1.LeavingStatus) bool {
		return !entry.Placeholder && rendered[leavingKey(entry)]
	})
}

// Placeholders returns the objects that stay in the artifact, with the names that they have there.
func (c Consumers) Placeholders(leaving []v1alpha1.LeavingStatus) []placeholder.Placeholder {
	var all []placeholder.Placeholder
	for _, entry := range leaving {
		key := leavingKey(entry)
		for _, item := range c.naming() {
			if rendered := item.rendered(key); item.live(rendered) == key {
				all = append(all, placeholder.Placeholder{APIVersion: entry.APIVersion, Kind: entry.Kind, Namespace: key.Namespace, Name: rendered.Name})
			}
		}
	}
	return all
}

// fit returns a HandoverError if placeholders of the objects that stay do not fit the patches of a Kustomization in the
// namespace of the selection, or of one that owns an object that leaves. The patches of any other one are a stranger's,
// and delay nothing.
func (c Consumers) fit(cs *v1alpha1.CatalogSelection, d *departure) error {
	placeholders := c.Placeholders(d.entries())
	if len(placeholders) == 0 {
		return nil
	}
	owners := map[types.NamespacedName]bool{}
	for _, object := range d.objects {
		owners[ownerOf(object)] = true
	}
	read := 0
	for _, item := range c.items {
		if len(item.patches) == 0 || item.Namespace != cs.Namespace && !owners[item.key()] {
			continue
		}
		err := fmt.Errorf("of all Kustomizations, at most %d bytes of patches are read", maxPatches)
		for _, p := range item.patches {
			read += len(p.Patch)
		}
		if read <= maxPatches {
			err = placeholder.Fit(placeholders, item.patches)
		}
		if err != nil {
			return &HandoverError{fmt.Sprintf("Flux could not build, or would apply, the placeholders of objects that leave with spec.patches of the Kustomization %s, "+
				"so that this waits until another CatalogSelection has applied the objects, or none may take them over: add the annotationSelector %s to the targets "+
				"of patches that select all objects of a kind: %s", item.key(), placeholder.Excluding, bounds.Truncate(err.Error(), maxConsumerMessage))}
		}
	}
	return nil
}

// Kept returns the condition Kept without its type; nil if nothing is kept. around is the result of Observe.
func (c *Cluster) Kept(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings) *metav1.Condition {
	const listed = 10
	served, placed := c.served(ctx, cs), placeholders(cs)
	var parts []string
	for _, entry := range InArtifact(cs) {
		parts = append(parts, describeLeaving(entry, c.Now()))
	}
	var marked []string
	for _, object := range around.live {
		mine := appliedBy(cs, object) || around.Consumers.include(ownerOf(object))
		if key := keyOf(object); owns(object, pruneAnnotation) && mine && served != nil && !served[key] && !placed[key] {
			marked = append(marked, key.FullName())
		}
	}
	if len(marked) > 0 {
		slices.Sort(marked)
		parts = append(parts, fmt.Sprintf("no CatalogSelection has applied %s yet, kept in the cluster with a mark: delete by hand what none needs",
			excerpt.Names(marked, listed)))
	}
	if len(parts) == 0 {
		return nil
	}
	message := bounds.Truncate(excerpt.Clauses(parts, listed, 0, strings.Clone), bounds.ConditionMessage)
	return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.HandoverReason, Message: message}
}

func describeLeaving(entry v1alpha1.LeavingStatus, now time.Time) string {
	name, end := leavingKey(entry).FullName(), entry.Since.Add(moveTimeout)
	if now.Before(end) {
		return fmt.Sprintf("%s stays in the artifact until %s at the latest, because the CatalogSelection %s may take it over",
			name, end.UTC().Format(time.RFC3339), entry.Receiver)
	}
	return fmt.Sprintf("%s stays in the artifact until the CatalogSelection %s has applied it, because it may not be marked", name, entry.Receiver)
}
