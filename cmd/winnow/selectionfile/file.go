// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"bytes"
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/finding"
)

// Selection is a CatalogSelection that API server and controller accept, with the defaults of the API
// server. Its namespace is empty if the document has none: kustomize may set it.
type Selection struct {
	*v1alpha1.CatalogSelection

	file  string
	lines lines
}

// Place returns <file>:<line> of a field such as spec.exclude[2], or of the nearest enclosing field if
// that is missing.
func (s *Selection) Place(field string) string {
	return finding.Position(s.file, s.lines.of(field))
}

// Line returns the line of a field, as Place has it; 0 if it is unknown.
func (s *Selection) Line(field string) int { return s.lines.of(field) }

// File returns the name of the file, as it was passed to Parse.
func (s *Selection) File() string { return s.file }

// Parse returns the CatalogSelections among the documents of a file, in its order. If the API server or
// the controller would refuse one, it returns a *render.Error with the reason InvalidSpec that wraps an
// *InvalidError with all violations.
func Parse(ctx context.Context, file string, content []byte) ([]*Selection, error) {
	var found []*Selection
	invalid := &InvalidError{file: file}
	err := eachDocument(ctx, content, func(document []byte, before int) {
		if len(invalid.Violations) == maxViolations {
			return // the maximum is reached
		}
		selections, refused := parse(ctx, file, document, before)
		found = append(found, selections...)
		invalid.add(refused.Violations, refused.Omitted)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		invalid.add([]Violation{{Message: err.Error()}}, 0)
	}
	if len(invalid.Violations) > 0 {
		return nil, &render.Error{Code: v1alpha1.InvalidSpecReason, Err: invalid}
	}
	return found, nil
}

// ParseDocument returns the CatalogSelection of a single document, or nil for another kind. It returns
// the errors of Parse, without positions.
func ParseDocument(ctx context.Context, document []byte) (*v1alpha1.CatalogSelection, error) {
	found, invalid := parse(ctx, "", document, 0)
	switch {
	case len(invalid.Violations) > 0:
		return nil, &render.Error{Code: v1alpha1.InvalidSpecReason, Err: invalid}
	case len(found) == 0:
		return nil, nil
	}
	return found[0].CatalogSelection, nil
}

// Names returns the names of the CatalogSelections in a file, valid or not. It skips documents that
// cannot be parsed.
func Names(ctx context.Context, content []byte) []string {
	var names []string
	_ = eachDocument(ctx, content, func(document []byte, _ int) {
		object, _ := read(document)
		for _, one := range dialect.Objects(object) {
			o := unstructured.Unstructured{Object: one}
			if isSelection(one) && o.GetName() != "" {
				names = append(names, o.GetName())
			}
		}
	})
	return names
}

// eachDocument calls f for each document, with the number of lines before it in the file.
func eachDocument(ctx context.Context, content []byte, f func(document []byte, before int)) error {
	before := 0
	for document, err := range dialect.Documents(content) {
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		f(document, before)
		before += bytes.Count(document, []byte("\n")) + 1 // the reader drops the line that ends a document
	}
	return ctx.Err()
}
