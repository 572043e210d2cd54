package diffview

import (
	"fmt"

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

const (
	loosenedHeadline = "LOOSENED: the edit of the selection protects less"
	reasonsHeadline  = "What is held:"
)

func loosenedLine(l diff.Loosened) string {
	return l.Field + " " + l.From + " -> " + l.To + ": " + l.Effect
}

// approval returns the lines on how to approve the held changes.
func approval(h *diff.Held) []string {
	if h.Approved || len(h.Approve) == 0 {
		return nil
	}
	return append([]string{approveHeadline}, approveYAML(h)...)
}

const approveHeadline = "To publish it all the same, add to the CatalogSelection:"

// baseApproval returns a sentence on why an entry approves nothing.
func baseApproval(entry string) string {
	return fmt.Sprintf("%s in spec.safeguards.approve was there before this change, and approves nothing of it: "+
		"it is used up, or was reviewed with another change.", entry)
}

func approveYAML(h *diff.Held) []string {
	lines := []string{"  spec:", "    safeguards:", "      approve:"}
	for _, entry := range h.Approve {
		if h.NamesRender(entry) {
			entry += " # (this render)"
		}
		lines = append(lines, "      - "+entry)
	}
	return lines
}
