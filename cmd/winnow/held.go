package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/guard"
)

// maxHeld bounds the reasons that are printed.
const maxHeld = 20

// printHeld prints the changes that are held, and how to release them.
func printHeld(w io.Writer, cs *v1alpha1.CatalogSelection) {
	held := cs.Status.Held
	fmt.Fprintln(w, plaintext.Wrap(fmt.Sprintf("%s/%s: HELD: %s, nothing of this revision is published:", cs.Namespace, cs.Name,
		plaintext.Count(int(held.Total), "change")), ""))
	fmt.Fprintln(w, plaintext.Wrap(held.Revision, "  "))
	listed := held.Reasons[:min(len(held.Reasons), maxHeld)]
	for _, r := range listed {
		text := r.Reason + ": "
		if r.Application != "" {
			text += r.Application + ": "
		}
		fmt.Fprintln(w, plaintext.Wrap(text+r.Message, "  "))
	}
	if more := int(held.Total) - len(listed); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
	if len(held.Approve) == 0 {
		fmt.Fprintln(w, "This cannot be approved: correct the selection or the catalog.")
		return
	}
	fmt.Fprintln(w, "To publish it all the same, add to the CatalogSelection in Git:")
	fmt.Fprint(w, "  spec:\n    safeguards:\n      approve:\n")
	for _, entry := range held.Approve {
		fmt.Fprintf(w, "      - %s\n", plaintext.Line(entry))
	}
	fmt.Fprintln(w, plaintext.Wrap(releases(held), ""))
}

// releases describes the effect of an approval.
func releases(held *v1alpha1.HeldStatus) string {
	changes := "the change"
	if held.Total != 1 {
		changes = fmt.Sprintf("all %d changes", held.Total)
	}
	of := "this revision"
	for _, entry := range held.Approve {
		// The checksum of a render is not in the revision of the sources.
		if sum, _, _ := strings.Cut(entry, "#"); !strings.Contains(held.Revision, sum) {
			of = "this render"
		}
	}
	return fmt.Sprintf("It releases %s of %s, in every cluster that has the selection from Git.", changes, of)
}

// missingApprovals returns the offered entries that no entry of a file gives: one with the same checksum and another
// note does, unless it is used up.
func missingApprovals(cs *v1alpha1.CatalogSelection, entries []string) []string {
	var missing []string
	unused := guard.Unused(entries, cs.Status.UsedApprovals)
	for _, entry := range cs.Status.Held.Approve {
		sum, _, _ := strings.Cut(entry, "#")
		if !(guard.Approval{Needed: []string{sum}}).GivenBy(unused) {
			missing = append(missing, entry)
		}
	}
	return missing
}
