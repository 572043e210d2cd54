// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/selection"
)

// WarnUnmatched warns of each name in the selection that matches nothing in the catalogs, with its line
// and similar names.
func (o *Options) WarnUnmatched(notes io.Writer, unmatched []mention.Unmatched) {
	for _, line := range o.unmatchedLines(unmatched) {
		output.Warn(notes, line)
	}
}

func (o *Options) unmatchedLines(unmatched []mention.Unmatched) []string {
	lines := mention.Sentences(unmatched)
	for i := range lines[:min(len(lines), mention.MaxAdvised)] {
		lines[i] = plaintext.Line(o.Selection.Place(unmatched[i].Field) + ": " + lines[i])
	}
	return lines
}

// ExplainEmpty appends to the error of an empty result the unmatched names, one a line.
func (o *Options) ExplainEmpty(err error, sources []selection.Source, options render.Options) error {
	if refused, ok := errors.AsType[*render.Error](err); !ok || refused.Reason() != v1alpha1.EmptyResultReason {
		return err
	}
	for _, line := range o.unmatchedLines(mention.UnmatchedOf(sources, options.Mentions)) {
		err = fmt.Errorf("%w\n%s", err, line)
	}
	return err
}

// Placed prefixes the error of a field with the position of the field in the file, if there is one.
func (o *Options) Placed(err error) error {
	if refused, ok := errors.AsType[*render.Error](err); ok && refused.Field != "" && o.Selection != nil {
		return fmt.Errorf("%s: %w", o.Selection.Place(fieldOf(refused)), err)
	}
	return err
}

// fieldOf returns the field of an error; for errors of instances, the field of the first instance.
func fieldOf(refused *render.Error) string {
	of, ok := errors.AsType[*backend.Error](refused)
	switch {
	case !ok:
		return refused.Field
	case of.Application != "" || of.Path == "":
		return fmt.Sprintf("%s[%s]", refused.Field, of.Instance)
	}
	return fmt.Sprintf("%s[%s].%s", refused.Field, of.Instance, of.Path)
}
