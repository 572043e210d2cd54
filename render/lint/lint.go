// SPDX-License-Identifier: Apache-2.0

// Package lint finds what is wrong, or likely to go wrong, with a catalog before a cluster does:
// a file system goes in, findings with rule, severity, path and line come out.
//
// Below it rules describes what a rule and a finding are, corpus reads a catalog, and field finds places in its
// documents; kkp, olm and schema have the rules on one thing each. The rules here are those on a catalog as a whole,
// and those on selections. docs/lint.md explains every rule.
//
// The package must not know selections, archives, the network or Kubernetes clients, nor how
// findings are printed.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/kkp"
	"github.com/winnow-dev/winnow/render/lint/olm"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/lint/schema"
)

// Result is what Run found.
type Result struct {
	// Findings sorted by path, line, rule and message.
	Findings []rules.Finding
	// Applications is the number of directories, or documents, that hold, or should hold, an application.
	Applications int
	// Ignored is the number of findings that were left out.
	Ignored int
}

// Options of Run. The zero value applies all rules, with what is known of KKP and Cozystack.
type Options struct {
	// Format of the catalog; nil for the one that its content has.
	Format catalog.Format
	// Ignore are the rules whose findings are left out; see Ignorable.
	Ignore []string
	// Strict makes errors of what functions do not say of themselves.
	Strict bool
	// Schemas, if set, take the place of what is known of KKP and Cozystack.
	Schemas schema.Schemas
	// Further, if set, looks at what the catalog refers to.
	Further Further
}

// Count returns the number of findings with the severity.
func (r Result) Count(severity rules.Severity) int {
	return len(each.Where(r.Findings, func(f rules.Finding) bool { return f.Severity == severity }))
}

// Run applies all rules to the catalog at the root of fsys. What makes the catalog invalid is
// found as well, and keeps no rule from looking at what can be read. The error is the file
// system's or the context's.
func Run(ctx context.Context, fsys fs.FS, options Options) (Result, error) {
	format, loaded, invalid, err := load(ctx, fsys, options.Format)
	if err != nil {
		return Result{}, err
	}
	c, err := corpus.Read(ctx, fsys, format)
	if err != nil {
		return Result{}, fmt.Errorf("reading catalog: %w", err)
	}
	found := append(incomplete(loaded, options.Strict), olm.Check(loaded)...)
	if format == (catalog.Applications{}) {
		misplaced, err := misplacedLists(fsys)
		if err != nil {
			return Result{}, fmt.Errorf("reading catalog: %w", err)
		}
		found = append(found, misplaced...)
	}
	commented, err := commentedFiles(fsys, found)
	if err != nil {
		return Result{}, fmt.Errorf("reading catalog: %w", err)
	}
	if options.Further != nil && invalid == nil {
		more, err := options.Further.Find(ctx, loaded, c.Definitions)
		if err != nil {
			return Result{}, err
		}
		found = append(found, more...)
	}
	found = append(found, violations(invalid, c)...)
	for _, d := range c.Definitions {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		more, err := checkDefinition(ctx, d, options.Schemas)
		if err != nil {
			return Result{}, err
		}
		found = append(found, more...)
	}
	for _, rule := range corpusRules() {
		rule.Check(c, func(d *corpus.Definition, path string, line int, format string, args ...any) {
			found = append(found, rule.Finding(d.Name, path, line, format, args...))
		})
	}
	kept, ignored := keep(found, c, commented, options.Ignore)
	slices.SortFunc(kept, func(a, b rules.Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return Result{Findings: slices.Compact(kept), Applications: len(c.Definitions) + contentsOf(loaded), Ignored: ignored}, nil
}

// checkDefinition applies the rules on one definition. The error is the context's.
func checkDefinition(ctx context.Context, d *corpus.Definition, schemas schema.Schemas) (found []rules.Finding, err error) {
	report := func(rule rules.Rule, at field.Field, format string, args ...any) {
		found = append(found, rule.Finding(d.Name, d.Path, at.Line, format, args...))
	}
	if d.Group == kinds.KKPGroup {
		kkp.Check(d.Root, report)
	}
	err = schema.Check(ctx, d.Data, d.Root, schemas, report)
	return found, err
}

// load loads a catalog of a format, nil for the one that its content has. It returns the format, the catalog, and what
// makes it invalid.
func load(ctx context.Context, fsys fs.FS, format catalog.Format) (_ catalog.Format, loaded *catalog.Catalog, invalid *violation.InvalidError, err error) {
	if format == nil {
		format, err = catalog.Detect(fsys)
	}
	if err == nil {
		loaded, err = format.Load(ctx, fsys)
	} else {
		format = catalog.Applications{}
	}
	if errors.As(err, &invalid) {
		err = nil
	}
	return format, loaded, invalid, err
}
