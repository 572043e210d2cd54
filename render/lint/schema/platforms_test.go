// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The table has what the platforms' CustomResourceDefinitions have.
func TestTheFieldsAreThoseOfThePlatforms(t *testing.T) {
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
			root := p.root.DeepCopy()
			delete(root.Properties, "metadata")
			delete(root.Properties["spec"].Properties, "backend") // a proposal
			props := *v.Schema.OpenAPIV3Schema
			delete(props.Properties, "metadata")
			compareFields(t, p.group, root, &props)
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

func compareFields(t *testing.T, path string, s, props *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if s.Type != "" && s.Type != props.Type {
		t.Errorf("%s is %s, want %s", path, s.Type, props.Type)
	}
	if s.MinLength != nil && (props.MinLength == nil || *props.MinLength == 0) && props.Pattern == "" {
		t.Errorf("%s must be filled, which nothing asks for", path)
	}
	if s.Pattern != "" && s.Pattern != props.Pattern {
		t.Errorf("%s must match %s, want %s", path, s.Pattern, props.Pattern)
	}
	if s.Enum != nil && !reflect.DeepEqual(s.Enum, props.Enum) {
		t.Errorf("%s is one of %v, want %v", path, s.Enum, props.Enum)
	}
	if s.Type != "" && (s.Default != nil) != (props.Default != nil) || props.Nullable {
		t.Errorf("%s: null is replaced: %t, which is wrong", path, s.Default != nil)
	}
	if got, want := slices.Sorted(maps.Keys(s.Properties)), slices.Sorted(maps.Keys(props.Properties)); s.Type != "" && !slices.Equal(got, want) {
		t.Errorf("%s has %v, want %v", path, got, want)
	}
	if !slices.IsSorted(s.Required) {
		t.Errorf("%s requires %v, which is not sorted", path, s.Required)
	}
	for _, name := range s.Required {
		if !slices.Contains(props.Required, name) {
			t.Errorf("%s.%s is not required", path, name)
		}
	}
	for name, below := range props.Properties {
		if member, ok := s.Properties[name]; ok {
			compareFields(t, path+"."+name, &member, &below)
		}
	}
	if s.Items != nil {
		compareFields(t, path+"[]", s.Items.Schema, props.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		compareFields(t, path+"{}", s.AdditionalProperties.Schema, props.AdditionalProperties.Schema)
	}
}
