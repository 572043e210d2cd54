// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// standing returns the entries of spec.safeguards.approve at the first publication of the revision of each source.
func standing(cs *v1alpha1.CatalogSelection, sources []guard.Source, last *Record) [][]string {
	all := make([][]string, len(sources))
	for i, s := range sources {
		all[i] = cs.Spec.Safeguards.Approve
		if entries, same := last.standingOf(cs, s); same {
			all[i] = entries
		}
	}
	return all
}

// Outdated returns the unused entries of the spec that were there before the last revision of every source that has a new one:
// whoever added them has seen what they take away from an older revision. r may be nil.
func (r *Record) Outdated(cs *v1alpha1.CatalogSelection, sources []guard.Source) []string {
	outdated, changed := guard.Unused(cs.Spec.Safeguards.Approve, cs.Status.UsedApprovals), false
	for _, s := range sources {
		entries, same := r.standingOf(cs, s)
		if same {
			continue
		}
		changed = true
		outdated = slices.DeleteFunc(outdated, func(entry string) bool { return !slices.Contains(entries, entry) })
	}
	if !changed {
		return nil
	}
	return outdated
}

// standingOf returns the entries of the spec at the first publication of the last revision of a source, none for a new
// source, and reports whether that revision is published again.
func (r *Record) standingOf(cs *v1alpha1.CatalogSelection, of guard.Source) (entries []string, same bool) {
	i := slices.IndexFunc(cs.Status.Sources, func(s v1alpha1.SourceStatus) bool {
		return s.Kind == of.Kind && s.Namespace == of.Name.Namespace && s.Name == of.Name.Name
	})
	if r == nil || i < 0 || len(r.Standing) != len(cs.Status.Sources) {
		return nil, false
	}
	return r.Standing[i], guard.Checksum(cs.Status.Sources[i].Revision) == of.Checksum
}
