package main

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

// Bounds of a comment. GitHub takes 65,536 characters.
const (
	maxMarkdown = 60_000 // bytes
	maxReasons  = 50
	maxDiffText = 20_000 // bytes
)

// markdown is for a comment of a pull request: of every selection a summary, then a fold for each
// application. What does not fit is left out, folds first.
func (v *diffView) markdown(w io.Writer) {
	var parts []part
	for _, s := range v.Selections {
		parts = append(parts, part{text: summaryMarkdown(s)})
		for _, a := range inOrder(s.Applications) {
			parts = append(parts, part{text: foldMarkdown(a), fold: true})
		}
	}
	if len(v.Selections) == 0 {
		parts = append(parts, part{text: "No CatalogSelection changes.\n"})
	}
	for _, sentence := range v.Unknown {
		parts = append(parts, part{text: "**Unknown:** " + code(sentence) + "\n"})
	}
	for _, note := range v.Notes {
		parts = append(parts, part{text: "Note: " + code(note) + "\n"})
	}
	fmt.Fprint(w, fit(parts, maxMarkdown))
}

func summaryMarkdown(s *diff.Selection) string {
	var w strings.Builder
	fmt.Fprintf(&w, "### %s\n\n", code(nameOf(s)))
	if s.Error != "" {
		fmt.Fprintf(&w, "**Not compared:** %s\n", code(s.Error))
		return w.String()
	}
	fmt.Fprintf(&w, "**%s**\n", headline(s))
	for _, sentences := range [][]string{s.Notes, s.Unknown} {
		for _, sentence := range sentences {
			fmt.Fprintf(&w, "\n%s\n", code(sentence))
		}
	}
	heldMarkdown(&w, s.Held)
	transientMarkdown(&w, s.Transient)
	for _, move := range moves(s, code) {
		fmt.Fprintf(&w, "\n%s\n", move)
	}
	for i, line := range highlights(s) {
		if i == 0 {
			w.WriteByte('\n')
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
	return w.String()
}

func heldMarkdown(w *strings.Builder, h *diff.Held) {
	if h == nil {
		return
	}
	fmt.Fprintf(w, "\n**%s**\n\n", heldHeadline(h))
	for _, reason := range h.Reasons[:min(len(h.Reasons), maxReasons)] {
		if reason.Application != "" {
			fmt.Fprintf(w, "- %s: %s\n", code(reason.Application), code(reason.Message))
		} else {
			fmt.Fprintf(w, "- %s\n", code(reason.Message))
		}
	}
	if more := len(h.Reasons) - maxReasons; more > 0 {
		fmt.Fprintf(w, "- and %d more\n", more)
	}
	if h.Approved {
		return
	}
	for _, entry := range h.BaseApprovals {
		fmt.Fprintf(w, "\n%s\n", baseApproval(code(entry)))
	}
	if len(h.Approve) > 0 {
		fmt.Fprintf(w, "\n%s\n\n%s", approveHeadline, fence("yaml", dedent(approveYAML(h), "  ")))
	}
}

func dedent(lines []string, indent string) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(strings.TrimPrefix(line, indent) + "\n")
	}
	return text.String()
}

// foldMarkdown is an application behind a line that opens it.
func foldMarkdown(a diff.Application) string {
	var w strings.Builder
	fmt.Fprintf(&w, "<details>\n<summary><code>%s</code></summary>\n\n",
		html.EscapeString(brief(sign(a.Change)+" "+a.Name+": "+applicationHeadline(a), maxCode)))
	for _, line := range inPlace(a) {
		fmt.Fprintf(&w, "- %s\n", code(line))
	}
	for _, version := range a.Versions[:min(len(a.Versions), maxReasons)] {
		fmt.Fprintf(&w, "- version %s\n", code(sign(version.Change)+" "+versionLine(a, version)))
		fieldsMarkdown(&w, "  ", version.Fields, version.FieldsOmitted)
	}
	if more := len(a.Versions) - maxReasons; more > 0 {
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
		fmt.Fprintf(&w, "\n%s\n\n%s", code(valuesLine(&shown)), fence("diff", shown.Diff))
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
