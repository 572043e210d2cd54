// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// Markdown writes a report as the comment of a pull request, of at most 60,000 bytes: for each selection the
// decision, a summary, and a fold for each application; with stat, one fold with a line for each application instead.
// If the folds do not fit, a list of all applications precedes as many folds as fit.
func Markdown(w io.Writer, report *diff.Report, stat bool) {
	var parts []part
	add := func(r rank, texts ...string) { parts = append(parts, part{rank: r, texts: texts}) }
	switch first := verdict(report); first {
	case "":
	case nothingChanges:
		add(rankDecision, "No CatalogSelection changes.\n")
	default:
		add(rankDecision, "**"+first+"**\n")
	}
	for _, sentence := range report.Unknown {
		add(rankSummary, "**Unknown:** "+code(sentence)+"\n")
	}
	for _, s := range report.Selections {
		add(rankDecision, decisionMarkdown(s))
		applications, instances := grouped(applicationChanges(s, applicationHeadline)), grouped(instanceChanges(s))
		add(rankSummary, summaryMarkdown(s, instances))
		if stat {
			add(rankFold, statList(s), briefList(s))
			continue
		}
		add(rankList, statList(s), briefList(s))
		for _, group := range applications {
			add(rankFold, groupFold(group))
		}
		for _, group := range instances {
			if len(group[0].public.list) > 0 || group[0].public.values != nil {
				add(rankFold, groupFold(group))
			}
		}
	}
	for _, note := range report.Notes {
		add(rankSummary, "Note: "+code(note)+"\n")
	}
	fmt.Fprint(w, fit(parts, maxMarkdown))
}

// decisionMarkdown returns the part that a reviewer decides on: the number of changes, and the approval.
func decisionMarkdown(s *diff.Selection) string {
	parts := []string{"### " + code(Name(s)) + "\n"}
	if s.Held != nil {
		parts = append(parts, approval(s).comment()...)
		if second := keeping(s.Held).comment(); len(second) > 0 {
			parts = append(parts, fold("Or keep what vanishes, without an approval", second...))
		}
	}
	if s.Error != "" {
		return strings.Join(append(parts, "**Not compared:** "+code(s.Error)+"\n"), "\n")
	}
	return strings.Join(append(parts, "**"+headline(s)+"**\n"), "\n")
}

func summaryMarkdown(s *diff.Selection, instances [][]change) string {
	var b block
	for _, sentence := range append(slices.Clone(s.Notes), s.Unknown...) {
		b.sentences = append(b.sentences, wording{comment: code(sentence)})
	}
	blocks := append([]block{b}, decided(s)...)
	if lines := highlights(s); len(lines) > 0 {
		b := block{title: wording{comment: "What changes:"}, whole: true}
		for _, line := range lines {
			b.list = append(b.list, entry{text: line, bare: true})
		}
		blocks = append(blocks, b)
	}
	blocks = append(blocks, lists(s))
	if len(s.Served) > 0 {
		blocks = append(blocks, block{title: wording{comment: "Catalogs of OLM:"}, list: served(s.Served), whole: true})
	}
	if len(instances) > 0 {
		b := block{title: wording{comment: "Instances:"}}
		for _, group := range instances {
			b.list = append(b.list, entry{names: namesOf(group), text: group[0].sign + " " + group[0].headline})
		}
		blocks = append(blocks, b)
	}
	var parts []string
	for _, b := range append(blocks, surroundings(s)...) {
		parts = append(parts, b.comment()...)
	}
	return strings.Join(parts, "\n")
}

// fold returns parts that are shown on a click at the summary, which is HTML.
func fold(summary string, parts ...string) string {
	return "<details>\n<summary>" + summary + "</summary>\n\n" + strings.Join(parts, "\n") + "\n</details>\n"
}

// groupFold returns a fold with the content of a group.
func groupFold(group []change) string {
	var parts []string
	if len(group) > maxInline {
		parts = append(parts, fence("", plaintext.Wrap(strings.Join(namesOf(group), ", "), "")))
	}
	if len(group[0].public.list) == 0 {
		parts = append(parts, "")
	}
	summary := "<code>" + html.EscapeString(plaintext.Brief(title(group), maxCode)) + "</code>"
	return fold(summary, append(parts, group[0].public.comment()...)...)
}
