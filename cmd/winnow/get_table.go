package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// leastMessage is the least width of the column MESSAGE.
const leastMessage = 11

// column is a column of winnow get.
type column struct {
	header string
	cell   func(*live.Selection) string
}

// selectionTable returns the selections as a table. Messages are cut to fit into a terminal unless it is wide.
func selectionTable(found []*live.Selection, namespaces, wide bool) grid {
	columns := columnsOf(found, namespaces, wide)
	g := grid{rows: make([][]string, len(found))}
	width := 0
	for _, c := range columns {
		g.header = append(g.header, c.header)
		most := utf8.RuneCountInString(c.header)
		for i, s := range found {
			cell := c.cell(s)
			g.rows[i] = append(g.rows[i], cell)
			most = max(most, utf8.RuneCountInString(plaintext.Line(cell)))
		}
		width += most + 2
	}
	g.header = append(g.header, "MESSAGE")
	for i, s := range found {
		message := messageOf(s.CatalogSelection)
		if !wide {
			message = plaintext.Brief(message, max(plaintext.MaxLine-width, leastMessage))
		}
		g.rows[i] = append(g.rows[i], message)
	}
	return g
}

// columnsOf returns the columns before MESSAGE.
func columnsOf(found []*live.Selection, namespaces, wide bool) []column {
	var columns []column
	if namespaces {
		columns = append(columns, column{"NAMESPACE", func(s *live.Selection) string { return s.Namespace }})
	}
	columns = append(columns,
		column{"NAME", func(s *live.Selection) string { return s.Name }},
		conditionColumn("READY", meta.ReadyCondition),
		column{"SOURCE", func(s *live.Selection) string { return cellOf(s.Status.SourceRevision) }},
		conditionColumn("HELD", v1alpha1.HeldCondition),
		conditionColumn("APPLIED", v1alpha1.AppliedCondition),
	)
	if wide || slices.ContainsFunc(found, pushes) {
		columns = append(columns, conditionColumn("PUSHED", v1alpha1.PushedCondition))
	}
	if wide || slices.ContainsFunc(found, isSuspended) {
		columns = append(columns, column{"SUSPENDED", func(s *live.Selection) string { return title(s.Spec.Suspend) }})
	}
	if wide {
		columns = append(columns, column{"SELECTED", selectedOf})
		if slices.ContainsFunc(found, installs) {
			columns = append(columns, column{"INSTANCES", instancesOf})
		}
		columns = append(columns, column{"REVISION", revisionOf})
	}
	return columns
}

func pushes(s *live.Selection) bool {
	return s.Spec.Push != nil || conditionOf(s.CatalogSelection, v1alpha1.PushedCondition) != nil
}

func isSuspended(s *live.Selection) bool { return s.Spec.Suspend }

func conditionColumn(header, kind string) column {
	return column{header, func(s *live.Selection) string {
		if c := conditionOf(s.CatalogSelection, kind); c != nil {
			return cellOf(string(c.Status))
		}
		return "-"
	}}
}

func conditionOf(cs *v1alpha1.CatalogSelection, kind string) *metav1.Condition {
	return apimeta.FindStatusCondition(cs.Status.Conditions, kind)
}

// messageOf returns what is held, or else the message of Ready, with the reason unless that is success.
func messageOf(cs *v1alpha1.CatalogSelection) string {
	c := conditionOf(cs, v1alpha1.HeldCondition)
	if c == nil || c.Status != metav1.ConditionTrue {
		c = conditionOf(cs, meta.ReadyCondition)
	}
	switch {
	case c == nil && cs.Spec.Suspend:
		return "suspended before it was reconciled"
	case c == nil:
		return "not reconciled yet: does winnow-controller run?"
	case c.Reason == v1alpha1.SucceededReason:
		return c.Message
	}
	return c.Reason + ": " + c.Message
}

func selectedOf(s *live.Selection) string {
	if s.Status.Summary == nil {
		return "-"
	}
	return strconv.Itoa(int(s.Status.Summary.Selected))
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
	return cellOf(s.Status.Artifact.Revision)
}

// title returns a boolean as conditions are written.
func title(value bool) string {
	if value {
		return string(metav1.ConditionTrue)
	}
	return string(metav1.ConditionFalse)
}

// cellOf returns the text of a cell, or a dash without one.
func cellOf(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}
