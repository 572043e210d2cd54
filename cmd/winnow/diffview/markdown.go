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
	"github.com/winnow-dev/winnow/render/each"
)

// Markdown writes a report as the comment of a pull request, of at most 60,000 bytes: for each selection the
// decision, a summary, and a fold for each application; with stat, one fold with a line for each application instead.
// If the folds do not fit, a list of all applications precedes as many folds as fit.
func Markdown(w io.Writer, report *diff.Report, stat bool) {
	classes := report.Classified()
	fmt.Fprint(w, fitting(report, func(d detail) string { return markdown(report, classes, stat, d) }))
}

func markdown(report *diff.Report, classes []diff.Class, stat bool, d detail) string {
	var parts []part
	switch first := verdict(report, classes); first {
	case "":
	case nothingChanges:
		parts = append(parts, partOf(rankDecision, "No CatalogSelection changes.\n"))
	default:
		parts = append(parts, partOf(rankDecision, "**"+first+"**\n"))
	}
	for _, r := range report.Remarks(report.Unknown) {
		parts = append(parts, partOf(rankSummary, "**Unknown:** "+remark(r, causes)+"\n"))
	}
	parts = append(parts, partOf(rankSummary, strings.Join(d.cut(uses(report)).comment(), "\n")))
	for _, c := range classes {
		if isPlain(c) {
			parts = append(parts, partOf(rankDecision, plain(report, c)+"\n"))
			continue
		}
		parts = append(parts, classParts(report, c, stat, len(classes) == 1, d)...)
	}
	if len(classes) > 1 {
		parts = append(parts, partOf(rankSummary, strings.Join(offline(classes...).comment(), "\n")))
	}
	return fit(append(parts, lastParts(report, d)...), maxMarkdown)
}

// classParts returns the parts on a class. alone reports that it is the only one.
func classParts(report *diff.Report, c diff.Class, stat, alone bool, d detail) []part {
	s := c.Sample()
	applications, instances := grouped(applicationChanges(s, applicationHeadline)), grouped(instanceChanges(s))
	parts := []part{
		partOf(rankDecision, decisionMarkdown(report, c, s, d), decisionMarkdown(report, c, s, briefest)),
		partOf(rankSummary, summaryMarkdown(s, instances, c, alone, d)),
		partOf(rankDecision, approvalMarkdown(c, s, d), approvalMarkdown(c, s, briefest)),
	}
	switch {
	case d == briefest:
		return parts
	case stat || d == brief:
		return append(parts, partOf(rankFold, lists(s)...))
	}
	parts = append(parts, partOf(rankList, lists(s)...))
	for _, group := range applications {
		parts = append(parts, partOf(rankFold, groupFold(group)))
	}
	for _, group := range slices.Concat(instances, grouped(chartChanges(s))) {
		if len(group[0].public.list) > 0 || group[0].public.values != nil {
			parts = append(parts, partOf(rankFold, groupFold(group)))
		}
	}
	return parts
}

// lastParts returns what follows the classes.
func lastParts(report *diff.Report, d detail) []part {
	var parts []part
	if rest := d.lessThan(report, code); rest != "" {
		parts = append(parts, partOf(rankSummary, rest+"\n"))
	}
	if all := notes(report, code); len(all) > 0 {
		parts = append(parts, partOf(rankFold, fold(noted(len(all)), "- "+strings.Join(all, "\n- "))))
	}
	return parts
}

// decisionMarkdown returns the part that a reviewer decides on: what is held, and the number of changes.
func decisionMarkdown(report *diff.Report, c diff.Class, s *diff.Selection, d detail) string {
	head := "### " + nameOf(c, code) + "\n"
	if places := placesOf(c, code); places != "" {
		head += places + "\n"
	}
	parts := append([]string{head}, d.cut(held(s)).comment()...)
	last := "**" + headline(report, s) + "**\n"
	if s.Error != "" {
		last = "**Not compared:** " + code(s.Error) + "\n"
	}
	return strings.Join(append(parts, last), "\n")
}

// approvalMarkdown returns the lines that release what is held, and what keeps it instead.
func approvalMarkdown(c diff.Class, s *diff.Selection, d detail) string {
	parts := approval(c, s, d).comment()
	if second := keeping(s.Held).comment(); len(second) > 0 && d == full {
		parts = append(parts, fold("Or keep what vanishes, without an approval", second...))
	}
	return strings.Join(parts, "\n")
}

func summaryMarkdown(s *diff.Selection, instances [][]change, c diff.Class, alone bool, d detail) string {
	said := block{sentences: each.Map(slices.Concat(s.Notes, s.Unknown), func(sentence string) wording { return wording{comment: code(sentence)} })}
	changes := block{title: wording{comment: "What changes:"}, whole: true}
	changes.list = each.Map(highlights(s), func(line string) entry { return entry{text: line, bare: true} })
	catalogs := block{title: wording{comment: "Catalogs of OLM:"}, list: served(s.Served), whole: true}
	installed := block{title: wording{comment: "Instances:"}}
	installed.list = each.Map(instances, func(group []change) entry {
		return entry{names: namesOf(group), text: group[0].sign + " " + group[0].headline}
	})
	blocks := append([]block{said}, decided(s)...)
	blocks = append(blocks, listing(changes), changedLists(s), listing(catalogs), listing(installed), uncompared(s.Charts))
	if alone {
		blocks = append(blocks, offline(c))
	}
	var parts []string
	for _, b := range append(blocks, remainder(s)...) {
		parts = append(parts, d.cut(b).comment()...)
	}
	return strings.Join(parts, "\n")
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
