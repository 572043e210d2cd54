package main

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/diff"
)

// What is said of what is held, of what approves it, and of what holds it no longer.

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

// approval says how to release what is held, in lines.
func approval(h *diff.Held) []string {
	if h.Approved || len(h.Approve) == 0 {
		return nil
	}
	return append([]string{approveHeadline}, approveYAML(h)...)
}

const approveHeadline = "To publish it all the same, add to the CatalogSelection:"

// unknownNamespace is a note: a render has the namespace of its selection in each object.
const unknownNamespace = "its file has no namespace: with another one than default, the checksum of this render is another"

// approvesRender reports whether what is held is released by the checksum of the render.
func approvesRender(h *diff.Held) bool {
	return h != nil && slices.ContainsFunc(h.Approve, h.NamesRender)
}

// baseApproval says why an entry approves nothing.
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
