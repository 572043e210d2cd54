// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

func heldHeadline(s *diff.Selection) string {
	switch {
	case s.Promotion != nil && s.Held.Approved:
		return "Approved by the annotation " + s.Promotion.Annotation
	case s.Promotion != nil:
		return "HELD: a check with --fail-on held refuses this until it is approved; without one, Flux applies it once it is merged"
	case s.Held.Approved:
		return "Approved by spec.safeguards.approve: this is published"
	case s.Everything:
		return "HELD by selections with the default safeguards, until they approve it"
	}
	return "HELD: nothing of this is published"
}

// held returns what is held, the most harmful first.
func held(s *diff.Selection) block {
	if s.Held == nil {
		return block{}
	}
	name := func(r v1alpha1.HeldReason) string {
		if r.Instance != "" {
			return "" // the message has it
		}
		return r.Application
	}
	b := block{title: bold(heldHeadline(s)), indent: "  "}
	for _, group := range each.Group(s.Held.Reasons, func(r v1alpha1.HeldReason) string { return r.Message }) {
		names := each.Map(group, name)
		if len(names) == 1 && names[0] == "" {
			names = nil
		}
		b.list = append(b.list, entry{names: names, text: group[0].Message})
	}
	for _, entry := range s.Held.BaseApprovals {
		b.sentences = append(b.sentences, wording{baseApproval(s, plaintext.Line(entry)), baseApproval(s, code(entry))})
	}
	return b
}

// approval returns the lines that release what is held of a class, and where they go.
func approval(c diff.Class, s *diff.Selection, d detail) block {
	if !s.IsApprovable() {
		return block{}
	}
	most := maxReasons
	if d != full {
		most = maxPlaces
	}
	return block{snippets: []snippet{{approveHeadline(c), approveYAML(c, d, most)}}, sentences: each.Map(approvalAdvice(c), same)}
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
			if member.Held.Patch != "" {
				text = "To publish it all the same, add to " + shown(files[0])
			}
		case missing == 0:
			text += " in each of " + plaintext.Count(len(files), "file") + ", " + excerpt.List(files, maxPlaces, shown)
		default:
			text += " of each (winnow approve --git can edit " + excerpt.List(files, maxPlaces, shown) + ")"
		}
		return text + ":"
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
	return excerpt.First(all, maxPlaces, 0, excerpt.More)
}

// baseApproval returns a sentence on why an entry approves nothing.
func baseApproval(s *diff.Selection, entry string) string {
	at := "spec.safeguards.approve"
	if s.Promotion != nil {
		at = "the annotation " + s.Promotion.Annotation
	}
	return fmt.Sprintf("%s in %s was there before this change, and names nothing of it: "+
		"it may be used, or was reviewed with another change.", entry, at)
}

// approveYAML returns the lines of a class, which are the same for each member: as they are written, if one file
// takes them. A comment counts those beyond most.
func approveYAML(c diff.Class, d detail, most int) string {
	member := c.Members()[0]
	held := *member.Held
	if files, missing := approvalFiles(c); len(files)+missing > 1 || d != full {
		held.Patch = ""
	}
	return held.YAML(member.Promotion, most)
}
