// SPDX-License-Identifier: Apache-2.0

package get

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// column is a column of winnow get.
type column struct {
	header string
	cell   func(*live.Selection) string
	// condition reports that its cells may be problems, spare that it is left out where lines have no room for it, and hidden
	// that it is left out anyway.
	condition, spare, hidden bool
}

// layout is how winnow get prints selections.
type layout struct {
	namespaces, wide, headers, colour bool
	// width of a line; 0: lines are not cut.
	width int
}

// selectionTable is a table of selections. Only messages are cut to fit into a line: what fails or is held is in columns.
type selectionTable struct {
	layout
	columns []column
	widths  []int
	found   []*live.Selection
}

// leastMessage is the least width of the column MESSAGE. Where less is left, messages follow on lines of their own.
const leastMessage = 20

func newSelectionTable(found []*live.Selection, l layout) *selectionTable {
	if l.wide {
		l.width = 0
	}
	t := &selectionTable{layout: l, columns: columnsOf(found, l), found: found}
	t.measure()
	if l.width > 0 && l.width-t.fixed() < leastMessage {
		t.columns = slices.DeleteFunc(t.columns, func(c column) bool { return c.spare })
		t.measure()
	}
	return t
}

// measure sets the widths of the columns.
func (t *selectionTable) measure() {
	t.widths = nil
	for _, c := range t.columns {
		most := utf8.RuneCountInString(c.header)
		for _, s := range t.found {
			most = max(most, utf8.RuneCountInString(plaintext.Line(c.cell(s))))
		}
		t.widths = append(t.widths, most)
	}
}

// fixed returns the width of the columns before MESSAGE.
func (t *selectionTable) fixed() int {
	sum := 0
	for _, width := range t.widths {
		sum += width + 2
	}
	return sum
}

// below reports whether messages are on lines of their own.
func (t *selectionTable) below() bool { return t.width > 0 && t.width-t.fixed() < leastMessage }

func (t *selectionTable) print(w io.Writer) {
	if t.headers {
		fmt.Fprintln(w, t.header())
	}
	for _, s := range t.found {
		fmt.Fprintln(w, t.row(s))
	}
}

// header returns the first line.
func (t *selectionTable) header() string {
	var line strings.Builder
	for i, c := range t.columns {
		fmt.Fprintf(&line, "%-*s  ", t.widths[i], c.header)
	}
	if !t.below() {
		line.WriteString("MESSAGE")
	}
	return strings.TrimRight(line.String(), " ")
}

// row returns the lines of a selection.
func (t *selectionTable) row(s *live.Selection) string {
	return t.line(s, messageOf(s.CatalogSelection))
}

func (t *selectionTable) line(s *live.Selection, message string) string {
	var line strings.Builder
	for i, c := range t.columns {
		cell := plaintext.Line(c.cell(s))
		line.WriteString(t.painted(c, cell) + strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell)+2))
	}
	switch {
	case t.below():
		return strings.TrimRight(line.String(), " ") + "\n" + plaintext.WrapAt(message, "  ", t.width)
	case t.width > 0:
		message = plaintext.Brief(message, t.width-t.fixed())
	}
	return strings.TrimRight(line.String()+plaintext.Line(message), " ")
}

// painted returns a cell in the colour of its problem, if there is one.
func (t *selectionTable) painted(c column, cell string) string {
	colour := map[string]string{cellFail: output.Red, cellHeld: output.Yellow, cellWait: output.Yellow}[cell]
	if !t.colour || !c.condition || colour == "" {
		return cell
	}
	return colour + cell + output.ColourEnd
}

// columnsOf returns the columns before MESSAGE.
func columnsOf(found []*live.Selection, l layout) []column {
	pushed := conditionColumn("PUSHED", v1alpha1.PushedCondition)
	pushed.hidden = !l.wide && !slices.ContainsFunc(found, pushes)
	columns := []column{
		{header: "NAMESPACE", hidden: !l.namespaces, cell: func(s *live.Selection) string { return s.Namespace }},
		{header: "NAME", cell: func(s *live.Selection) string { return s.Name }},
		conditionColumn("READY", meta.ReadyCondition),
		conditionColumn("SOURCES", v1alpha1.SourceReadyCondition),
		conditionColumn("HELD", v1alpha1.HeldCondition),
		conditionColumn("APPLIED", v1alpha1.AppliedCondition),
		pushed,
		{header: "SUSPENDED", hidden: !l.wide && !slices.ContainsFunc(found, isSuspended), condition: true, cell: suspendedOf},
		{header: "CATALOG", spare: true, cell: func(s *live.Selection) string { return output.OrDash(s.Status.SourceRevision) }},
		{header: "SELECTED", hidden: !l.wide, cell: countOf(func(s *v1alpha1.Summary) int32 { return s.Selected })},
		leftColumn("BYPASSED", found, l, func(s *v1alpha1.Summary) int32 { return s.Bypassed }),
		leftColumn("ORPHANED", found, l, func(s *v1alpha1.Summary) int32 { return s.Orphaned }),
		{header: "INSTANCES", hidden: !l.wide || !slices.ContainsFunc(found, installs), cell: instancesOf},
		{header: "REVISION", hidden: !l.wide, cell: revisionOf},
	}
	return slices.DeleteFunc(columns, func(c column) bool { return c.hidden })
}

