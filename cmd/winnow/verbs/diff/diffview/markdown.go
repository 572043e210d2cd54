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
	classes := report.Classified()
	fmt.Fprint(w, fitting(report, func(d detail) string { return markdown(report, classes, stat, d) }))
}

func markdown(report *diff.Report, classes []diff.Class, stat bool, d detail) string {
	var parts []part
	add := func(r rank, texts ...string) { parts = append(parts, part{rank: r, texts: texts}) }
	switch first := verdict(report, classes); first {
	case "":
	case nothingChanges:
		add(rankDecision, "No CatalogSelection changes.\n")
	default:
		add(rankDecision, "**"+first+"**\n")
	}
	for _, r := range report.Remarks(report.Unknown) {
		add(rankSummary, "**Unknown:** "+remark(r, code)+"\n")
	}
	for _, c := range classes {
		if isPlain(c) {
			add(rankDecision, plain(c)+"\n")
			continue
		}
		s := c.Sample()
		add(rankDecision, decisionMarkdown(c, s, d))
		applications, instances := grouped(applicationChanges(s, applicationHeadline)), grouped(instanceChanges(s))
		add(rankSummary, summaryMarkdown(s, instances, c, len(classes) == 1, d))
		switch d {
		case brief:
			add(rankFold, statList(s), briefList(s))
			continue
		case briefest:
			continue
		}
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
	if len(classes) > 1 {
		add(rankSummary, strings.Join(offline(classes...).comment(), "\n"))
	}
	if rest := d.lessThan(report, code); rest != "" {
		add(rankSummary, rest+"\n")
	}
	switch all := notes(report, code); {
	case len(all) > 0 && d != full:
		add(rankSummary, "Notes:\n- "+strings.Join(all, "\n- ")+"\n")
	default:
		for _, note := range all {
			add(rankSummary, "Note: "+note+"\n")
		}
	}
	return fit(parts, maxMarkdown)
}

// decisionMarkdown returns the part that a reviewer decides on: the number of changes, and the approval.
func decisionMarkdown(c diff.Class, s *diff.Selection, d detail) string {
	head := "### " + nameOf(c, code) + "\n"
	if places := placesOf(c, code); places != "" {
		head += places + "\n"
	}
	parts := []string{head}
	if s.Held != nil {
		parts = append(parts, approval(c, s).comment()...)
		if second := keeping(s.Held).comment(); len(second) > 0 && d == full {
			parts = append(parts, fold("Or keep what vanishes, without an approval", second...))
		}
	}
	if s.Error != "" {
		return strings.Join(append(parts, "**Not compared:** "+code(s.Error)+"\n"), "\n")
	}
	return strings.Join(append(parts, "**"+headline(s)+"**\n"), "\n")
}

func summaryMarkdown(s *diff.Selection, instances [][]change, c diff.Class, alone bool, d detail) string {
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
	if alone {
		blocks = append(blocks, offline(c))
	}
	var parts []string
	for _, b := range append(blocks, surroundings(s)...) {
		b = d.cut(b)
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
