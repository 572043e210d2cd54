// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/winnow-dev/winnow/render/parallel"
)

// Set is a set of definitions. Its zero value is empty.
type Set struct {
	kinds        map[schema.GroupKind]*definition
	files, bytes int
}

// Len returns the number of defined kinds.
func (s *Set) Len() int { return len(s.kinds) }

// definition is the compiled CustomResourceDefinition of a kind.
type definition struct {
	file            string
	namespaced      bool
	preserveUnknown bool
	served          []string
	versions        map[string]*version
}

// version is a compiled version of a kind.
type version struct {
	// structural is nil for a Schema that is not structural.
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil without rules
	// status reports that the kind has a status subresource, so that an apply does not set the status.
	status bool
}

// define compiles a definition and adds it.
func (s *Set) define(file string, crd *apiextensionsv1.CustomResourceDefinition) error {
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	if kind.Group == "" || kind.Kind == "" {
		return errors.New("a CustomResourceDefinition without spec.group and spec.names.kind")
	}
	if earlier, ok := s.kinds[kind]; ok {
		return fmt.Errorf("%s is defined in %s too", kind, earlier.file)
	}
	d := &definition{
		file:            file,
		namespaced:      crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		preserveUnknown: crd.Spec.PreserveUnknownFields,
		versions:        map[string]*version{},
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if !v.Served {
			continue
		}
		compiled, err := compile(v)
		if err != nil {
			return fmt.Errorf("%s, version %s: %w", kind, v.Name, err)
		}
		d.served = append(d.served, v.Name)
		d.versions[v.Name] = compiled
	}
	if s.kinds == nil {
		s.kinds = map[schema.GroupKind]*definition{}
	}
	s.kinds[kind] = d
	return nil
}

// compile compiles a version of a definition.
func compile(v *apiextensionsv1.CustomResourceDefinitionVersion) (*version, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("no schema")
	}
	compiled, err := compileSchema(v.Schema.OpenAPIV3Schema, true)
	if err != nil {
		return nil, err
	}
	compiled.status = v.Subresources != nil && v.Subresources.Status != nil
	return compiled, nil
}

// compileSchema recovers from panics of the libraries: the schema is untrusted. With strict, a schema that is not
// structural is an error. Otherwise it has no structure, and no rules.
func compileSchema(schema *apiextensionsv1.JSONSchemaProps, strict bool) (compiled *version, err error) {
	defer parallel.RecoverAs("compiling the schema failed", &err)
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &props, nil); err != nil {
		return nil, fmt.Errorf("converting the schema: %w", err)
	}
	compiled = &version{}
	structural, err := structureOf(&props)
	switch {
	case err == nil:
		compiled.structural, compiled.rules = structural, cel.NewValidator(structural, true, celconfig.PerCallLimit)
	case strict:
		return nil, err
	}
	if compiled.validator, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	return compiled, nil
}

// structureOf returns the structure of a schema, which an API server needs to prune and to set defaults.
func structureOf(props *apiextensions.JSONSchemaProps) (*structuralschema.Structural, error) {
	structural, err := structuralschema.NewStructural(props)
	if err == nil {
		err = structuralschema.ValidateStructural(nil, structural).ToAggregate()
	}
	if err != nil {
		return nil, fmt.Errorf("the schema is not structural: %w", err)
	}
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, fmt.Errorf("pruning the defaults: %w", err)
	}
	return structural, nil
}