func pushes(s *live.Selection) bool {
	return s.Spec.Push != nil || conditionOf(s.CatalogSelection, v1alpha1.PushedCondition) != nil
}

func isSuspended(s *live.Selection) bool { return s.Spec.Suspend }

func conditionColumn(header, kind string) column {
	return column{header: header, condition: true, cell: func(s *live.Selection) string { return conditionCell(s.CatalogSelection, kind) }}
}

// countOf returns the cell of a number in the summary.
func countOf(of func(*v1alpha1.Summary) int32) func(*live.Selection) string {
	return func(s *live.Selection) string {
		if s.Status.Summary == nil {
			return "-"
		}
		return strconv.Itoa(int(of(s.Status.Summary)))
	}
}

// leftColumn returns a column of definitions that are left behind, where there are some.
func leftColumn(header string, found []*live.Selection, l layout, of func(*v1alpha1.Summary) int32) column {
	there := slices.ContainsFunc(found, func(s *live.Selection) bool { return s.Status.Summary != nil && of(s.Status.Summary) > 0 })
	return column{header: header, hidden: !l.wide || !there, cell: countOf(of)}
}

// installs reports whether a selection has instances, in its spec or in its artifact.
func installs(s *live.Selection) bool {
	return len(s.Spec.Instances) > 0 || s.Status.Summary != nil && s.Status.Summary.Instances > 0
}

// instancesOf returns the number of the instances in the artifact, and of those in the spec where it is another.
func instancesOf(s *live.Selection) string {
	wanted := len(s.Spec.Instances)
	switch {
	case s.Status.Summary == nil:
		return "-"
	case int(s.Status.Summary.Instances) == wanted:
		return strconv.Itoa(wanted)
	}
	return fmt.Sprintf("%d of %d", s.Status.Summary.Instances, wanted)
}

func revisionOf(s *live.Selection) string {
	if s.Status.Artifact == nil {
		return "-"
	}
	return output.OrDash(s.Status.Artifact.Revision)
}

// suspendedOf returns whether a selection is suspended, as conditions are written.
func suspendedOf(s *live.Selection) string {
	if s.Spec.Suspend {
		return string(metav1.ConditionTrue)
	}
	return string(metav1.ConditionFalse)
}

// changes prints a table of selections, and then the rows that change.
type changes struct {
	layout layout
	out    io.Writer
	// header is the one that was printed last, and rows are the last ones by namespace and name.
	header string
	rows   map[string]string
}

// print prints the rows that differ from what was printed last, below a header where that differs. It returns the error
// of the output, such as of a closed pipe.
func (c *changes) print(change live.Change) error {
	table := newSelectionTable(worstFirst(append(change.All, change.Deleted...)), c.layout)
	if header := table.header(); header != c.header && len(table.found) > 0 {
		c.header = header
		if c.layout.headers {
			if _, err := fmt.Fprintln(c.out, header); err != nil {
				return err
			}
		}
	}
	if c.rows == nil {
		c.rows = map[string]string{}
	}
	for _, s := range worstFirst(change.Changed) {
		// Another width of a column is no change of the selection.
		name, row := s.Key().String(), newSelectionTable([]*live.Selection{s}, c.layout).row(s)
		if c.rows[name] == row {
			continue
		}
		c.rows[name] = row
		if _, err := fmt.Fprintln(c.out, table.row(s)); err != nil {
			return err
		}
	}
	for _, s := range change.Deleted {
		delete(c.rows, s.Key().String())
		if _, err := fmt.Fprintln(c.out, table.line(s, "deleted")); err != nil {
			return err
		}
	}
	return nil
}
