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
		if sum, entries, known := last.standingOf(cs, s); known && sum == s.Checksum {
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
		sum, entries, known := r.standingOf(cs, s)
		if known && sum == s.Checksum {
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

// standingOf returns the checksum of the published revision of a source, and the entries of the spec at its first
// publication; not known of a new source.
func (r *Record) standingOf(cs *v1alpha1.CatalogSelection, of guard.Source) (sum string, entries []string, known bool) {
	i := slices.IndexFunc(cs.Status.Sources, func(s v1alpha1.SourceStatus) bool {
		return s.Kind == of.Kind && s.Namespace == of.Name.Namespace && s.Name == of.Name.Name
	})
	if r == nil || i < 0 || len(r.Standing) != len(cs.Status.Sources) {
		return "", nil, false
	}
	return guard.Checksum(cs.Status.Sources[i].Revision), r.Standing[i], true
}
