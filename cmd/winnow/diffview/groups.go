package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// alike collects what has the same text, in the order of the first of each.
func alike[T any](all []T, text func(T) string) [][]T {
	var groups [][]T
	at := map[string]int{}
	for _, one := range all {
		said := text(one)
		i, known := at[said]
		if !known {
			i = len(groups)
			at[said] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// statement is what holds for all of the names.
type statement struct {
	names []string
	text  string
}

// print says it for a terminal, with every name.
func (s statement) print() string {
	switch {
	case len(s.names) == 1 && s.names[0] == "":
		return s.text
	case len(s.names) <= maxInline:
		return strings.Join(s.names, ", ") + ": " + s.text
	}
	return fmt.Sprintf("%s %s: %s", plaintext.Count(len(s.names), "application"), s.text, strings.Join(s.names, ", "))
}

// markdown says it for a comment, with the first names.
func (s statement) markdown() string {
	if len(s.names) == 1 && s.names[0] == "" {
		return code(s.text)
	}
	return codes(s.names) + ": " + code(s.text)
}

// statements collects the names of which the same is said.
func statements[T any](all []T, name, text func(T) string) []statement {
	var said []statement
	for _, group := range alike(all, text) {
		s := statement{text: text(group[0])}
		for _, one := range group {
			s.names = append(s.names, name(one))
		}
		said = append(said, s)
	}
	return said
}

func reasonsOf(h *diff.Held) []statement {
	return statements(h.Reasons, func(r v1alpha1.HeldReason) string { return r.Application },
		func(r v1alpha1.HeldReason) string { return r.Message })
}

func lossesOf(t *diff.Transient) []statement {
	return statements(t.Losses, func(l diff.Loss) string { return l.Application }, lossLine)
}

func namesOf(applications []diff.Application) []string {
	names := make([]string, len(applications))
	for i, a := range applications {
		names[i] = a.Name
	}
	return names
}

// title names the applications of which the same is said.
func title(group []diff.Application) string {
	if len(group) <= maxInline {
		return strings.Join(namesOf(group), ", ")
	}
	return plaintext.Count(len(group), "application")
}
