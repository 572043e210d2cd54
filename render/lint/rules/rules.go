// SPDX-License-Identifier: Apache-2.0

// Package rules has the types of lint: a rule, its severity and a finding.
//
// It must not know any rule, nor what is linted.
package rules

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/each"
)

// Severity is the effect of a finding.
type Severity string

// Severities, the worst first.
const (
	// Error: the API server, KKP or Winnow refuses it, now or when it is installed, or it uninstalls
	// applications.
	Error Severity = "error"
	// Warning: it is accepted, and probably has another effect than its author expects.
	Warning Severity = "warning"
	// Info: a matter of style, or good to know.
	Info Severity = "info"
)

// AtLeast reports whether s is as bad as other, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() <= other.rank() }

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Info}, s) }

// Rule is a rule of lint.
type Rule struct {
	// ID is <group>/<name>.
	ID string
	// Severity of all findings of the rule.
	Severity Severity
	// Summary states in one line what must hold.
	Summary string
}

// New returns a rule.
func New(id string, severity Severity, summary string) Rule { return Rule{id, severity, summary} }

// Checked is a rule with a function that finds what breaks it.
type Checked[F any] struct {
	Rule
	Check F
}

// NewChecked returns a rule with its function.
func NewChecked[F any](id string, severity Severity, summary string, check F) Checked[F] {
	return Checked[F]{New(id, severity, summary), check}
}

// Of returns rules without their functions, in their order.
func Of[F any](all []Checked[F]) (list []Rule) {
	return each.Map(all, func(rule Checked[F]) Rule { return rule.Rule })
}

// Finding returns a finding of the rule, with the severity of the rule and a message that fmt.Sprintf makes. The other
// arguments are the fields of the Finding.
func (r Rule) Finding(application, path string, line int, format string, args ...any) Finding {
	return Finding{Rule: r.ID, Severity: r.Severity, Path: path, Line: line, Application: application,
		Message: fmt.Sprintf(format, args...)}
}

// Finding is one thing that a rule states about a catalog.
type Finding struct {
	// Rule is the identifier of the rule, such as kkp/semver. Identifiers are stable.
	Rule string `json:"rule"`
	// Severity of the rule.
	Severity Severity `json:"severity"`
	// Path of the file or directory, as the file system has it; "." is its root.
	Path string `json:"path"`
	// Line in the file, from 1; 0 when it is unknown or there is no file.
	Line int `json:"line,omitempty"`
	// Application is the name of the application that it is about; empty when there is none,
	// or when its name cannot be read.
	Application string `json:"application,omitempty"`
	// Message for people, without path and line.
	Message string `json:"message"`
}
