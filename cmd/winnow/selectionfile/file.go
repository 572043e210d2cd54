// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/config/crd"
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

// someNamespace is a placeholder for the missing namespace of a document.
const someNamespace = "the-namespace-that-is-not-known-here"

// definitions compiles the CustomResourceDefinition of CatalogSelection once.
var definitions = sync.OnceValues(func() (*crds.Set, error) {
	set := &crds.Set{}
	err := set.Load(context.Background(), "config/crd", crd.Files())
	return set, err
})

func isSelection(object map[string]any) bool {
	o := unstructured.Unstructured{Object: object}
	group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
	return group == v1alpha1.GroupVersion.Group && o.GetKind() == v1alpha1.CatalogSelectionKind
}

// parse returns the CatalogSelections of a document, also among the items of a list, and their violations, of many not all.
func parse(ctx context.Context, file string, document []byte, before int) (found []*Selection, invalid *InvalidError) {
	invalid = &InvalidError{}
	object, err := read(document)
	switch mayHave := slices.ContainsFunc(dialect.Objects(object), isSelection); {
	case !mayHave && (err == nil || object != nil):
	case err != nil:
		invalid.Violations = yamlViolations(document, before)
	default:
		found = parseObject(ctx, file, object, newLines(document, before), invalid)
	}
	return found, invalid
}

// parseObject returns the CatalogSelections of an object, and adds their violations to invalid.
func parseObject(ctx context.Context, file string, object map[string]any, at lines, invalid *InvalidError) (found []*Selection) {
	if items, isList := dialect.Items(object); isList {
		for i, item := range items {
			if fields, ok := item.(map[string]any); ok && len(invalid.Violations) < maxViolations && ctx.Err() == nil {
				found = append(found, parseObject(ctx, file, fields, at.item(i), invalid)...)
			}
		}
		return found
	}
	if !isSelection(object) {
		return nil
	}
	o := &unstructured.Unstructured{Object: object}
	if known := v1alpha1.GroupVersion.String(); o.GetAPIVersion() != known {
		message := fmt.Sprintf("%s is not known: use %s", o.GetAPIVersion(), known)
		invalid.add([]Violation{{Line: at.of("apiVersion"), Field: "apiVersion", Message: message}}, 0)
		return nil
	}
	cs, violations, omitted := check(ctx, o)
	for i := range violations {
		violations[i].Line = at.of(violations[i].Field)
	}
	slices.SortStableFunc(violations, func(a, b Violation) int { return cmp.Compare(a.Line, b.Line) })
	invalid.add(violations, omitted)
	return []*Selection{{CatalogSelection: cs, file: file, lines: at}}
}

// check applies the rules of the API server, and then the controller's rules to the fields that passed.
func check(ctx context.Context, object *unstructured.Unstructured) (cs *v1alpha1.CatalogSelection, violations []Violation, omitted int) {
	bounded := func(all []Violation) []Violation {
		kept := all[:min(len(all), maxViolations)]
		omitted += len(all) - len(kept)
		return kept
	}
	violations = bounded(admit(ctx, object))
	cs, err := decodeTyped(object)
	switch {
	case err == nil:
		violations = append(violations, bounded(refusedByController(cs, violations))...)
	case len(violations) == 0: // the schema allows what the type does not
		violations = []Violation{{Message: fmt.Sprintf("decoding: %v", err)}}
	}
	return cs, violations, omitted
}

// admit changes the object to the one that the API server would store, and returns its violations.
func admit(ctx context.Context, object *unstructured.Unstructured) []Violation {
	set, err := definitions()
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	namespace, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "namespace")
	anywhere := namespace == nil || namespace == ""
	if anywhere {
		object.SetNamespace(someNamespace)
	}
	found, _ := set.Admit(ctx, object)
	if anywhere {
		object.SetNamespace("")
	}
	var violations []Violation
	for _, f := range found {
		// The checks of the controller cover the rules that were not evaluated.
		if f.Message != crds.RulesUnchecked {
			message := strings.Replace(f.Message, f.Field+" in body ", "", 1) // the field is named already
			violations = append(violations, Violation{Field: f.Field, Message: message})
		}
	}
	return violations
}

// decodeTyped decodes the object as the controller does.
func decodeTyped(object *unstructured.Unstructured) (*v1alpha1.CatalogSelection, error) {
	content, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	cs := &v1alpha1.CatalogSelection{}
	return cs, json.Unmarshal(content, cs)
}

// refusedByController returns the violations of the controller's rules, except on fields in already.
func refusedByController(cs *v1alpha1.CatalogSelection, already []Violation) []Violation {
	placed := cs.DeepCopy()
	placed.Namespace = cmp.Or(placed.Namespace, someNamespace)
	_, err := render.FromSpec(placed)
	var several interface{ Errors() []error }
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &several):
		return []Violation{{Message: err.Error()}}
	}
	var violations []Violation
	for _, one := range several.Errors() {
		v := Violation{Message: one.Error()}
		if of, ok := errors.AsType[*field.Error](one); ok {
			v = Violation{Field: of.Field, Message: of.ErrorBody()}
		}
		if !slices.ContainsFunc(already, func(a Violation) bool { return a.encloses(v) || v.encloses(a) }) {
			violations = append(violations, v)
		}
	}
	return violations
}

// encloses reports whether the field of a violation is the field of the other one, or contains it.
func (v Violation) encloses(other Violation) bool {
	rest, within := strings.CutPrefix(dotted(other.Field), dotted(v.Field))
	return v.Field != "" && within && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// dotted returns the path of a field with dots before the keys of maps, which the controller writes in brackets, and with
// indices as they are.
func dotted(field string) string { return keyPattern.ReplaceAllString(field, ".$1") }

var keyPattern = regexp.MustCompile(`\[([^\]\d][^\]]*|\d+[^\]\d][^\]]*)\]`)
