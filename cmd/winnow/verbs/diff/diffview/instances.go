package diffview

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/diff"
)

// instanceCounts returns the numbers of instances by their changes.
func instanceCounts(all []diff.Instance) []string {
	n := map[diff.Change]int{}
	for _, in := range all {
		n[in.Change]++
	}
	return counts([]counted{
		{n[diff.Removed], "removed"}, {n[diff.Updated], "updated"}, {n[diff.Added], "added"}, {n[diff.Unresolved], "that cannot be installed"},
	}, "instance")
}

// instancesBySeverity sorts instances by the severity of the change.
func instancesBySeverity(all []diff.Instance) []diff.Instance {
	order := []diff.Change{diff.Removed, diff.Unresolved, diff.Updated, diff.Added}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b diff.Instance) int { return slices.Index(order, a.Change) - slices.Index(order, b.Change) })
	return sorted
}

// instanceHeadline summarizes the changes of an instance.
func instanceHeadline(in diff.Instance) string {
	switch in.Change {
	case diff.Removed:
		return "removed, because " + in.Reason + "; " + removedInstance(in.Backend, *in.Deleted)
	case diff.Unresolved:
		return "not installed: " + in.Reason
	case diff.Added:
		return fmt.Sprintf("added, %s by %s", strings.TrimSpace(in.Application+" "+in.Version), in.Backend)
	}
	var parts []string
	if u := in.Upgrade; u != nil {
		parts = append(parts, fmt.Sprintf("%s -> %s, %s", orNone(u.From), orNone(u.To), u.Kind))
	} else if in.Version != "" {
		parts = append(parts, in.Version)
	}
	if len(in.Identity) > 0 {
		parts = append(parts, "IDENTITY: "+identityChange(in.Backend))
	}
	if in.SourceChanged {
		parts = append(parts, "another chart")
	}
	if in.Requested != nil {
		parts = append(parts, "requested "+fromTo(*in.Requested))
	}
	if v := in.Values; v != nil {
		parts = append(parts, "values: "+plaintext.Count(v.Added+v.Removed, "line"))
	}
	if n := len(in.Fields) + in.FieldsOmitted; n > 0 {
		parts = append(parts, plaintext.Count(n, "field"))
	}
	return strings.Join(parts, "; ")
}

// identityChange describes another identity. What becomes of an operator depends on the field, and is said with what is held.
func identityChange(by string) string {
	if by == backend.Subscription || by == backend.ClusterExtension {
		return "another operator, or other namespaces"
	}
	return "what runs is uninstalled, and installed anew"
}

// removedInstance describes what becomes of an instance that leaves the artifact.
func removedInstance(by string, deleted bool) string {
	switch {
	case deleted && by == backend.Subscription:
		return "Flux deletes its object, and the operator runs on until its ClusterServiceVersion is deleted"
	case deleted:
		return "Flux deletes its object, which uninstalls it"
	}
	return "Flux keeps its object: it runs on, and is updated no more"
}

func orNone(version string) string {
	if version == "" {
		return "no version"
	}
	return version
}

// instanceSign returns the mark of a change for the start of a line.
func instanceSign(in diff.Instance) string {
	if in.Change == diff.Unresolved {
		return "?"
	}
	return sign(in.Change)
}

// instanceTitle returns the headline of instances with the same details.
func instanceTitle(group []diff.Instance) string {
	names := namesOfInstances(group)
	title := "instance " + names[0]
	switch {
	case len(group) > maxInline:
		title = plaintext.Count(len(group), "instance")
	case len(group) > 1:
		title = "instances " + strings.Join(names, ", ")
	}
	return instanceSign(group[0]) + " " + title + ": " + instanceHeadline(group[0])
}

func namesOfInstances(all []diff.Instance) []string {
	names := make([]string, len(all))
	for i, in := range all {
		names[i] = in.Name
	}
	return names
}

// groupInstances groups the instances with the same details, by severity.
func groupInstances(all []diff.Instance) [][]diff.Instance {
	return groupBy(instancesBySeverity(all), func(in diff.Instance) string {
		return instanceSign(in) + instanceHeadline(in) + "\n" + instanceBody(in)
	})
}

// hasDetails reports whether there is more to show than the headline.
func hasDetails(in diff.Instance) bool {
	return len(in.Identity)+len(in.Fields) > 0 || in.Values != nil
}

// instances prints the instances, each with its details unless a line for each is wanted.
func (w selectionText) instances(all []diff.Instance) {
	if w.stat && len(all) > 0 {
		fmt.Fprintln(w)
		for _, in := range instancesBySeverity(all) {
			fmt.Fprintln(w, plaintext.Wrap(instanceTitle([]diff.Instance{in}), ""))
		}
		return
	}
	for _, group := range groupInstances(all) {
		fmt.Fprintln(w, "\n"+plaintext.Wrap(instanceTitle(group), ""))
		if len(group) > maxInline {
			fmt.Fprintln(w, plaintext.Wrap(strings.Join(namesOfInstances(group), ", "), "    "))
		}
		fmt.Fprint(w, instanceBody(group[0]))
	}
}

// instanceBody returns the details of an instance below its headline.
func instanceBody(in diff.Instance) string {
	var text strings.Builder
	w := selectionText{Writer: &text}
	for _, f := range in.Identity {
		fmt.Fprintln(w, plaintext.Wrap("IDENTITY "+fieldLine(f), "    "))
	}
	w.fields(in.Fields, in.FieldsOmitted, "    ")
	w.values(in.Values)
	return text.String()
}

// instancesMarkdown writes a line for the instances with the same details.
func instancesMarkdown(w *strings.Builder, all []diff.Instance) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "\nInstances:\n\n")
	var lines []statement
	for _, group := range groupInstances(all) {
		lines = append(lines, statement{names: namesOfInstances(group), text: instanceSign(group[0]) + " " + instanceHeadline(group[0])})
	}
	listMarkdown(w, lines, statement.markdown)
}

// instanceFold returns a fold with the details that a group of instances has in common.
func instanceFold(group []diff.Instance) string {
	var w strings.Builder
	in := group[0]
	fmt.Fprintf(&w, "<details>\n<summary><code>%s</code></summary>\n\n", html.EscapeString(plaintext.Brief(instanceTitle(group), maxCode)))
	if len(group) > maxInline {
		fmt.Fprintf(&w, "%s\n", fence("", plaintext.Wrap(strings.Join(namesOfInstances(group), ", "), "")))
	}
	for _, f := range in.Identity {
		fmt.Fprintf(&w, "- **identity** %s\n", code(fieldLine(f)))
	}
	fieldsMarkdown(&w, "", in.Fields, in.FieldsOmitted)
	valuesMarkdown(&w, in.Values)
	w.WriteString("\n</details>\n")
	return w.String()
}
