// SPDX-License-Identifier: Apache-2.0

package definition_test

import (
	"fmt"
	"testing"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/value"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// described returns what the package reads of a spec.
func described[F definition.Form[F]](spec F) string {
	text := fmt.Sprintf("default %q", definition.DefaultVersion(spec))
	for _, v := range definition.Versions(spec) {
		text += fmt.Sprintf("; %q helm %t git %t %+v", v.Name, v.Helm().IsSet(), v.Git().IsSet(), v.Chart())
	}
	field, at, block := definition.DefaultValues(spec)
	if text += fmt.Sprintf("; %s %t %q", field, at.IsSet(), block); definition.IsCozystack(spec) {
		backend := definition.BackendOf(spec)
		text += fmt.Sprintf("; %s %s %q, kind %q", backend.Type, backend.Path, backend.Part.Get("prefix").Text(), definition.ApplicationKind(spec).Text())
	}
	return text
}

func TestTheTextOfDefaultValues(t *testing.T) {
	for spec, want := range map[string]string{
		"{defaultValuesBlock: 'a: b # c', defaultValues: {b: c}}": `defaultValuesBlock "a: b # c"`,
		"{defaultValuesBlock: ' ', defaultValues: {b: c}}":        `defaultValues "b: c\n"`,
		"{defaultValuesBlock: ' ', defaultValues: {}}":            ` ""`,
		"{defaultValuesBlock: 1, defaultValues: [a]}":             ` ""`,
	} {
		content, err := yamlnode.Mapping([]byte(spec))
		if err != nil {
			t.Fatal(err)
		}
		if field, text := definition.ValuesText(value.Of(content)); fmt.Sprintf("%s %q", field, text) != want {
			t.Errorf("%s has %s %q, want %s", spec, field, text, want)
		}
	}
}

func TestAllFormsOfADefinitionAreReadAlike(t *testing.T) {
	const none = `default ""; defaultValues false ""`
	for _, test := range []struct{ name, spec, want string }{
		{"nothing", "{}", none},
		{"no mapping", "[a]", none},
		{"null", "null", none},
		{"versions of KKP", `{defaultVersion: "2", versions: [
  {version: "1", template: {source: {helm: {url: "oci://r", chartName: a, chartVersion: 1.0.0}}}},
  {version: "2", template: {source: {git: {remote: x}}}}]}`,
			`default "2"; "1" helm true git false {URL:oci://r Name:a Version:1.0.0}; "2" helm false git true {URL: Name: Version:}; defaultValues false ""`},
		{"entries without a version", `{versions: [{template: {}}, x, {version: 1}, {version: ""}, null]}`,
			`default ""; "" helm false git false {URL: Name: Version:}; defaultValues false ""`},
		{"fields of other types", `{defaultVersion: 1, versions: [{version: a, template: {source: {helm: {url: [], chartName: 1, chartVersion: 1.10}}}}]}`,
			`default ""; "a" helm true git false {URL: Name: Version:}; defaultValues false ""`},
		{"a block of values", `{defaultValuesBlock: "a: b", defaultValues: {}}`, `default ""; defaultValuesBlock true "a: b"`},
		{"a blank block", `{defaultValuesBlock: " \n", defaultValues: {a: b}}`, `default ""; defaultValues true ""`},
		{"a release of Cozystack", "{application: {kind: VM}, release: {prefix: vm-}}", none + `; Helm spec.release "vm-", kind "VM"`},
		{"a backend of Cozystack", "{release: {prefix: vm-}, backend: {type: Terraform, terraform: {prefix: tf-}}}", none + `; Terraform spec.backend.terraform "tf-", kind ""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			node, err := yamlnode.First([]byte(test.spec))
			if err != nil {
				t.Fatal(err)
			}
			content, err := yamlnode.Plain(node)
			if err != nil {
				t.Fatal(err)
			}
			if got := described(value.Of(content)); got != test.want {
				t.Errorf("as a value it is read as\n%s\nwant\n%s", got, test.want)
			}
			if got := described(definition.Node{Node: node}); got != test.want {
				t.Errorf("as a node it is read as\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
