// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Finding is an error for which the API server would refuse an object.
type Finding struct {
	// Object is its kind and name, ApplicationDefinition/nginx, with the namespace between
	// them if it has one.
	Object string
	// Field is the path of the field, or empty for the object as a whole.
	Field string
	// Message describes the error.
	Message string
}

// String returns the finding as a line.
func (f Finding) String() string {
	if f.Field == "" {
		return f.Object + ": " + f.Message
	}
	return f.Object + ": " + f.Field + ": " + f.Message
}

// Result is the result of a check.
type Result struct {
	// Findings are sorted by object, field and message.
	Findings []Finding
	// Checked is the number of objects with a definition.
	Checked int
	// Unchecked maps apiVersion and kind to the objects without a definition, in the order of the stream.
	Unchecked map[string][]string
}

// Check checks the objects of a YAML stream. It returns an error if the stream cannot be parsed.
func (s *Set) Check(ctx context.Context, stream []byte) (Result, error) {
	result := Result{Unchecked: map[string][]string{}}
	i := 0
	for document, err := range dialect.Documents(stream) {
		if ctx.Err() != nil {
			break
		}
		i++
		var object map[string]any
		if err == nil {
			object, err = dialect.Object(document, false) // with numbers as the API server decodes them
		}
		if err != nil {
			return Result{}, fmt.Errorf("document %d: %w", i, err)
		}
		if len(object) > 0 {
			s.checkObject(ctx, &unstructured.Unstructured{Object: object}, &result)
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	slices.SortFunc(result.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	result.Findings = slices.Compact(result.Findings)
	return result, nil
}

func (s *Set) checkObject(ctx context.Context, object *unstructured.Unstructured, result *Result) {
	name := label(object)
	found, ok := s.Admit(ctx, object)
	if !ok {
		kind := object.GetAPIVersion() + " " + object.GetKind()
		result.Unchecked[kind] = append(result.Unchecked[kind], object.GetName())
		return
	}
	result.Checked++
	for _, f := range found {
		f.Object = name
		result.Findings = append(result.Findings, f)
	}
}

// Admit prunes unknown fields of an object and sets defaults, as the API server does, and returns the
// errors for which that would refuse it. Finding.Object is empty. It reports false for an object
// without a definition.
func (s *Set) Admit(ctx context.Context, object *unstructured.Unstructured) ([]Finding, bool) {
	gvk := object.GroupVersionKind()
	d, ok := s.kinds[gvk.GroupKind()]
	if !ok {
		return nil, false
	}
	v, ok := d.versions[gvk.Version]
	if !ok {
		return []Finding{{Field: "apiVersion", Message: fmt.Sprintf(
			"%s does not serve version %s, but %s", d.file, gvk.Version, strings.Join(d.served, ", "))}}, true
	}
	return d.check(ctx, v, object), true
}

func label(object *unstructured.Unstructured) string {
	parts := []string{object.GetKind(), object.GetNamespace(), object.GetName()}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "/")
}

// maxAdvised bounds the unknown fields for which unknown suggests a similar one.
const maxAdvised = 20

// unknown returns the findings of unknown fields. source is what does not have them.
func (v *version) unknown(paths []string, source string) (found []Finding) {
	for i, path := range paths {
		release := kinds.RequiredRelease("." + path)
		message := "unknown field: " + source + " does not have it" + release
		if i < maxAdvised && release == "" {
			message += v.advise(path)
		}
		found = append(found, Finding{Field: path, Message: message})
	}
	return found
}

// check recovers from panics of the libraries: definitions and objects are untrusted.
func (d *definition) check(ctx context.Context, v *version, object *unstructured.Unstructured) (found []Finding) {
	defer recoverInto(&found)
	unknown, err := d.pruneAndDefault(v, object)
	found = v.unknown(unknown, "the CustomResourceDefinition")
	if err != nil {
		return append(found, Finding{Field: "metadata", Message: err.Error()})
	}
	return append(found, findings(d.validate(ctx, v, object))...)
}

// recoverInto adds a panic of the function that defers it.
func recoverInto(found *[]Finding) {
	if p := recover(); p != nil {
		*found = append(*found, Finding{Message: fmt.Sprintf("checking the object failed: %v", p)})
	}
}

func findings(errs field.ErrorList) (found []Finding) {
	return each.Map(errs, func(e *field.Error) Finding {
		return Finding{Field: strings.TrimPrefix(e.Field, "<nil>"), Message: message(e)} // as the path of the whole object is printed
	})
}

// maxValue bounds the length of an invalid value in a message.
const maxValue = 80

// message leaves out values that are objects, lists or long: they would hide the error.
func message(e *field.Error) string {
	switch value := e.BadValue.(type) {
	case bool, int64, float64:
		return e.ErrorBody()
	case string:
		if len(value) <= maxValue {
			return e.ErrorBody()
		}
	}
	if e.Detail == "" {
		return e.Type.String()
	}
	return e.Type.String() + ": " + e.Detail
}

// advise suggests a sibling field with a name similar to an unknown one, empty for none.
func (v *version) advise(path string) string {
	parent, name := parentOf(v.structural, path)
	if parent == nil {
		return ""
	}
	near := spelling.Nearest(name, slices.Collect(maps.Keys(parent.Properties)))
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + near[0] + "?"
}

// parentOf returns the schema of the mapping that contains a path, and the last name in the path. It
// returns nil if the path has a key with dots, or one without a schema.
func parentOf(at *structuralschema.Structural, path string) (*structuralschema.Structural, string) {
	names := strings.Split(path, ".")
	last := len(names) - 1
	for _, name := range names[:last] {
		property, _, _ := strings.Cut(name, "[")
		next, ok := at.Properties[property]
		switch {
		case ok:
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			next = *at.AdditionalProperties.Structural
		default:
			return nil, ""
		}
		for range strings.Count(name, "[") {
			if next.Items == nil {
				return nil, ""
			}
			next = *next.Items
		}
		at = &next
	}
	return at, names[last]
}
