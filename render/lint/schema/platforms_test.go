// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The table has what the platforms' CustomResourceDefinitions have.
func TestTheShapesAreThoseOfThePlatforms(t *testing.T) {
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../../shared/data"
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no CustomResourceDefinitions in %s; WINNOW_TEST_DATA names another directory", data)
	}
	for _, p := range platforms() {
		crd := crdOf(t, data, p.group)
		if crd.Spec.Scope != apiextensionsv1.ClusterScoped {
			t.Errorf("%s: definitions are %s", p.group, crd.Spec.Scope)
		}
		for _, v := range crd.Spec.Versions {
			if !v.Served || v.Name != p.version {
				t.Errorf("%s: version %s, served %t, want only %s", p.group, v.Name, v.Served, p.version)
				continue
			}
			root := p.root
			root.members = maps.Clone(root.members)
			delete(root.members, "metadata")
			spec := root.members["spec"]
			spec.members = maps.Clone(spec.members)
			delete(spec.members, "backend") // a proposal
			root.members["spec"] = spec
			props := *v.Schema.OpenAPIV3Schema
			delete(props.Properties, "metadata")
			compareShape(t, p.group, root, props)
		}
	}
}

func crdOf(t *testing.T, data, group string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "*/crd/*"+group+"_applicationdefinitions.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("definitions of %s are in %v: %v", group, files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(content, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func compareShape(t *testing.T, path string, s shape, props apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	kinds := map[string]kind{"string": textKind, "boolean": booleanKind, "integer": integerKind, "array": listKind, "object": mappingKind}
	if s.kind != "" && s.kind != kinds[props.Type] {
		t.Errorf("%s is %s, want %s", path, s.kind, props.Type)
	}
	if s.filled && (props.MinLength == nil || *props.MinLength == 0) && props.Pattern == "" {
		t.Errorf("%s must be filled, which nothing asks for", path)
	}
	if s.pattern != "" && s.pattern != props.Pattern {
		t.Errorf("%s must match %s, want %s", path, s.pattern, props.Pattern)
	}
	var choices []string
	for _, one := range props.Enum {
		choices = append(choices, strings.Trim(string(one.Raw), `"`))
	}
	if s.choices != nil && !slices.Equal(s.choices, choices) {
		t.Errorf("%s is one of %v, want %v", path, s.choices, choices)
	}
	if s.kind != "" && s.defaulted != (props.Default != nil) || props.Nullable {
		t.Errorf("%s: null is replaced: %t, which is wrong", path, s.defaulted)
	}
	if want := slices.Sorted(maps.Keys(props.Properties)); s.kind != "" && !slices.Equal(s.names(), want) {
		t.Errorf("%s has %v, want %v", path, s.names(), want)
	}
	for _, name := range s.required() {
		if !slices.Contains(props.Required, name) {
			t.Errorf("%s.%s is not required", path, name)
		}
	}
	for name, below := range props.Properties {
		if member, ok := s.member(name); ok {
			compareShape(t, path+"."+name, member, below)
		}
	}
	switch {
	case s.elements == nil:
	case props.Items != nil:
		compareShape(t, path+"[]", *s.elements, *props.Items.Schema)
	case props.AdditionalProperties != nil:
		compareShape(t, path+"{}", *s.elements, *props.AdditionalProperties.Schema)
	default:
		t.Errorf("%s has no elements", path)
	}
}
