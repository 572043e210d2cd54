// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// Approval has the checksums that release the held changes of a render.
type Approval struct {
	// Revision is the checksum of the only new revision of a source. It releases the changes that the revision causes
	// alone; empty where it cannot be named.
	Revision string
	// Render is the checksum of the new render. It alone releases every change.
	Render string
	// Note is what entries must have as their note to count; empty: any.
	Note string
}

// NoteOf returns the note of entries that are for this object of a selection, and not for one of the same name before it:
// the first digits of its UID.
func NoteOf(cs *v1alpha1.CatalogSelection) string { return string(cs.UID[:min(len(cs.UID), 8)]) }

// ToApprove returns the approval that releases a render. A pull request can name the digest of a manifest before it is
// pulled, so the new revision of the only changed source, an OCIRepository or an ExternalArtifact, is approved. The render
// itself has to be approved where that is not possible: a commit cannot name itself, an edit of the spec alone has no
// revision, other content of the same revision neither, and before the first render no revision is the cause. So has the
// render of several new revisions: a list of them would release what one of them takes away before the others arrive, and
// nobody has seen that. An entry that was copied from another selection does not name this render.
func ToApprove(before []v1alpha1.SourceStatus, sources []Source, revision string) Approval {
	a := Approval{Render: Checksum(revision)}
	var changed []Source
	for _, source := range sources {
		is := func(s v1alpha1.SourceStatus) bool {
			return s.Kind == source.Kind && s.Namespace == source.Name.Namespace && s.Name == source.Name.Name &&
				Checksum(s.Revision) == source.Checksum
		}
		same := func(s v1alpha1.SourceStatus) bool { return is(s) && s.Digest == source.Digest }
		switch {
		case slices.ContainsFunc(before, same):
		case len(before) == 0, source.Checksum == "", source.Kind == "GitRepository", source.Kind == "Bucket", slices.ContainsFunc(before, is):
			return a
		default:
			changed = append(changed, source)
		}
	}
	if len(changed) == 1 {
		a.Revision = changed[0].Checksum
	}
	return a
}

// Needed returns the checksum that has to be approved for these changes, or for one of them.
func (a Approval) Needed(changes ...safeguard.Change) string {
	unnamed := func(c safeguard.Change) bool { return !c.ByRevision }
	if a.Revision == "" || slices.ContainsFunc(changes, unnamed) {
		return a.Render
	}
	return a.Revision
}

// Releases reports whether entries of spec.safeguards.approve, <checksum> or <checksum>#<note>, approve all changes.
func (a Approval) Releases(changes []safeguard.Change, entries []string) bool {
	if a.Note != "" {
		entries = slices.DeleteFunc(slices.Clone(entries), func(entry string) bool { return !strings.HasSuffix(entry, "#"+a.Note) })
	}
	return len(changes) == 0 || Approves(entries, a.Render) || Approves(entries, a.Needed(changes...))
}

// Reasons returns a description of each change, with the entry that releases it where it is another than that for all
// changes. decided has the decisions of the new render, and used are the entries that are used up.
func (a Approval) Reasons(changes []safeguard.Change, decided selection.Result, used []string) []v1alpha1.HeldReason {
	reasons, all := Reasons(changes, decided), a.Needed(changes...)
	for i, c := range changes {
		if a.Needed(c) != all {
			reasons[i].Approve = []string{a.Entry(used, c)}
		}
	}
	return reasons
}

// Entry returns the entry that approves changes, with the note that it needs, or one where the plain checksum is used up.
func (a Approval) Entry(used []string, changes ...safeguard.Change) string {
	sum := a.Needed(changes...)
	if a.Note != "" {
		return sum + "#" + a.Note
	}
	entry := sum
	for n := 2; slices.Contains(used, entry); n++ {
		entry = fmt.Sprintf("%s#%d", sum, n)
	}
	return entry
}

// Unused returns the entries that are not used up.
func Unused(entries, used []string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool { return slices.Contains(used, entry) })
}

// Used returns the entries that are used up after a publication: those in used, and those that name one of
// the published checksums or one of the checksums that were held and passed over.
func Used(entries, used, published, passedOver []string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool {
		sum := Approved(entry)
		return !slices.Contains(used, entry) && !slices.Contains(published, sum) && !slices.Contains(passedOver, sum)
	})
}

// Approved returns the checksum that an entry of spec.safeguards.approve names.
func Approved(entry string) string {
	sum, _, _ := strings.Cut(entry, "#")
	return sum
}

// Approves reports whether one of the entries names the checksum.
func Approves(entries []string, sum string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return Approved(entry) == sum })
}
