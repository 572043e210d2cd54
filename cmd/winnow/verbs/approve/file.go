// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"cmp"
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
	key := types.NamespacedName{Namespace: cs.Namespace, Name: cs.Name}
	found, err := approvalfile.Find(content, key)
	if err != nil {
		return output.Finding(fmt.Errorf("%s: %w", name, err))
	}
	entries := missingApprovals(cs, found.Approved())
	if len(entries) == 0 {
		fmt.Fprintln(out.Stdout, alreadyApproved(name, found, cs.Status.Held.Approve[0]))
		return nil
	}
	edited, err := found.Add(entries)
	if err != nil {
		return output.Finding(fmt.Errorf("%s:%d: %w", name, found.Line(), err))
	}
	lines, err := addedLines(name, edited, key, entries)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if err := files.Rewrite(name, content, edited, mode); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	fmt.Fprintln(out.Stdout, strings.Join(lines, "\n"))
	return nil
}

// addedLines returns for each entry that was added the line of the edited file which has it.
func addedLines(name string, edited []byte, key types.NamespacedName, entries []string) (lines []string, err error) {
	found, err := approvalfile.Find(edited, key)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		lines = append(lines, fmt.Sprintf("%s:%d: added %s", name, found.LineOf(entry), entry))
	}
	return lines, nil
}

// alreadyApproved returns the line for a file that has an entry.
func alreadyApproved(name string, found *approvalfile.File, entry string) string {
	return fmt.Sprintf("%s:%d: already approved, nothing is written", name, found.LineOf(entry))
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
