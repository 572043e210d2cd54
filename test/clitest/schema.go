// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"encoding/json"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
)

// ClosedSchema returns the schema of a kind, with unknown fields forbidden: a field that the verb prints is documented.
func ClosedSchema(t *testing.T, kind string) validation.SchemaValidator {
	t.Helper()
	var schema apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(ReadFile(t, Path("docs/schemas/"+kind+".json"))), &schema); err != nil {
		t.Fatal(err)
	}
	forbidUnknown(&schema)
	schema.Schema = "" // the dialect; the validator knows an older one
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&schema, &internal, nil); err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return validator
}

func forbidUnknown(schema *apiextensionsv1.JSONSchemaProps) {
	if schema.Items != nil {
		forbidUnknown(schema.Items.Schema)
	}
	if len(schema.Properties) == 0 {
		return
	}
	schema.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{}
	for name, property := range schema.Properties {
		forbidUnknown(&property)
		schema.Properties[name] = property
	}
}
