// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var update = flag.Bool("update", false, "add new fields to testdata/fields.txt")

const fieldsFile = "testdata/fields.txt"

// The API server drops what is stored in a field that is gone, and a stored object without a field takes its default. So from
// v0.1.0 on, a field, a value of an enumeration and a default stay for as long as v1alpha1 is served, and no field becomes required.
// A field goes only where a stored object means something stricter without it, with a case in former_test.go.
func TestEveryFieldEverServedIsStillThere(t *testing.T) {
	var now []string
	for name, schema := range definition(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties {
		if name == "spec" || name == "status" {
			now = append(now, fieldsOf(name, schema, true)...)
		}
	}
	slices.Sort(now)
	content, err := os.ReadFile(fieldsFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	served := strings.FieldsFunc(string(content), func(r rune) bool { return r == '\n' })
	if *update {
		served = slices.Compact(slices.Sorted(slices.Values(append(served, now...))))
		if err := os.WriteFile(fieldsFile, []byte(strings.Join(served, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range served {
		if !slices.Contains(now, line) {
			t.Errorf("%s is not served any more: deprecate it, as spec.prune, unless a stored object means something stricter without it", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(served, line) {
			t.Errorf("%s is new: `go test ./config -run %s -update` adds it to %s", line, t.Name(), fieldsFile)
		}
	}
}

// kubectl explain prints descriptions, and not all defaults.
func TestDescriptionsNameDefaults(t *testing.T) {
	var check func(path string, s apiextensionsv1.JSONSchemaProps)
	check = func(path string, s apiextensionsv1.JSONSchemaProps) {
		for name, property := range s.Properties {
			check(path+"."+name, property)
		}
		if s.Items != nil {
			check(path, *s.Items.Schema)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			check(path, *s.AdditionalProperties.Schema)
		}
		if s.Default == nil || s.Type == "boolean" || s.Type == "object" { // false, or the defaults of its fields
			return
		}
		if value := strings.Trim(string(s.Default.Raw), `[]"`); !strings.Contains(strings.Join(strings.Fields(s.Description), " "), "By default "+value+".") {
			t.Errorf("%s: the description lacks: By default %s.", path, value)
		}
	}
	check("spec", definition(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
}

// fieldsOf returns a line for the field, for each value that it may have, and for each field in it.
func fieldsOf(path string, s apiextensionsv1.JSONSchemaProps, required bool) []string {
	line := path + " " + s.Type
	if required {
		line += " required"
	}
	if s.Default != nil {
		line += " default " + string(s.Default.Raw)
	}
	lines := []string{line}
	for _, value := range s.Enum {
		lines = append(lines, fmt.Sprintf("%s = %s", path, value.Raw))
	}
	for name, field := range s.Properties {
		lines = append(lines, fieldsOf(path+"."+name, field, slices.Contains(s.Required, name))...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		lines = append(lines, fieldsOf(path+"[]", *s.Items.Schema, false)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		lines = append(lines, fieldsOf(path+"{}", *s.AdditionalProperties.Schema, false)...)
	}
	return lines
}
