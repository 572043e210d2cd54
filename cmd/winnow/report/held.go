// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
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
		fmt.Fprintln(w, plaintext.Wrap(text+r.Message, "  "))
	}
	if more := int(held.Total) - len(listed); more > 0 {
		fmt.Fprintln(w, "  "+excerpt.More(more))
	}
	if len(held.Approve) == 0 {
		fmt.Fprintln(w, "This cannot be approved: correct the selection or the catalog.")
		return
	}
	fmt.Fprintln(w, "To publish it all the same, add to the CatalogSelection in Git:")
	fmt.Fprint(w, "  spec:\n    safeguards:\n      approve:\n")
	for _, entry := range held.Approve {
		fmt.Fprintf(w, "      - %s\n", plaintext.Line(yamledit.Scalar([]string{entry}, 0)))
	}
	fmt.Fprintln(w, plaintext.Wrap("A line counts once in each cluster that has the selection from Git.", ""))
}

// MaxHeld bounds the reasons that are printed.
const MaxHeld = 20
