package controllers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// sourceChanges returns what the definitions take from other sources than those that were published
// before under the same versions. Where that is not known, nothing.
func sourceChanges(published, next []safeguard.Definition) []safeguard.Change {
	return slices.DeleteFunc(safeguard.Compare(published, next), func(c safeguard.Change) bool {
		return c.Reason != v1alpha1.SourceChangeReason
	})
}

// tellSourceChanges tells once what a publication took from other sources, whatever the safeguard says:
// what runs is upgraded in place, under a version that stays.
func (r *CatalogSelectionReconciler) tellSourceChanges(before, after *v1alpha1.CatalogSelection) {
	if cluster.RevisionOf(before) == cluster.RevisionOf(after) {
		return
	}
	published, err := PublishedDefinitions(before)
	if err != nil {
		return
	}
	next, err := PublishedDefinitions(after)
	if err != nil {
		return
	}
	changes := sourceChanges(published, next)
	if len(changes) == 0 {
		return
	}
	const listed = 10
	var parts []string
	for _, c := range changes[:min(len(changes), listed)] {
		parts = append(parts, c.Key.Name+": "+guard.Describe(c, selection.Result{}))
	}
	if more := len(changes) - listed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	r.sendEvent(after, corev1.EventTypeNormal, outcome{reason: v1alpha1.SourceChangeReason, message: "published: " + strings.Join(parts, "; ")})
}

// lean returns the record with less in it, not ok when nothing may go: digests of origins get shorter,
// then go. Without them a change of sources is not seen, but without any record every change is held.
func (r publishedRecord) lean() (publishedRecord, bool) {
	var shorter, without bool
	short, bare := slices.Clone(r.Definitions), slices.Clone(r.Definitions)
	for i, d := range r.Definitions {
		short[i].Origins, bare[i].Origins = d.Origins.Short(), nil
		shorter = shorter || !slices.Equal(short[i].Origins, d.Origins)
		without = without || d.Origins != nil
	}
	if shorter {
		r.Definitions = short
		return r, true
	}
	r.Definitions = bare
	return r, without
}
