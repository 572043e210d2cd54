// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// DefaultOmitFields returns the fields below spec of KKP's ApplicationDefinitions that the
// admins of a cluster own.
func DefaultOmitFields() []string { return []string{"default", "enforced", "selector"} }

// omitFields removes fields below spec with their comments. A mapping that has nothing left
// goes as well, except spec.
type omitFields struct {
	// paths are nil where the default applies.
	paths, defaults [][]string
}

func newOmitFields(fields []string) (omitFields, error) {
	o := omitFields{}
	o.defaults = each.Map(DefaultOmitFields(), func(field string) []string { return []string{field} })
	if fields == nil {
		return o, nil
	}
	o.paths = [][]string{}
	var errs []error
	for i, field := range fields {
		path := strings.Split(field, ".")
		at := fmt.Sprintf("spec.omitFields[%d]", i)
		switch {
		case slices.Contains(path, ""):
			errs = append(errs, &Error{Field: at, Err: fmt.Errorf("%q is not a path of names with dots between them", field)})
		case field == "versions" || field == "method":
			errs = append(errs, &Error{Field: at, Err: fmt.Errorf("%s cannot be omitted: without it a definition installs nothing", field)})
		}
		o.paths = append(o.paths, path)
	}
	return o, errors.Join(errs...)
}

func (o omitFields) of(application *catalog.Application) [][]string {
	if o.paths == nil && application.Group == kinds.KKPGroup {
		return o.defaults
	}
	return o.paths
}

func (o omitFields) concerns(in Input) bool {
	return slices.ContainsFunc(o.of(in.Application), func(path []string) bool {
		return mayHave(in.Application, path[0])
	})
}

// mayHave reports, without parsing, whether a document may have a field directly below spec.
func mayHave(application *catalog.Application, name string) bool {
	return application.SpecFields == nil || slices.Contains(application.SpecFields, name)
}

func (o omitFields) apply(in Input, doc *yamledit.Document, out *Output) *Error {
	for i, path := range o.paths {
		if spec := yamledit.Lookup(doc.Content(), "spec"); spec != nil && has(spec, path) {
			out.Omitted = append(out.Omitted, i)
		}
	}
	for _, path := range o.of(in.Application) {
		spec := yamledit.Lookup(doc.Content(), "spec")
		if spec == nil || !has(spec, path) {
			continue
		}
		omit(doc, spec, path)
		// Each on its own: two paths can meet in a mapping that becomes empty.
		if err := doc.Flush(); err != nil {
			return failed("spec.omitFields", err)
		}
	}
	return nil
}

// has reports whether a path leads through mappings to a field.
func has(node *yaml.Node, path []string) bool {
	for _, name := range path {
		if node = yamledit.Lookup(node, name); node == nil {
			return false
		}
	}
	return true
}

// omit removes a field that is there, or the mapping around it when it is the only one.
func omit(d *yamledit.Document, mapping *yaml.Node, path []string) {
	name, rest := path[0], path[1:]
	if len(rest) == 0 || sole(yamledit.Lookup(mapping, name), rest) {
		d.Remove(mapping, name)
		return
	}
	omit(d, yamledit.Lookup(mapping, name), rest)
}

// sole reports whether nothing is left of a mapping without the field that path leads to.
func sole(mapping *yaml.Node, path []string) bool {
	for _, name := range path {
		if len(mapping.Content) != 2 || yamledit.Index(mapping, name) < 0 {
			return false
		}
		mapping = mapping.Content[1]
	}
	return true
}

// Without returns a document without the fields at the paths, which are lists of keys. None of the paths may begin with
// another one, nor may they name all fields of a mapping. A document that has none of the fields is returned as the
// same slice.
func Without(document []byte, paths ...[]string) ([]byte, error) {
	doc, err := yamledit.Parse(document)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if has(doc.Content(), path) {
			omit(doc, doc.Content(), path)
		}
	}
	if err := doc.Flush(); err != nil {
		return nil, err
	}
	return doc.Data, nil
}
