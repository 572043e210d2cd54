package diffview

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// Text writes a report for a terminal. With stat, it writes a line for each application and no details.
func Text(w io.Writer, report *diff.Report, stat bool) {
	first := verdict(report)
	if first != "" {
		fmt.Fprintln(w, plaintext.Wrap(first, ""))
	}
	for _, sentence := range report.Unknown {
		fmt.Fprintln(w, plaintext.Wrap("unknown: "+sentence, ""))
	}
	for i, s := range report.Selections {
		if i > 0 || first != "" {
			fmt.Fprintln(w)
		}
		selectionText{w, stat}.print(s)
	}
	for i, note := range report.Notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, plaintext.Wrap("note: "+note, ""))
	}
}

func (w selectionText) print(s *diff.Selection) {
	fmt.Fprintln(w, plaintext.Wrap(Name(s)+": "+headline(s), ""))
	for _, side := range []struct {
		label string
		state *diff.State
	}{{"from", s.From}, {"to  ", s.To}} {
		if side.state != nil && side.state.Revision != "" {
			fmt.Fprintf(w, "  %s %s\n", side.label, guard.Checksum(side.state.Revision))
		}
	}
	w.list("", s.Notes)
	w.list("unknown: ", s.Unknown)
	w.approval(s)
	w.loosened(s.Loosened)
	w.transient(s.Transient)
	w.held(s.Held)
	for i, move := range moves(s, plaintext.Line) {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, plaintext.Wrap(move, ""))
	}
	for i, list := range s.Lists {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, plaintext.Wrap("list "+fieldLine(list), ""))
	}
	w.applications(s)
	w.served(s.Served)
	w.instances(s.Instances)
	if withoutCluster(s) {
		fmt.Fprintf(w, "\n%s\n", plaintext.Wrap(offlineNote, ""))
	}
	w.settings(s.Replaced, s.Keep)
	if len(s.Bypassed) > 0 {
		fmt.Fprintf(w, "\n%s\n", plaintext.Wrap("bypassed in the cluster: "+strings.Join(s.Bypassed, ", "), ""))
	}
}

func (w selectionText) list(label string, sentences []string) {
	for _, sentence := range sentences {
		fmt.Fprintln(w, plaintext.Wrap(label+sentence, "  "))
	}
}

// approval precedes the details: a reviewer decides on it.
func (w selectionText) approval(s *diff.Selection) {
	if s.Held == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heldHeadline(s))
	for _, line := range approval(s.Held) {
		fmt.Fprintln(w, line)
	}
	if second := s.Held.SecondSources; len(second) > 0 {
		fmt.Fprintln(w, plaintext.Wrap(keepingHeadline, ""))
		fmt.Fprintln(w, strings.Join(copiesYAML(second), "\n"))
		fmt.Fprintln(w, mergingHeadline)
		fmt.Fprintln(w, strings.Join(mergingYAML(second), "\n"))
	}
}

func (w selectionText) loosened(all []diff.Loosened) {
	for i, l := range all {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", loosenedHeadline)
		}
		fmt.Fprintln(w, plaintext.Wrap(loosenedLine(l), "  "))
	}
}

func (w selectionText) held(h *diff.Held) {
	if h == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n", reasonsHeadline)
	for _, reason := range reasonsOf(h) {
		fmt.Fprintln(w, plaintext.Wrap(reason.print(), "  "))
	}
	for _, entry := range h.BaseApprovals {
		fmt.Fprintln(w, plaintext.Wrap(baseApproval(plaintext.Line(entry)), ""))
	}
}

func (w selectionText) applications(s *diff.Selection) {
	if w.stat {
		for i, a := range bySeverity(s.Applications) {
			if i == 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, plaintext.Wrap(sign(a.Change)+" "+plaintext.Line(a.Name)+": "+statOf(a), ""))
		}
		return
	}
	for _, group := range groupApplications(s.Applications) {
		a := group[0]
		fmt.Fprintln(w, "\n"+plaintext.Wrap(sign(a.Change)+" "+title(group)+": "+applicationHeadline(a), ""))
		if len(group) > maxInline {
			fmt.Fprintln(w, plaintext.Wrap(strings.Join(namesOf(group), ", "), "    "))
		}
		fmt.Fprint(w, bodyText(a))
	}
}

// bodyText returns the details of an application below its headline.
func bodyText(a diff.Application) string {
	var text strings.Builder
	w := selectionText{Writer: &text}
	for _, line := range liveEffects(a) {
		fmt.Fprintln(w, plaintext.Wrap(line, "    "))
	}
	w.versions(a)
	if f := a.DefaultNamespace; f != nil {
		fmt.Fprintln(w, plaintext.Wrap("DEFAULT NAMESPACE "+fromTo(*f), "    "))
	}
	w.fields(a.Fields, a.FieldsOmitted, "    ")
	for _, fact := range facts(a) {
		fmt.Fprintln(w, plaintext.Wrap(fact, "    "))
	}
	w.values(a.Values)
	return text.String()
}

func (w selectionText) versions(a diff.Application) {
	if a.IsPackage() {
		for _, line := range packageLines(a) {
			fmt.Fprintln(w, plaintext.Wrap(line.text, "    "))
			w.fields(line.fields, line.omitted, "        ")
		}
		return
	}
	for _, version := range shownVersions(a, len(a.Versions)) {
		fmt.Fprintln(w, plaintext.Wrap(sign(version.Change)+" "+versionLine(a, version), "    "))
		w.fields(version.Fields, version.FieldsOmitted, "        ")
	}
}

func (w selectionText) transient(t *diff.Transient) {
	if t == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n", transientHeadline)
	for _, loss := range lossesOf(t) {
		fmt.Fprintln(w, plaintext.Wrap(loss.print(), "  "))
	}
	fmt.Fprintln(w, plaintext.Wrap(transientAdvice(t.Advice), ""))
}

// settings prints the settings that the publication replaces in live definitions, and the YAML that keeps them.
func (w selectionText) settings(all []diff.Settings, keep string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nreplaced in live definitions:")
	for _, s := range all {
		fmt.Fprintln(w, plaintext.Wrap(settingsLine(s), "  "))
	}
	if keep != "" {
		fmt.Fprintln(w, keepHeadline)
	}
	for line := range strings.Lines(keep) {
		fmt.Fprintln(w, "  "+plaintext.Printable(line))
	}
	for _, s := range all {
		if advice := settingsAdvice(s); advice != "" {
			fmt.Fprintln(w, plaintext.Wrap(advice, ""))
		}
	}
}

// groupApplications groups the applications with the same details, by severity.
func groupApplications(applications []diff.Application) [][]diff.Application {
	return groupBy(bySeverity(applications), func(a diff.Application) string {
		return sign(a.Change) + applicationHeadline(a) + "\n" + bodyText(a)
	})
}
