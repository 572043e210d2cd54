// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// PrintHeld prints the changes that are held, and how to release them.
func PrintHeld(w io.Writer, cs *v1alpha1.CatalogSelection) {
	held := cs.Status.Held
	fmt.Fprintln(w, plaintext.Wrap(fmt.Sprintf("%s/%s: HELD: %s, nothing of this revision is published:", cs.Namespace, cs.Name,
		plaintext.Count(int(held.Total), "change")), ""))
	fmt.Fprintln(w, plaintext.Wrap(held.Revision, "  "))
	listed := held.Reasons[:min(len(held.Reasons), MaxHeld)]
	for _, r := range listed {
		text := r.Reason + ": "
		if r.Application != "" {
			text += r.Application + ": "
		}
		fmt.Fprintln(w, plaintext.Wrap(text+r.Message+ReleasedBy(r), "  "))
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

// MaxHeld bounds the reasons that are printed.
const MaxHeld = 20

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

// ReleasedBy returns the part of a line on a held change that names the entries that release it, where these are others
// than for all changes; otherwise empty.
func ReleasedBy(r v1alpha1.HeldReason) string {
	if len(r.Approve) == 0 {
		return ""
	}
	return "; released by " + strings.Join(r.Approve, ", ")
}
