// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Examination is what winnow doctor prints.
type Examination struct {
	output.Document

	// Findings of all checks, in the order of the checks.
	Findings []Finding `json:"findings"`
}

// Finding is a line of the answer.
type Finding struct {
	// Check is its name.
	Check string `json:"check"`
	// State is ok, problem or unknown.
	State string `json:"state"`
	// Message is what was found, and for a problem what to do.
	Message string `json:"message"`
}

// States of findings.
const (
	ok      = "ok"
	problem = "problem"
	unknown = "unknown"
)

// Documents returns the documents that the verb prints.
func Documents() []any { return []any{newExamination()} }

func newExamination() *Examination {
	return &Examination{Document: output.NewDocument("Examination"), Findings: []Finding{}}
}

// examiner adds findings to an examination.
type examiner struct {
	*installation
	*Examination

	check, number string
	// reaches are how the registries of all selections are reached.
	reaches []reach
}

func (e *examiner) add(state, format string, args ...any) {
	e.Findings = append(e.Findings, Finding{e.check, state, fmt.Sprintf(format, args...)})
}

// named returns the Deployments of a controller of Flux, with its shards. It adds a finding if there are none.
func (e *examiner) named(name string) []deployment {
	found := e.of["flux"].named(name)
	if len(found) == 0 {
		e.add(unknown, "no Deployment %s has the label app.kubernetes.io/part-of: flux", name)
	}
	return found
}

// fine adds a finding that all is well, unless the check has found something else.
func (e *examiner) fine(format string, args ...any) {
	if !slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Check == e.check && f.State != ok }) {
		e.add(ok, format, args...)
	}
}

func (e *Examination) has(state string) bool {
	return slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.State == state })
}

// Table implements output.View.
func (e *Examination) Table(w io.Writer) {
	g := output.Grid{Header: []string{"CHECK", "STATE", "MESSAGE"}}
	g.Rows = each.Map(e.Findings, func(f Finding) []string { return []string{f.Check, f.State, f.Message} })
	g.Print(w)
}

// most bounds the names in a message.
const most = 6

func list(names []string) string { return excerpt.List(names, most, strings.Clone) }
