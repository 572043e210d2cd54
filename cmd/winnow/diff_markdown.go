package main

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// Bounds of a comment. GitHub takes 65,536 characters.
const (
	maxMarkdown = 60_000 // bytes
	maxReasons  = 50
	maxDiffText = 20_000 // bytes
)

// markdown is for a comment of a pull request: of every selection what to decide, a summary, and a fold
// for each application. Where the folds do not fit, a list has all applications, and as many folds follow
// as do.
func (v *diffView) markdown(w io.Writer) {
	var parts []part
	for _, s := range v.Selections {
		parts = append(parts, part{rank: rankDecision, texts: []string{decisionMarkdown(s)}},
			part{rank: rankSummary, texts: []string{summaryMarkdown(s)}},
			part{rank: rankList, texts: []string{statList(s), briefList(s)}})
		for _, group := range applicationsAlike(s.Applications) {
			parts = append(parts, part{rank: rankFold, texts: []string{foldMarkdown(group)}})
		}
	}
	fmt.Fprint(w, fit(append(parts, v.ends()...), maxMarkdown))
}

// ends are what is said after the selections.
func (v *diffView) ends() []part {
	var parts []part
	if len(v.Selections) == 0 {
		parts = append(parts, part{texts: []string{"No CatalogSelection changes.\n"}})
	}
	for _, sentence := range v.Unknown {
		parts = append(parts, part{rank: rankSummary, texts: []string{"**Unknown:** " + code(sentence) + "\n"}})
	}
	for _, note := range v.Notes {
		parts = append(parts, part{rank: rankSummary, texts: []string{"Note: " + code(note) + "\n"}})
	}
	return parts
}

// decisionMarkdown is what a reviewer decides about: how much changes, and the approval.
func decisionMarkdown(s *diff.Selection) string {
	var w strings.Builder
	fmt.Fprintf(&w, "### %s\n", code(nameOf(s)))
	if s.Held != nil {
		fmt.Fprintf(&w, "\n**%s**\n", heldHeadline(s))
		if !s.Held.Approved && len(s.Held.Approve) > 0 {
			fmt.Fprintf(&w, "\n%s\n\n%s", approveHeadline, fence("yaml", dedent(approveYAML(s.Held), "  ")))
		}
	}
	if s.Error != "" {
		fmt.Fprintf(&w, "\n**Not compared:** %s\n", code(s.Error))
		return w.String()
	}
	fmt.Fprintf(&w, "\n**%s**\n", headline(s))
	return w.String()
}

func summaryMarkdown(s *diff.Selection) string {
	var w strings.Builder
	for _, sentences := range [][]string{s.Notes, s.Unknown} {
		for _, sentence := range sentences {
			fmt.Fprintf(&w, "%s\n\n", code(sentence))
		}
	}
	loosenedMarkdown(&w, s.Loosened)
	transientMarkdown(&w, s.Transient)
	heldMarkdown(&w, s.Held)
	for _, move := range moves(s, code) {
		fmt.Fprintf(&w, "%s\n\n", move)
	}
	for i, line := range highlights(s) {
		if i == 0 {
			fmt.Fprint(&w, "What changes:\n\n")
		}
		fmt.Fprintf(&w, "- %s\n", line)
	}
	if offline(s) {
		fmt.Fprintf(&w, "\n%s\n", strings.Replace(offlineNote, "--live", "`--live`", 1))
	}
	settingsMarkdown(&w, s.Replaced)
	if len(s.Bypassed) > 0 {
		fmt.Fprintf(&w, "\nBypassed in the cluster: %s\n", codes(s.Bypassed))
	}
	// Each part ends with a blank line, and what follows begins with one.
	return strings.ReplaceAll(strings.Trim(w.String(), "\n"), "\n\n\n", "\n\n") + "\n"
}

func loosenedMarkdown(w *strings.Builder, all []diff.Loosened) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "**%s**\n\n", loosenedHeadline)
	for _, l := range all {
		fmt.Fprintf(w, "- %s\n", code(loosenedLine(l)))
	}
	fmt.Fprintln(w)
}

func heldMarkdown(w *strings.Builder, h *diff.Held) {
	if h == nil {
		return
	}
	fmt.Fprintf(w, "%s\n\n", reasonsHeadline)
	listMarkdown(w, reasonsOf(h))
	fmt.Fprintln(w)
	for _, entry := range h.BaseApprovals {
		fmt.Fprintf(w, "%s\n\n", baseApproval(code(entry)))
	}
}

func dedent(lines []string, indent string) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(strings.TrimPrefix(line, indent) + "\n")
	}
	return text.String()
}

// foldMarkdown is what is said of some applications alike, behind a line that opens it.
func foldMarkdown(group []diff.Application) string {
	var w strings.Builder
	a := withoutLive(group[0])
	fmt.Fprintf(&w, "<details>\n<summary><code>%s</code></summary>\n\n",
		html.EscapeString(plaintext.Brief(sign(a.Change)+" "+title(group)+": "+applicationHeadline(a), maxCode)))
	if len(group) > maxInline {
		fmt.Fprintf(&w, "%s\n", fence("", plaintext.Wrap(strings.Join(namesOf(group), ", "), "")))
	}
	for _, line := range inPlace(a) {
		fmt.Fprintf(&w, "- %s\n", code(line))
	}
	versions := versionsOfWhole(a, maxNames)
	for _, version := range versions[:min(len(versions), maxReasons)] {
		fmt.Fprintf(&w, "- version %s\n", code(sign(version.Change)+" "+versionLine(a, version)))
		fieldsMarkdown(&w, "  ", version.Fields, version.FieldsOmitted)
	}
	if more := len(versions) - maxReasons; more > 0 {
		fmt.Fprintf(&w, "- and %d more versions\n", more)
	}
	if f := a.DefaultNamespace; f != nil {
		fmt.Fprintf(&w, "- **default namespace** %s\n", code(fromTo(*f)))
	}
	fieldsMarkdown(&w, "", a.Fields, a.FieldsOmitted)
	for _, fact := range facts(a) {
		fmt.Fprintf(&w, "- %s\n", code(fact))
	}
	if a.Values != nil {
		shown := *a.Values
		shown.Cut(maxDiffText)
		fmt.Fprintf(&w, "\n%s\n", code(valuesLine(&shown)))
		if shown.Diff != "" {
			fmt.Fprintf(&w, "\n%s", fence("diff", shown.Diff))
		}
	}
	w.WriteString("\n</details>\n")
	return w.String()
}

func fieldsMarkdown(w *strings.Builder, indent string, fields []diff.Field, omitted int) {
	for _, f := range fields {
		fmt.Fprintf(w, "%s- %s\n", indent, code(fieldLine(f)))
	}
	if omitted > 0 {
		fmt.Fprintf(w, "%s- and %d more fields\n", indent, omitted)
	}
}
