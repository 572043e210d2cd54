// SPDX-License-Identifier: Apache-2.0

package schema

import "github.com/winnow-dev/winnow/render/lint/rules"

// Rules on what the API server refuses without any webhook. Flux dry-runs all objects before it applies
// one, so that one definition that is refused keeps all the others from being applied.
const (
	misspeltFieldRule     = "schema/misspelt-field"
	unknownFieldRule      = "schema/unknown-field"
	typeRule              = "schema/type"
	valueRule             = "schema/value"
	apiVersionRule        = "schema/api-version"
	unknownGroupRule      = "schema/unknown-group"
	namespaceRule         = "schema/namespace"
	kkpRequiredRule       = "kkp/required"
	cozystackRequiredRule = "cozystack/required"
	cozystackBackendRule  = "cozystack/backend"
	cozystackSchemaRule   = "cozystack/schema"
	definedRule           = "crds/invalid"
	undefinedRule         = "crds/missing"
	severity              = rules.Error
)

// Rules returns the rules.
func Rules() []rules.Rule {
	return []rules.Rule{
		rules.New(misspeltFieldRule, severity, "no field is misspelt"),
		rules.New(unknownFieldRule, rules.Warning, "all fields are known"),
		rules.New(typeRule, severity, "fields have values of their type"),
		rules.New(valueRule, severity, "fields have values that the platform knows"),
		rules.New(apiVersionRule, severity, "apiVersion is one that the platform serves"),
		rules.New(unknownGroupRule, rules.Warning, "the API group is one whose fields are known"),
		rules.New(namespaceRule, rules.Warning, "what is of no namespace names none"),
		rules.New(kkpRequiredRule, severity, "the fields that KKP's API requires are there"),
		rules.New(cozystackBackendRule, rules.Warning, "the backend is in the field that the API server of Cozystack reads"),
		rules.New(cozystackRequiredRule, severity, "the fields that Cozystack's API requires are there"),
		rules.New(cozystackSchemaRule, severity, "openAPISchema is a JSON schema that its defaults satisfy"),
		rules.New(definedRule, severity, "the CustomResourceDefinitions accept the definition"),
		rules.New(undefinedRule, severity, "the CustomResourceDefinitions have the kind"),
	}
}
