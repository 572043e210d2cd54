// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

func heldHeadline(s *diff.Selection) string {
	switch {
	case s.Promotion != nil && s.Held.Approved:
		return "Held unless approved, and the annotation " + s.Promotion.Annotation + " has it"
	case s.Promotion != nil:
		return "HELD: a check with --fail-on held refuses this until it is approved; without one, Flux applies it once it is merged"
	case s.Held.Approved:
		return "Held unless approved, and spec.safeguards.approve has it: it is published"
	case s.Everything:
		return "HELD by selections with the default safeguards, until they approve it"
	}
	return "HELD: nothing of this is published"
}

// approval returns what is held of a class, and how to approve it.
func approval(c diff.Class, s *diff.Selection) block {
	b := block{title: bold(heldHeadline(s))}
	if s.Held.Approved || len(s.Held.Approve) == 0 {
		return b
	}
	b.snippets = []snippet{{approveHeadline(c), approveYAML(c)}}
	for _, text := range approvalAdvice(c) {
		b.sentences = append(b.sentences, same(text))
	}
	return b
}

// approveHeadline says where the approval of a class goes.
func approveHeadline(c diff.Class) wording {
	files, missing := approvalFiles(c)
	member := c.Members()[0]
	to := func(shown func(string) string) string {
		text := "To publish it all the same, add to the CatalogSelection"
		if member.Promotion != nil {
			text = "To promote it all the same, add in this change to the OCIRepository"
		}
		switch {
		case len(c.Members()) == 1 && (len(files) == 0 || files[0] == member.File):
		case len(files) == 0:
			text += " of each"
		case len(files) == 1 && missing == 0:
			text += " in " + shown(files[0])
			if member.Held.Kustomization != "" {
				text += ", a new patch in " + shown(member.Held.Kustomization)
			}
		case missing == 0:
			text += " in each of " + plaintext.Count(len(files), "file") + ", " + excerpt.List(files, maxPlaces, shown)
		default:
			text += " of each, of which " + excerpt.List(files, maxPlaces, shown) + " can be edited by winnow approve --git"
		}
		return text + ":"
	}
	if len(files) == 0 || len(files) == 1 && files[0] == member.File && len(c.Members()) == 1 {
		return same(to(plaintext.Line))
	}
	return wording{plaintext.Wrap(to(plaintext.Line), ""), to(code)}
}

// approvalFiles returns the files that take the approval of a class, and the number of selections without one.
func approvalFiles(c diff.Class) (files []string, missing int) {
	for _, s := range c.Members() {
		switch {
		case s.Held.File == "":
			missing++
		case !slices.Contains(files, s.Held.File):
			files = append(files, s.Held.File)
		}
	}
	return files, missing
}

// approvalAdvice returns the sentences on where the approval goes, each once.
func approvalAdvice(c diff.Class) []string {
	var all []string
	for _, s := range c.Members() {
		if s.Held.Advice != "" && !slices.Contains(all, s.Held.Advice) {
			all = append(all, s.Held.Advice)
		}
	}
	if more := len(all) - maxPlaces; more > 0 {
		all = append(all[:maxPlaces], fmt.Sprintf("and %d more", more))
	}
	return all
}

// baseApproval returns a sentence on why an entry approves nothing.
func baseApproval(s *diff.Selection, entry string) string {
	at := "spec.safeguards.approve"
	if s.Promotion != nil {
		at = "the annotation " + s.Promotion.Annotation
	}
	return fmt.Sprintf("%s in %s was there before this change, and approves nothing of it: "+
		"it is used up, or was reviewed with another change.", entry, at)
}

// approveYAML returns the entries of a class. The checksums of renders may differ, and approve one of them each.
func approveYAML(c diff.Class) string {
	if s := c.Members()[0]; s.Promotion != nil { // whose approvals are the same in all of a class
		return fmt.Sprintf("metadata:\n  annotations:\n    %s: %s\n", s.Promotion.Annotation, s.Held.Approve[0])
	}
	lines := []string{"spec:", "  safeguards:", "    approve:"}
	var entries []string
	for _, s := range c.Members() {
		for _, entry := range slices.Concat(s.Held.Repeat, s.Held.Approve) {
			line := "    - " + entry
			switch {
			case slices.Contains(s.Held.Repeat, entry):
				line += " # of the base"
			case s.Held.NamesRender(entry):
				line += " # (this render)"
			}
			if !slices.Contains(entries, line) {
				entries = append(entries, line)
			}
		}
	}
	if more := len(entries) - maxPlaces; more > 0 {
		entries = append(entries[:maxPlaces], fmt.Sprintf("    # and %d more, one for each render", more))
	}
	return strings.Join(append(lines, entries...), "\n") + "\n"
}
