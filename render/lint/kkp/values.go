package lint

import (
	"bytes"
	"encoding/base64"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// valuesRules are those on what a definition carries in other formats: values and logo.
func valuesRules() []documentRule {
	return []documentRule{
		{Rule{"kkp/values-mapping", Error, "the default values are a mapping"}, valuesMapping},
		{Rule{"kkp/values-yaml", Warning, "spec.defaultValuesBlock is YAML"}, valuesYAML},
		{Rule{"kkp/values-deprecated", Info, "values are in spec.defaultValuesBlock"}, valuesDeprecated},
		{Rule{"kkp/logo", Warning, "spec.logo is base64 of an image of the stated format"}, logo},
		{Rule{"kkp/logo-type", Error, "spec.logoFormat is svg+xml or png"}, logoType},
		{Rule{"kkp/logo-format", Warning, "a logo comes with its format"}, logoFormat},
	}
}

// block parses spec.defaultValuesBlock. root is nil where it is empty.
func block(root field) (at field, values *yaml.Node, err error) {
	at = root.get("spec", "defaultValuesBlock")
	if at.text() == "" {
		return at, nil, nil
	}
	values, err = yamlnode.First([]byte(at.text()))
	return at, values, err
}

func valuesMapping(root field, report report) {
	at, values, err := block(root)
	if err == nil && values != nil && values.Kind != yaml.MappingNode && !yamlnode.IsNull(values) {
		report(at, "spec.defaultValuesBlock must be a mapping of values")
	}
	if at := root.get("spec", "defaultValues"); at.isSet() && at.node.Kind != yaml.MappingNode {
		report(at, "spec.defaultValues must be a mapping of values")
	}
}

func valuesYAML(root field, report report) {
	at, _, err := block(root)
	if err == nil {
		return
	}
	problem := excerpt.Of(strings.TrimPrefix(err.Error(), "yaml: "))
	report(at, "spec.defaultValuesBlock is not YAML, so no values can be merged into it: %s", problem)
}

func valuesDeprecated(root field, report report) {
	if at := root.get("spec", "defaultValues"); at.isSet() {
		report(at, "spec.defaultValues is deprecated: use spec.defaultValuesBlock")
	}
}

var pngHeader = []byte("\x89PNG\r\n\x1a\n")

func logo(root field, report report) {
	at, format := root.get("spec", "logo"), root.get("spec", "logoFormat")
	if at.text() == "" {
		return
	}
	image, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(at.text()), ""))
	switch {
	case err != nil:
		report(at, "spec.logo is not base64: %s", err)
	case format.text() == "png" && !bytes.HasPrefix(image, pngHeader):
		report(at, "spec.logo is not a PNG image, as spec.logoFormat says")
	case format.text() == "svg+xml" && !bytes.Contains(image, []byte("<svg")):
		report(at, "spec.logo is not an SVG image, as spec.logoFormat says")
	}
}

func logoType(root field, report report) {
	at := root.get("spec", "logoFormat")
	if at.isSet() && at.text() != "svg+xml" && at.text() != "png" {
		report(at, "spec.logoFormat must be svg+xml or png, not %s", quote(at.node.Value))
	}
}

func logoFormat(root field, report report) {
	if at := root.get("spec", "logo"); at.text() != "" && !root.get("spec", "logoFormat").isSet() {
		report(at, "spec.logo has no spec.logoFormat: write svg+xml or png")
	}
}

// quote returns text of the catalog for a message.
func quote(text string) string { return excerpt.Quoted(text) }
