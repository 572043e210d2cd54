package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
)

// Severity says how bad a finding is.
type Severity string

// Severities, the worst first.
const (
	// Error: the API server, KKP's webhook or Winnow refuses it, or it cannot work.
	Error Severity = "error"
	// Warning: it is accepted, but hardly what was meant.
	Warning Severity = "warning"
	// Info: good to know.
	Info Severity = "info"
)

// AtLeast reports whether s is as bad as other, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() <= other.rank() }

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Info}, s) }

// Finding is one thing that a rule says about a catalog.
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

// Rule is what can be found.
type Rule struct {
	// ID is <group>/<name>.
	ID string
	// Severity of all findings of the rule.
	Severity Severity
	// Summary says in one line what must hold.
	Summary string
}

// Result is what Run found.
type Result struct {
	// Findings sorted by path, line, rule and message.
	Findings []Finding
	// Applications is the number of directories that hold, or should hold, an application.
	Applications int
}

// Count returns the number of findings with the severity.
func (r Result) Count(severity Severity) int {
	n := 0
	for _, finding := range r.Findings {
		if finding.Severity == severity {
			n++
		}
	}
	return n
}

// Rules returns all rules, sorted by identifier.
func Rules() []Rule {
	var all []Rule
	for _, rule := range documentRules() {
		all = append(all, rule.Rule)
	}
	for _, rule := range corpusRules() {
		all = append(all, rule.Rule)
	}
	all = append(all, loadingRules()...)
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Run applies all rules to the catalog at the root of fsys. What makes the catalog invalid is
// found as well, and keeps no rule from looking at what can be read. The error is the file
// system's or the context's.
func Run(ctx context.Context, fsys fs.FS) (Result, error) {
	_, err := catalog.Load(ctx, fsys)
	var invalid *catalog.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return Result{}, err
	}
	c, err := read(ctx, fsys)
	if err != nil {
		return Result{}, fmt.Errorf("reading catalog: %w", err)
	}
	found := violations(invalid, c)
	for _, d := range c.definitions {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		found = append(found, d.check()...)
	}
	for _, rule := range corpusRules() {
		rule.check(c, func(d *definition, path string, line int, format string, args ...any) {
			found = append(found, Finding{Rule: rule.ID, Severity: rule.Severity, Path: path, Line: line,
				Application: d.name, Message: fmt.Sprintf(format, args...)})
		})
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return Result{Findings: slices.Compact(found), Applications: len(c.definitions)}, nil
}

// documentRule is a rule on one definition.
type documentRule struct {
	Rule
	check func(field, report)
}

// report adds a finding in the line of a field.
type report func(at field, format string, args ...any)

// documentRules are those on KKP's definitions; other kinds have none so far.
func documentRules() []documentRule {
	return slices.Concat(webhookRules(), sourceRules(), missedRules(), valuesRules())
}

func (d *definition) check() []Finding {
	if d.group != kkpGroup {
		return nil
	}
	var found []Finding
	for _, rule := range documentRules() {
		rule.check(d.root, func(at field, format string, args ...any) {
			found = append(found, Finding{Rule: rule.ID, Severity: rule.Severity, Path: d.path, Line: at.line,
				Application: d.name, Message: fmt.Sprintf(format, args...)})
		})
	}
	return found
}
