package diffview

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// selectionText prints a selection for a terminal. The details that several parts of it have, in both formats, are below.
type selectionText struct {
	io.Writer
	// stat prints a line for each application.
	stat bool
}

func (w selectionText) fields(fields []diff.Field, omitted int, indent string) {
	for _, f := range fields {
		fmt.Fprintln(w, plaintext.Wrap(fieldLine(f), indent))
	}
	if omitted > 0 {
		fmt.Fprintf(w, "%sand %d more fields\n", indent, omitted)
	}
}

// values prints a change of values, which may be nil, below an application or an instance.
func (w selectionText) values(values *diff.Values) {
	if values == nil {
		return
	}
	fmt.Fprintf(w, "    %s\n", valuesLine(values))
	for line := range strings.Lines(values.Diff) {
		fmt.Fprintln(w, strings.TrimRight("      "+plaintext.Printable(line), " "))
	}
}

// valuesMarkdown writes a change of values, which may be nil.
func valuesMarkdown(w *strings.Builder, values *diff.Values) {
	if values == nil {
		return
	}
	shown := *values
	shown.Cut(maxDiffText)
	fmt.Fprintf(w, "\n%s\n", code(valuesLine(&shown)))
	if shown.Diff != "" {
		fmt.Fprintf(w, "\n%s", fence("diff", shown.Diff))
	}
}

func fieldsMarkdown(w *strings.Builder, indent string, fields []diff.Field, omitted int) {
	for _, f := range fields {
		fmt.Fprintf(w, "%s- %s\n", indent, code(fieldLine(f)))
	}
	if omitted > 0 {
		fmt.Fprintf(w, "%s- and %d more fields\n", indent, omitted)
	}
}

// listMarkdown writes the first values as a list, and the number of the others.
func listMarkdown[T any](w *strings.Builder, all []T, markdown func(T) string) {
	for _, s := range all[:min(len(all), maxReasons)] {
		fmt.Fprintf(w, "- %s\n", markdown(s))
	}
	if more := len(all) - maxReasons; more > 0 {
		fmt.Fprintf(w, "- and %d more\n", more)
	}
}
