// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"errors"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/diff"
)

// Options of Write.
type Options struct {
	// Format is one of -o.
	Format string
	View
	// FailOn are the names of conditions that are findings.
	FailOn []string
}

// Write writes a report, and returns what it has of the conditions as a finding. A newer state that is invalid is one as well.
func Write(w io.Writer, report *diff.Report, o Options) error {
	if o.Format == output.FormatJSON || o.Format == output.FormatYAML {
		report.Classes = report.Classified()
		if o.Stat {
			report.Shorten()
		}
	}
	if err := output.Write(w, o.Format, view{report, o.View}); err != nil {
		return err
	}
	found := report.Trips(o.FailOn)
	if len(found) > 0 {
		found[0] = "--fail-on " + found[0]
	}
	if found = append(found, invalid(report)...); len(found) > 0 {
		return output.Finding(errors.New(strings.Join(found, "; ")))
	}
	return nil
}

// view prints a report in the formats for people.
type view struct {
	*diff.Report

	how View
}

// Table is part of output.Write.
func (v view) Table(w io.Writer) { Text(w, v.Report, v.how) }

// Markdown is part of output.Write.
func (v view) Markdown(w io.Writer) { Markdown(w, v.Report, v.how.Stat) }
