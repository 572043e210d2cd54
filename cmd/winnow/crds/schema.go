// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
)

// Schema is an openAPIV3Schema outside of a CustomResourceDefinition, such as the schema of a function.
type Schema struct{ version }

// NewSchema compiles an openAPIV3Schema in JSON. An object for which it lists no fields may have any. A schema that is
// not structural, as an API server wants it, knows no unknown fields and no rules.
func NewSchema(text []byte) (*Schema, error) {
	var schema apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("decoding the schema: %w", err)
	}
	compiled, err := compileSchema(&schema, false)
	if err != nil {
		return nil, err
	}
	if compiled.structural != nil {
		(&structuralschema.Visitor{Structural: open}).Visit(compiled.structural)
	}
	return &Schema{*compiled}, nil
}

// open lets an object without fields have any.
func open(s *structuralschema.Structural) bool {
	isOpen := s.Type == "object" && len(s.Properties) == 0 && s.AdditionalProperties == nil
	s.XPreserveUnknownFields = s.XPreserveUnknownFields || isOpen
	return isOpen
}

// Check returns what an object, whose unknown fields it prunes and whose defaults it sets, breaks of the schema.
// Finding.Object is empty.
func (s *Schema) Check(ctx context.Context, object map[string]any) (found []Finding) {
	defer recoverInto(&found)
	if s.structural != nil {
		found = s.unknown(pruning.PruneWithOptions(object, s.structural, true,
			structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}), "the schema")
		defaulting.Default(object, s.structural)
	}
	return append(found, findings(s.validate(ctx, object, nil))...)
}
