package diffview

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// Markdown writes a report as the comment of a pull request, of at most 60,000 bytes: for each selection the
// decision, a summary, and a fold for each application; with stat, one fold with a line for each application instead.
// If the folds do not fit, a list of all applications precedes as many folds as fit.
func Markdown(w io.Writer, report *diff.Report, stat bool) {
	parts := verdictMarkdown(report)
	for _, s := range report.Selections {
		parts = append(parts, part{rank: rankDecision, texts: []string{decisionMarkdown(s)}},
			part{rank: rankSummary, texts: []string{summaryMarkdown(s)}})
		list := []string{statList(s), briefList(s)}
		if stat {
			parts = append(parts, part{rank: rankFold, texts: list})
			continue
		}
		parts = append(parts, part{rank: rankList, texts: list})
		for _, group := range groupApplications(s.Applications) {
			parts = append(parts, part{rank: rankFold, texts: []string{foldMarkdown(group)}})
		}
		for _, group := range groupInstances(s.Instances) {
			if hasDetails(group[0]) {
				parts = append(parts, part{rank: rankFold, texts: []string{instanceFold(group)}})
			}
		}
	}
	for _, note := range report.Notes {
		parts = append(parts, part{rank: rankSummary, texts: []string{"Note: " + code(note) + "\n"}})
	}
	fmt.Fprint(w, fit(parts, maxMarkdown))
}

// verdictMarkdown returns the verdict and what is unknown, which precede the selections.
func verdictMarkdown(report *diff.Report) []part {
	var parts []part
	switch first := verdict(report); first {
	case "":
	case nothingChanges:
		parts = append(parts, part{rank: rankDecision, texts: []string{"No CatalogSelection changes.\n"}})
	default:
		parts = append(parts, part{rank: rankDecision, texts: []string{"**" + first + "**\n"}})
	}
	for _, sentence := range report.Unknown {
		parts = append(parts, part{rank: rankSummary, texts: []string{"**Unknown:** " + code(sentence) + "\n"}})
	}
	return parts
}

// decisionMarkdown returns the part that a reviewer decides on: the number of changes, and the approval.
func decisionMarkdown(s *diff.Selection) string {
	var w strings.Builder
	fmt.Fprintf(&w, "### %s\n", code(Name(s)))
	if s.Held != nil {
		fmt.Fprintf(&w, "\n**%s**\n", heldHeadline(s))
		if !s.Held.Approved && len(s.Held.Approve) > 0 {
			fmt.Fprintf(&w, "\n%s\n\n%s", approveHeadline, fence("yaml", dedent(approveYAML(s.Held), "  ")))
		}
		if second := s.Held.SecondSources; len(second) > 0 {
			fmt.Fprintf(&w, "\n<details>\n<summary>Or keep what vanishes, without an approval</summary>\n\n%s\n\n%s\n%s\n\n%s\n</details>\n",
				keepingHeadline, fence("yaml", dedent(copiesYAML(second), "  ")), mergingHeadline, fence("yaml", dedent(mergingYAML(second), "  ")))
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
	if len(s.Lists) > 0 {
		fmt.Fprint(&w, "\nLists that change:\n\n")
		listMarkdown(&w, s.Lists, func(list diff.Field) string { return code(fieldLine(list)) })
	}
	servedMarkdown(&w, s.Served)
	instancesMarkdown(&w, s.Instances)
	if withoutCluster(s) {
		fmt.Fprintf(&w, "\n%s\n", strings.Replace(offlineNote, "--live", "`--live`", 1))
	}
	settingsMarkdown(&w, s.Replaced)
	if len(s.Bypassed) > 0 {
		fmt.Fprintf(&w, "\nBypassed in the cluster: %s\n", codes(s.Bypassed))
	}
	// Some parts end with a blank line, and the next one begins with another.
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
	listMarkdown(w, reasonsOf(h), statement.markdown)
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

// foldMarkdown returns a fold with the details that a group of applications has in common.
func foldMarkdown(group []diff.Application) string {
	var w strings.Builder
	a := withoutLive(group[0])
	fmt.Fprintf(&w, "<details>\n<summary><code>%s</code></summary>\n\n",
		html.EscapeString(plaintext.Brief(sign(a.Change)+" "+title(group)+": "+applicationHeadline(a), maxCode)))
	if len(group) > maxInline {
		fmt.Fprintf(&w, "%s\n", fence("", plaintext.Wrap(strings.Join(namesOf(group), ", "), "")))
	}
	for _, line := range liveEffects(a) {
		fmt.Fprintf(&w, "- %s\n", code(line))
	}
	versionsMarkdown(&w, a)
	if f := a.DefaultNamespace; f != nil {
		fmt.Fprintf(&w, "- **default namespace** %s\n", code(fromTo(*f)))
	}
	fieldsMarkdown(&w, "", a.Fields, a.FieldsOmitted)
	for _, fact := range facts(a) {
		fmt.Fprintf(&w, "- %s\n", code(fact))
	}
	valuesMarkdown(&w, a.Values)
	w.WriteString("\n</details>\n")
	return w.String()
}

func versionsMarkdown(w *strings.Builder, a diff.Application) {
	if a.IsPackage() {
		for _, line := range packageLines(a) {
			fmt.Fprintf(w, "- %s\n", code(line.text))
			fieldsMarkdown(w, "  ", line.fields, line.omitted)
		}
		return
	}
	versions := shownVersions(a, maxNames)
	for _, version := range versions[:min(len(versions), maxReasons)] {
		fmt.Fprintf(w, "- version %s\n", code(sign(version.Change)+" "+versionLine(a, version)))
		fieldsMarkdown(w, "  ", version.Fields, version.FieldsOmitted)
	}
	if more := len(versions) - maxReasons; more > 0 {
		fmt.Fprintf(w, "- and %d more versions\n", more)
	}
}

func transientMarkdown(w *strings.Builder, t *diff.Transient) {
	if t == nil {
		return
	}
	fmt.Fprintf(w, "**%s**\n\n", transientHeadline)
	listMarkdown(w, lossesOf(t), statement.markdown)
	fmt.Fprintf(w, "\n%s\n\n", transientAdvice(t.Advice))
}

// settingsMarkdown leaves out values, which may be secret: more people read a comment than the cluster.
func settingsMarkdown(w *strings.Builder, all []diff.Settings) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "\nReplaced in live definitions:\n\n")
	listMarkdown(w, all, func(s diff.Settings) string { return code(settingsLine(s)) })
	fmt.Fprint(w, "\n`-o table` prints the `values` and `patches` that keep these.\n")
}
