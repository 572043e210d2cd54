// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/approve/approvalfile"
	"github.com/winnow-dev/winnow/render/guard"
)

// approveInFile adds the entries that a selection of a cluster offers to the same selection in a file.
func approveInFile(ctx context.Context, name string, cs *v1alpha1.CatalogSelection, out output.Streams) error {
	content, mode, err := files.ReadForEdit(name)
	if err != nil {
		return err
	}
	found, err := approvalfile.Find(content, types.NamespacedName{Namespace: cs.Namespace, Name: cs.Name})
	if err != nil {
		return output.Finding(fmt.Errorf("%s: %w", name, err))
	}
	entries := missingApprovals(cs, found.Approved())
	if len(entries) == 0 {
		fmt.Fprintf(out.Stdout, "%s:%d: already approved, nothing is written\n", name, found.Line())
		return nil
	}
	edited, err := found.Add(entries)
	if err != nil {
		return output.Finding(fmt.Errorf("%s:%d: %w", name, found.Line(), err))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := files.Rewrite(name, content, edited, mode); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	for _, entry := range entries {
		fmt.Fprintf(out.Stdout, "%s:%d: added %s\n", name, found.Line(), entry)
	}
	return nil
}

// missingApprovals returns the offered entries that no entry of a file gives: one with the same checksum and another
// note does, unless it is used up.
func missingApprovals(cs *v1alpha1.CatalogSelection, entries []string) []string {
	var missing []string
	unused := guard.Unused(entries, cs.Status.UsedApprovals)
	for _, entry := range cs.Status.Held.Approve {
		given := guard.Approves(unused, guard.Approved(entry))
		if strings.HasSuffix(entry, "#"+guard.NoteOf(cs)) { // which the entry needs
			given = slices.Contains(unused, entry)
		}
		if !given {
			missing = append(missing, entry)
		}
	}
	return missing
}
