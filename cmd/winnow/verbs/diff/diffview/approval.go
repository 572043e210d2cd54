// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

func heldHeadline(s *diff.Selection) string {
	switch {
	case s.Held.Approved:
		return "Held unless approved, and spec.safeguards.approve has it: it is published"
	case s.Everything:
		return "HELD by selections with the default safeguards, until they approve it"
	}
	return "HELD: nothing of this is published"
}

// approval returns what is held, and how to approve it.
func approval(s *diff.Selection) block {
	b := block{title: bold(heldHeadline(s))}
	if !s.Held.Approved && len(s.Held.Approve) > 0 {
		b.snippets = []snippet{{same(approveHeadline), approveYAML(s.Held)}}
	}
	return b
}

const approveHeadline = "To publish it all the same, add to the CatalogSelection:"

// baseApproval returns a sentence on why an entry approves nothing.
func baseApproval(entry string) string {
	return fmt.Sprintf("%s in spec.safeguards.approve was there before this change, and approves nothing of it: "+
		"it is used up, or was reviewed with another change.", entry)
}

func approveYAML(h *diff.Held) string {
	lines := []string{"spec:", "  safeguards:", "    approve:"}
	for _, entry := range h.Approve {
		if h.NamesRender(entry) {
			entry += " # (this render)"
		}
		lines = append(lines, "    - "+entry)
	}
	return strings.Join(lines, "\n") + "\n"
}
