package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/diff"
)

// groupBy groups values by text, in the order of the first value of each group.
func groupBy[T any](all []T, text func(T) string) [][]T {
	var groups [][]T
	indexes := map[string]int{}
	for _, one := range all {
		key := text(one)
		i, known := indexes[key]
		if !known {
			i = len(groups)
			indexes[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// statement is a text that applies to all of the names.
type statement struct {
	names []string
	text  string
}

// print returns the statement for a terminal, with all names.
func (s statement) print() string {
	switch {
	case len(s.names) == 1 && s.names[0] == "":
		return s.text
	case len(s.names) <= maxInline:
		return strings.Join(s.names, ", ") + ": " + s.text
	}
	return fmt.Sprintf("%s %s: %s", plaintext.Count(len(s.names), "application"), s.text, strings.Join(s.names, ", "))
}

// markdown returns the statement for a comment, with the first names.
func (s statement) markdown() string {
	if len(s.names) == 1 && s.names[0] == "" {
		return code(s.text)
	}
	return codes(s.names) + ": " + code(s.text)
}

// statements groups the names of values with the same text.
func statements[T any](all []T, name, text func(T) string) []statement {
	var grouped []statement
	for _, group := range groupBy(all, text) {
		s := statement{text: text(group[0])}
		for _, one := range group {
			s.names = append(s.names, name(one))
		}
		grouped = append(grouped, s)
	}
	return grouped
}

func reasonsOf(h *diff.Held) []statement {
	name := func(r v1alpha1.HeldReason) string {
		if r.Instance != "" {
			return "" // the message has it
		}
		return r.Application
	}
	return statements(h.Reasons, name, func(r v1alpha1.HeldReason) string { return r.Message + report.ReleasedBy(r) })
}

func lossesOf(t *diff.Transient) []statement {
	return statements(t.Losses, diff.Loss.Name, lossLine)
}

func namesOf(applications []diff.Application) []string {
	names := make([]string, len(applications))
	for i, a := range applications {
		names[i] = a.Name
	}
	return names
}

// title returns the names of a group, or the number of applications if there are many.
func title(group []diff.Application) string {
	if len(group) <= maxInline {
		return strings.Join(namesOf(group), ", ")
	}
	return plaintext.Count(len(group), "application")
}
